import Configuration
import Primitives
import SIP
import Testing
import UserAgent

/// Outbound, GRUU, Service-Route (RFC 5626, RFC 5627, RFC 3608; rules R1, R6, R11).
@Suite struct OutboundTests {
    private static let gruu = "sip:house@pbx.example.org;gr=urn:uuid:00000000-0000-1000-8000-000000000001"

    private func site(_ registrar: Registrar, change: (inout Account) -> Void = { _ in }) throws -> Site {
        var account = try Account.house()
        change(&account)
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        return site
    }

    private func invites(_ site: Site) throws -> [Request] {
        site.forgetSent()
        site.give(.dial(DialOrder(call: CallKey(90), uri: try SIPURI("sip:100@pbx.example.org"), account: "house")))
        site.run(for: .milliseconds(100))
        return site.sent.compactMap(\.request).filter { $0.method == .invite }
    }

    @Test func registersWithInstanceRegIDAndWhatIsSupported() throws {
        let registrar = Registrar(.accept(600))
        let site = try site(registrar)
        site.run(for: .seconds(1))
        let request = try #require(registrar.seen.first)
        #expect(request.supported == ["path", "outbound", "gruu"])
        #expect(request.contacts.first?.parameters["reg-id"] == "1")
        #expect(request.contacts.first?.parameters["+sip.instance"] != nil)
        let found = try invites(site).first?.contacts.first?.uri.parameters.contains("ob")
        #expect(found == false)
    }

    /// R3: a first hop without outbound.
    @Test func without439() throws {
        let registrar = Registrar(.status(439), .accept(600))
        let site = try site(registrar)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        #expect(registrar.seen.map { $0.contacts.first?.parameters["reg-id"] } == ["1", nil])
        #expect(registrar.seen[1].contacts.first?.parameters["+sip.instance"] != nil)
    }

    /// RFC 5626 §4.3: where it was agreed, dialogs say that they keep to the flow.
    @Test func agreedOutboundIsSaidInDialogs() throws {
        let registrar = Registrar(.accept(600))
        registrar.headers = [(.require, "outbound")]
        let site = try site(registrar)
        site.run(for: .seconds(1))
        let found = try invites(site).first?.contacts.first?.uri.parameters.contains("ob")
        #expect(found == true)
        #expect(registrar.seen.first?.contacts.first?.uri.parameters.contains("ob") == false)
    }

    /// What a STUN server says to a request.
    private static func bound(_ request: [UInt8], to port: UInt16) -> [UInt8] {
        let address: [UInt8] = [192, 0, 2, 7]
        let key = request[4..<20]
        let plain = [UInt8(port >> 8), UInt8(port & 255)]
        let value = [0, 1] + zip(plain, key).map { $0 ^ $1 } + zip(address, key).map { $0 ^ $1 }
        return [1, 1, 0, 12] + key + [0, 0x20, 0, 8] + value
    }

    /// R6: where outbound was agreed STUN keeps the flow, and finds out that it is dead or another one.
    @Test func stunKeepsTheFlow() throws {
        let registrar = Registrar(.accept(3600))
        registrar.headers = [(.require, "outbound"), ("Flow-Timer", "20")]
        let site = try site(registrar) { $0.keepAlive = .seconds(25) }
        site.run(for: .seconds(1))
        #expect(registrar.seen.count == 1)
        var port: UInt16? = 5060
        func live(for seconds: Int64) -> Int {
            var count = 0
            for _ in 0..<(seconds * 10) {
                site.forgetSent()
                site.run(for: .milliseconds(100))
                for item in site.sent where item.octets.first == 0 {
                    count += 1
                    if let port { site.give(.received(Self.bound(item.octets, to: port), item.flow)) }
                }
            }
            return count
        }
        // Flow-Timer is shorter than keep-alive.
        #expect((15...30).contains(live(for: 300)))
        #expect(registrar.seen.count == 1)
        port = 6060
        _ = live(for: 30)
        #expect(registrar.seen.count == 2, "the server sees another address")
        port = nil
        _ = live(for: 40)
        #expect(registrar.seen.count >= 3, "the server does not answer")
    }

