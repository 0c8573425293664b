import Primitives
import SIP
import Testing
import UserAgent

/// What requests in a call's dialog meet at the account's servers.
@Suite struct InDialogTests {
    /// A server that challenges every request anew, and the phone behind it.
    private final class Challenging {
        var challenged: [SIPMethod] = []
        private var accepted: Set<String> = []
        private var nonces = 0

        func answer(_ request: Request) -> [(after: Duration, Response)] {
            if request.method == .ack || request.method == .cancel { return [] }
            let credentials = request.headers.first(.proxyAuthorization) ?? ""
            guard let nonce = accepted.first(where: { credentials.contains("\"\($0)\"") }) else {
                nonces += 1
                accepted = ["n\(nonces)"]
                challenged.append(request.method)
                var response = request.response(407, toTag: "proxy")
                response.headers.append(
                    .proxyAuthenticate, "Digest realm=\"pbx\", nonce=\"n\(nonces)\", stale=true, algorithm=MD5")
                return [(.milliseconds(5), response)]
            }
            accepted.remove(nonce)
            var response = request.response(request.method == .refer ? 202 : 200, toTag: "p")
            response.headers.append(.contact, "<sip:100@192.0.2.1>")
            response.headers.append(.allow, "INVITE, ACK, BYE, UPDATE")
            if request.method == .register {
                for contact in request.contacts { response.headers.set(.contact, contact.description + ";expires=600") }
            }
            guard request.method == .invite else { return [(.milliseconds(5), response)] }
            response.headers.append(.sessionExpires, "200;refresher=uac")
            guard request.to.tag == nil else {
                response.headers.append(.contentType, "application/sdp")
                response.body = Array(TrustTests.offer.utf8)
                return [(.milliseconds(5), response)]
            }
            var progress = request.response(183, toTag: "p")
            progress.headers = [
                .contact: "<sip:100@192.0.2.1>", .require: "100rel", .rseq: "1", .contentType: "application/sdp",
            ]
            progress.body = Array(TrustTests.offer.utf8)
            return [(.milliseconds(5), progress), (.milliseconds(200), response)]
        }
    }

    /// D4, A2: INVITE, PRACK, re-INVITE, UPDATE, REFER and BYE are answered with credentials, each with the next number.
    @Test func everyRequestIsChallenged() throws {
        let server = Challenging()
        var account = try Account.house()
        account.registers = false
        let site = Site([account])
        site.server = { request, _ in server.answer(request) }
        let call = CallKey(9)
        site.give(.dial(DialOrder(call: call, uri: try SIPURI("sip:100@192.0.2.1"), account: "house")))
        site.run(for: .seconds(1))
        #expect(site.calls.last?.state == .talking)
        site.give(.hold(call))
        site.run(for: .seconds(1))
        #expect(site.calls.last?.state == .held)
        site.give(.resume(call))
        site.run(for: .seconds(102))
        site.give(.sendDigit(call, 0x31))
        site.run(for: .seconds(1))
        #expect(site.calls.last?.state == .talking)
        site.give(.transfer(call, .uri(try SIPURI("sip:200@192.0.2.1"))))
        site.run(for: .seconds(1))
        site.give(.hangUp(call, .normal))
        site.run(for: .seconds(60))
        #expect(
            server.challenged == [.invite, .prack, .invite, .invite, .update, .info, .invite, .refer, .bye])
        let numbers = site.sent.compactMap(\.request).filter { $0.method != .ack }.map(\.cseq.number)
        #expect(numbers == numbers.indices.map { UInt32($0 + 1) })
        let acks = site.sent.compactMap(\.request).filter { $0.method == .ack }
        #expect(acks.count == 8, "of four INVITEs each 407 and each 2xx")
    }

    // MARK: Who the peer is

    private func update(_ identity: String, from remote: SocketAddress) throws -> [CallStatus] {
        var account = try Account.house()
        account.acceptFrom = .anyone
        let site = TrustTests.site([account])
        let stranger = SocketAddress(.v4(0xC633_6401), 5060)
        let source = remote == Site.registrar ? remote : stranger
        TrustTests.give(try TrustTests.invite("sip:house@192.0.2.7", tag: "f0"), from: source, to: site)
        site.give(.answer(try #require(site.incoming.first?.call)))
        var update = try TrustTests.request(.update, "sip:k7xhouse@192.0.2.7", to: "sip:house@192.0.2.7", tag: "f0")
        update.to.tag = try #require(site.sent.compactMap(\.response).last?.to.tag)
        update.cseq.number = 2
        update.headers.append(.pAssertedIdentity, identity)
        TrustTests.give(update, from: source, to: site)
        #expect(site.sent.compactMap(\.response).contains { $0.cseq.method == .update && $0.status == 200 })
        return site.calls
    }

    /// I7: the account's server may say that somebody else is there now.
    @Test func identityChangesByUpdate() throws {
        let calls = try update("\"Kitchen\" <sip:300@pbx.example.org>", from: Site.registrar)
        #expect(calls.last?.remote.user == "300")
        #expect(calls.last?.remoteName == "Kitchen")
        #expect(calls.last?.state == .talking)
    }

    @Test func strangersIdentityCountsForNothing() throws {
        let calls = try update("<sip:300@pbx.example.org>", from: TrustTests.stranger)
        #expect(calls.last?.remote.user == "200")
    }

    /// D14: out of a call nobody has us call anybody.
    @Test func referralOutOfACall() throws {
        var account = try Account.house()
        account.acceptTransfer = .everybody
        let site = TrustTests.site([account])
        let headers: Headers = [.referTo: "<sip:900@192.0.2.1>"]
        TrustTests.give(try TrustTests.request(.refer, "sip:house@192.0.2.7", headers: headers), to: site)
        #expect(site.sent.compactMap(\.status) == [403])
        #expect(site.sent.compactMap(\.request).isEmpty)
    }
}
