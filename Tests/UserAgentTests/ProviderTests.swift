import Primitives
import SIP
import Testing
import UserAgent

/// Servers as they are met in the field, each with its ways in one profile.
@Suite struct ProviderTests {
    private static func challenge(_ request: Request, _ name: HeaderName, _ value: String) -> Response {
        var response = request.response(name == .proxyAuthenticate ? 407 : 401, toTag: "p")
        response.headers.append(name, value)
        return response
    }

    private static func granted(_ request: Request, _ seconds: String?) -> Response {
        var response = request.response(200, toTag: "r")
        for var contact in request.contacts where contact.expires != 0 {
            contact.parameters["expires"] = seconds
            response.headers.append(.contact, contact.description)
        }
        return response
    }

    private static func credentials(_ request: Request) -> DigestCredentials? {
        request.headers.first(.authorization).flatMap { DigestCredentials($0) }
    }

    /// An INVITE or another request of the peer in the dialog that an answer of ours made.
    private static func inDialog(
        _ method: SIPMethod, _ answer: Response, number: UInt32, body: String = ""
    ) throws -> Request {
        var request = try TrustTests.request(method, "sip:k7xhouse@192.0.2.7:5060", tag: "f1")
        request.to = answer.to
        request.cseq.number = number
        request.vias[0].branch = "z9hG4bK\(method)\(number)"
        request.body = Array(body.utf8)
        return request
    }

    // MARK: FRITZ!Box

    /// The realm is a name of its own, the challenge has neither qop nor stale and its nonce changes each time, `received`
    /// is an IPv6 literal in brackets, and SUBSCRIBE or INFO of ours would be refused without harm.
    @Test func fritzBox() throws {
        var account = try Account.house(registrar: "sip:192.0.2.1")
        account.uri = try SIPURI("sip:house@192.0.2.1")
        let site = Site([account])
        var nonces = 0
        var seen: [Request] = []
        site.server = { request, _ in
            seen.append(request)
            var response: Response
            if let sent = Self.credentials(request), sent.nonce == "N\(nonces)" {
                response = Self.granted(request, "300")
            } else {
                nonces += 1
                response = Self.challenge(request, .wwwAuthenticate, #"Digest realm="fritz.box", nonce="N\#(nonces)""#)
            }
            response.vias[0].parameters["received"] = "[2001:db8::7]"
            return [(.milliseconds(5), response)]
        }
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        let first = try #require(seen.last.flatMap { Self.credentials($0) })
        #expect(first.realm == "fritz.box")
        #expect(first.protection == nil && first.cnonce.isEmpty)
        #expect(seen.allSatisfy { $0.uri.user == nil }, "a REGISTER with a user in its Request-URI is dropped")
        // Each refresh is challenged with another nonce; not one of them counts as a wrong password.
        nonces += 1
        site.run(for: .seconds(3600))
        #expect(site.status?.state == .registered)
        #expect(!site.statuses.contains { $0.state == .failed })
        #expect(!site.notes.contains { $0.level == .error || $0.level == .warning })
    }

    // MARK: Asterisk

    /// Grants a second less than was asked, asks by OPTIONS whether we are there, and writes our Contact with `;ob`.
    @Test func asterisk() throws {
        let site = Site([try .house()])
        var asked: [String] = []
        site.server = { request, _ in
            guard request.method == .register else { return [] }
            asked.append(request.headers.first(.expires) ?? "")
            var response = Self.granted(request, "599")
            if var contact = response.contacts.first {
                contact.uri.parameters.setFlag("ob")
                response.headers.set(.contact, contact.description)
            }
            return [(.milliseconds(5), response)]
        }
        site.run(for: .seconds(3600))
        #expect(site.status?.state == .registered)
        #expect(Set(asked) == ["600"], "what was granted is never asked for")
        let times = site.registers.map(\.at)
        for (earlier, later) in zip(times, times.dropFirst()) { #expect(later - earlier < .seconds(599)) }
        site.forgetSent()
        for round in 1...20 {
            let probe = try TrustTests.request(
                .options, "sip:k7xhouse@192.0.2.7:5060", from: "sip:asterisk@192.0.2.1", tag: "q\(round)")
            TrustTests.give(probe, to: site)
            site.run(for: .seconds(60))
        }
        #expect(TrustTests.answers(site) == Array(repeating: 200, count: 20))
    }

    // MARK: FreeSWITCH

    /// A re-INVITE with the same description each minute is answered each time, and changes nothing that is heard.
    @Test func freeSwitch() throws {
        let site = TrustTests.site([try .house()])
        site.decide = { .answer($0.call) }
        TrustTests.give(try TrustTests.invite("sip:k7xhouse@192.0.2.7"), to: site)
        let answer = try #require(site.sent.compactMap(\.response).last { $0.status == 200 })
        TrustTests.give(try Self.inDialog(.ack, answer, number: 1), to: site)
        let media = site.media.count
        for minute in 1...30 {
            site.run(for: .seconds(60))
            site.forgetSent()
            let number = UInt32(minute + 1)
            TrustTests.give(try Self.inDialog(.invite, answer, number: number, body: TrustTests.offer), to: site)
            #expect(TrustTests.answers(site) == [200])
            let again = try #require(site.sent.compactMap(\.response).last)
            #expect(again.body == answer.body, "o= has changed although nothing else did (S1)")
            TrustTests.give(try Self.inDialog(.ack, answer, number: number), to: site)
        }
        #expect(site.media.count == media, "the same description restarts nothing (S6)")
        #expect(site.agent.callStatuses.map(\.state) == [.talking])
        var bye = try Self.inDialog(.bye, answer, number: 40)
        bye.headers.append(.reason, #"Q.850;cause=16;text="NORMAL_CLEARING""#)
        TrustTests.give(bye, to: site)
        #expect(site.calls.last?.state == .ended)
    }

    // MARK: Trunk

    /// The Request-URI of a call is a telephone number, which is an alias, and both legs of the proxy have recorded
    /// themselves: our answer copies both in order, and our BYE goes by the nearer.
    @Test(arguments: ["+49301234567", "0301234567"])
    func trunk(number: String) throws {
        var account = try Account.house()
        account.aliases = [number]
        let site = TrustTests.site([account])
        site.decide = { .answer($0.call) }
        var invite = try TrustTests.invite("sip:\(number)@192.0.2.7:5060", from: "sip:+4940999@trunk.example.org")
        invite.headers.prepend(.recordRoute, "<sip:192.0.2.1:5061;transport=udp;r2=on;lr>")
        invite.headers.prepend(.recordRoute, "<sip:192.0.2.1;r2=on;lr>")
        TrustTests.give(invite, to: site)
        let answer = try #require(site.sent.compactMap(\.response).last)
        #expect(answer.status == 200)
        #expect(answer.recordRoutes.map(\.description) == invite.recordRoutes.map(\.description))
        let call = try #require(site.incoming.first)
        #expect(call.account == "house")
        TrustTests.give(try Self.inDialog(.ack, answer, number: 1), to: site)
        site.forgetSent()
        site.give(.hangUp(call.call, .normal))
        site.run(for: .milliseconds(100))
        let sent = try #require(site.sent.first)
        let bye = try #require(sent.request)
        #expect(bye.method == .bye)
        #expect(bye.routes.map(\.description) == invite.recordRoutes.map(\.description))
        #expect(bye.uri == invite.contacts.first?.uri)
        #expect(sent.flow.remote == Site.registrar)
    }
}