    @Test(arguments: [
        "", "00", "0101000021 12a442", "010100082112a442000102030405060708090a0b0020ffff0001",
        "0101000c2112a442000102030405060708090a0b002000080003a147e112a643",
    ])
    func brokenBindingsSayNothing(text: String) {
        let broken = octets(hexadecimal: text.filter { $0 != " " }) ?? []
        #expect(FlowProbe.response(broken) == nil)
        for index in broken.indices { #expect(FlowProbe.response(Array(broken[..<index])) == nil) }
    }

    /// RFC 5769 §2.2 and §2.3: the addresses of the test vectors.
    @Test func mappedAddresses() throws {
        let name = "b7e7a701bc34d686fa87dfae"
        let four = octets(hexadecimal: "0101000c2112a442" + name + "002000080001a147e112a643") ?? []
        #expect(FlowProbe.response(four)?.mapped == SocketAddress(.v4(0xC000_0201), 32853))
        let six =
            octets(
                hexadecimal: "010100182112a442" + name + "002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9") ?? []
        let address = try #require(IPAddress("2001:db8:1234:5678:11:2233:4455:6677"))
        #expect(FlowProbe.response(six)?.mapped == SocketAddress(address, 32853))
    }

    /// R11: as they were given, to the last parameter.
    @Test func serviceRouteIsUsedVerbatimAndReplaced() throws {
        let first = "<sip:token%3Aa.B_-c~9@edge.example.org:5070;lr;Ftag=aB%20c;x>"
        let registrar = Registrar(.accept(600))
        registrar.headers = [(.serviceRoute, first + ", <sip:192.0.2.1;transport=udp;lr>")]
        let site = try site(registrar)
        site.zone = { $0.name == "edge.example.org" ? .records([.address(Site.registrar.address)]) : .records([]) }
        site.run(for: .seconds(1))
        let routes = try #require(try invites(site).first).headers.all(.route)
        #expect(routes == [first, "<sip:192.0.2.1;transport=udp;lr>"])
        registrar.headers = [(.serviceRoute, "<sip:192.0.2.1;lr>")]
        site.give(.register(account: nil))
        site.run(for: .seconds(1))
        site.give(.hangUp(CallKey(90), .normal))
        site.run(for: .seconds(120))
        let found = try invites(site).first?.headers.all(.route)
        #expect(found == ["<sip:192.0.2.1;lr>"])
    }

    /// R11: a 2xx from which our binding is gone.
    @Test func aBindingThatIsGoneIsMadeAgainWithinFiveSeconds() throws {
        let registrar = Registrar(.accept(600), .acceptWithoutContact, .accept(600))
        let site = try site(registrar)
        site.run(for: .seconds(1))
        site.give(.register(account: nil))
        site.run(for: .milliseconds(50))
        #expect(site.status?.state == .failed)
        site.run(for: .seconds(5))
        #expect(site.status?.state == .registered)
        #expect(registrar.seen.count == 3)
    }

    // MARK: GRUU

    /// A registrar that gives a GRUU; `routes`: whether it finds the device by it within dialogs.
    private func givesGRUU(routes: Bool) throws -> (Site, Registrar) {
        let registrar = Registrar(.accept(600))
        registrar.contactParameters = ["pub-gruu": Self.gruu]
        let site = try site(registrar)
        site.server = { [unowned site] request, flow in
            guard request.method == .options else { return registrar.answer(request, flow) }
            if !routes { return [(.milliseconds(5), request.response(404))] }
            // Back to us, as a proxy would send it.
            var back = request
            back.headers.remove(.route)
            back.vias.insert(
                Via(
                    transport: "UDP", host: Host(flow.remote.address), branch: "z9hG4bKproxy",
                    parameters: ["rport": nil]),
                at: 0)
            site.schedule(.received(back.serialized(), flow), after: .milliseconds(5))
            return []
        }
        site.run(for: .seconds(1))
        return (site, registrar)
    }

    @Test func aGRUUThatWorksIsTheContact() throws {
        let (site, registrar) = try givesGRUU(routes: true)
        let probe = try #require(site.sent.compactMap(\.request).first { $0.method == .options })
        #expect(probe.uri.description == Self.gruu)
        #expect(probe.to.tag != nil, "as in a dialog")
        #expect(probe.headers.all(.route) == ["<sip:192.0.2.1:5060;lr>"])
        let found = try invites(site).first?.contacts.first?.uri.description
        #expect(found == Self.gruu)
        // The registration itself names the address.
        #expect(registrar.seen.allSatisfy { $0.contacts.first?.uri.user == "k7xhouse" })
        // Calls to it come in.
        site.give(.hangUp(CallKey(90), .normal))
        site.run(for: .seconds(120))
        TrustTests.give(try TrustTests.invite(Self.gruu), to: site)
        #expect(site.incoming.map(\.account) == ["house"])
        // One probe for one GRUU, however often it is given.
        site.forgetSent()
        site.give(.register(account: nil))
        site.run(for: .seconds(1))
        #expect(site.sent.compactMap(\.request).filter { $0.method == .options }.isEmpty)
    }

    @Test func aGRUUThatLeadsNowhereIsNotUsed() throws {
        let (site, _) = try givesGRUU(routes: false)
        let contact = try #require(try invites(site).first?.contacts.first)
        #expect(contact.uri.user == "k7xhouse")
        #expect(!contact.uri.parameters.contains("gr"))
    }

    @Test func aGRUUThatIsGoneIsForgotten() throws {
        let (site, registrar) = try givesGRUU(routes: true)
        registrar.contactParameters = [:]
        site.give(.register(account: nil))
        site.run(for: .seconds(1))
        let found = try invites(site).first?.contacts.first?.uri.user
        #expect(found == "k7xhouse")
    }

    // MARK: Size

    /// FIELD R23: what is offered by default fits into a datagram anywhere.
    @Test func theDefaultInviteIsSmall() throws {
        let site = TrustTests.site([try .house()])
        _ = try invites(site)
        let invite = try #require(site.sent.first { $0.request?.method == .invite })
        #expect(invite.octets.count <= 1200, "\(invite.octets.count) octets")
    }

    /// FIELD R23: one that does not, to a server without TCP, is told with its size.
    @Test func aLargeInviteIsWarnedOf() throws {
        var account = try Account.house()
        account.headers = [.init(name: "X-Long", value: String(repeating: "x", count: 1000))]
        let site = TrustTests.site([account])
        site.accepts = { _ in .failure(.refused) }
        _ = try invites(site)
        site.run(for: .seconds(5))
        let invite = try #require(site.sent.first { $0.request?.method == .invite })
        #expect(invite.flow.transport == .udp)
        let warning = try #require(site.notes.first { $0.level == .warning })
        #expect(warning.text.contains("INVITE of \(invite.octets.count) octets"))
    }

    // MARK: Settings

    /// E7: a switch decides, and a reload does not.
    @Test func anAccountMayWaitForItsSwitch() throws {
        let registrar = Registrar(.accept(600))
        let site = try site(registrar) { $0.waitsForSwitch = true }
        site.run(for: .seconds(60))
        #expect(registrar.seen.isEmpty)
        #expect(site.status?.state == .disabled)
        var settings = site.settings
        var account = try Account.house()
        account.waitsForSwitch = true
        account.displayName = "Door"
        settings.accounts = [account]
        site.give(.configure(settings))
        site.give(.networkChanged)
        site.run(for: .seconds(60))
        #expect(registrar.seen.isEmpty)
        site.give(.register(account: "house"))
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        site.give(.unregister(account: "house"))
        site.run(for: .seconds(1))
        #expect(registrar.bindings.isEmpty)
        #expect(site.status?.state == .disabled)
    }

    /// SEC11: what it is and of which version is nobody's business where the operator says so.
    @Test func theProductMayBeUntold() throws {
        let registrar = Registrar(.accept(600))
        let site = try site(registrar)
        site.run(for: .seconds(1))
        #expect(registrar.seen.last?.headers.first(.userAgent) == "Portero")
        var settings = site.settings
        settings.accounts = [try .house()]
        settings.product = ""
        site.give(.configure(settings))
        site.give(.register(account: nil))
        site.run(for: .seconds(1))
        #expect(registrar.seen.last?.headers.contains(.userAgent) == false)
        TrustTests.give(try TrustTests.request(.options, "sip:house@192.0.2.7"), to: site)
        let answer = try #require(site.sent.last?.response)
        #expect(!answer.headers.contains(.userAgent) && !answer.headers.contains(.server))
    }

    /// E26.
    @Test func aCallerIsSentElsewhere() throws {
        let site = TrustTests.site([try .house()])
        site.decide = { .redirect($0.call, to: SIPURI(user: "300", host: .init(Site.registrar.address))) }
        TrustTests.give(try TrustTests.invite("sip:house@192.0.2.7"), to: site)
        #expect(TrustTests.answers(site) == [302])
        #expect(site.sent.last?.response?.contacts.map(\.uri.description) == ["sip:300@192.0.2.1"])
        #expect(site.calls.last?.state == .ended)
    }

    @Test(arguments: ["k7xhouse", "house", "4930123456"])
    func theContactUserIsWhatIsConfigured(user: String) throws {
        let registrar = Registrar(.accept(600))
        let site = try site(registrar) { $0.contactUser = user }
        site.run(for: .seconds(1))
        #expect(registrar.seen.first?.contacts.first?.uri.user == user)
        let found = try invites(site).first?.contacts.first?.uri.user
        #expect(found == user)
        TrustTests.give(try TrustTests.invite("sip:\(user)@192.0.2.7"), to: site)
        #expect(site.incoming.map(\.why) == ["contact user"])
    }
}
