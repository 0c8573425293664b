import Configuration
import Primitives
import SIP
import Testing
import UserAgent

/// Accounts over TLS: nothing without it, whom the edge must find, and the clock (SEC8, R10).
@Suite struct TLSTests {
    private static func account(_ name: String = "house", transport: TransportChoice = .tls) throws -> Account {
        var account = try Account.house(name, registrar: "sip:pbx.example.org")
        account.transport = transport
        return account
    }

    /// pbx.example.org has a server for each transport, by NAPTR.
    private static func zone(_ question: DNSQuestion) -> DNSAnswer {
        func naming(_ order: UInt16, _ service: String, _ name: String) -> DNSRecord {
            .naming(order: order, preference: 1, flags: "S", service: service, replacement: name)
        }
        func service(_ port: UInt16) -> DNSAnswer {
            .records([.service(priority: 1, weight: 1, port: port, target: "edge.example.net")])
        }
        return switch (question.kind, question.name) {
        case (.naptr, "pbx.example.org"):
            .records([
                naming(20, "SIP+D2U", "_sip._udp.example.net"), naming(10, "SIPS+D2T", "_sips._tcp.example.net"),
            ])
        case (.srv, "_sip._udp.example.net"): service(5060)
        case (.srv, "_sips._tcp.example.net"), (.srv, "_sips._tcp.pbx.example.org"): service(5061)
        case (.a, "edge.example.net"): .records([.address(Site.registrar.address)])
        default: .records([])
        }
    }

    private static func site(_ accounts: [Account]) -> (site: Site, registrar: Registrar) {
        let site = Site(accounts)
        let registrar = Registrar(.accept(600))
        site.zone = zone
        site.server = { registrar.answer($0, $1) }
        return (site, registrar)
    }

    @Test("SEC8: Via and Contact say TLS, the server is asked for the domain") func registersOverTLS() throws {
        let (site, _) = Self.site([try Self.account()])
        var targets: [Target] = []
        site.accepts = {
            targets.append($0)
            return .success(())
        }
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        #expect(site.status?.transport == .tls)
        let register = try #require(site.registers.first)
        #expect(register.request.topVia?.transport == "TLS")
        #expect(register.request.contacts.first?.uri.transport == "tls")
        #expect(register.flow.remote.port == 5061)
        #expect(targets.map { $0.server?.name } == ["pbx.example.org"])
        #expect(targets.map { $0.server?.names } == [["pbx.example.org"]])
    }

    @Test("SEC8: a sips account has a sips Contact") func sipsAccounts() throws {
        var account = try Self.account(transport: .auto)
        account.uri.scheme = .sips
        let (site, _) = Self.site([account])
        site.run(for: .seconds(1))
        #expect(site.registers.map(\.flow.transport) == [.tls])
        #expect(site.registers.first?.request.contacts.first?.uri.scheme == .sips)
    }

    static let failures: [TransportFailure] = [.refused, .timedOut, .insecure("wrong name"), .closedByPeer]

    @Test("SEC8: a TLS account never goes without", arguments: failures)
    func neverWithout(failure: TransportFailure) throws {
        let (site, _) = Self.site([try Self.account()])
        var asked: Set<Transport> = []
        site.accepts = {
            asked.insert($0.transport)
            return .failure(failure)
        }
        site.run(for: .seconds(300))
        #expect(site.status?.state == .failed)
        #expect(site.status?.nextAttempt != nil)
        #expect(site.sent.isEmpty)
        #expect(asked == [.tls])
        if case .insecure(let reason) = failure { #expect(site.status?.reason == "TLS: \(reason)") }
    }

    @Test("SEC8: auto takes nothing less after a refused certificate") func autoStaysAway() throws {
        let (site, _) = Self.site([try Self.account(transport: .auto)])
        site.accepts = { _ in .failure(.insecure("wrong name")) }
        site.run(for: .seconds(60))
        #expect(site.sent.isEmpty)
        #expect(site.status?.reason == "TLS: wrong name")
    }

    @Test("T11: auto goes on where nobody listens for TLS") func autoGoesOn() throws {
        let (site, _) = Self.site([try Self.account(transport: .auto)])
        site.accepts = { $0.transport == .tls ? .failure(.refused) : .success(()) }
        site.run(for: .seconds(1))
        #expect(site.registers.map(\.flow.transport) == [.udp])
        #expect(site.status?.state == .registered)
    }

    @Test("R10: TLS waits for the clock, UDP does not, and is tried the moment it is set") func theClock() throws {
        let (site, _) = Self.site([try Self.account("secure"), try .house("plain")])
        site.give(.clockChanged(isSet: false))
        site.run(for: .seconds(200))
        #expect(site.agent.accountStatuses.map(\.state) == [.failed, .registered])
        #expect(site.agent.accountStatuses[0].reason == "TLS: the clock is not set yet: waiting for the time")
        #expect(site.agent.accountStatuses[0].nextAttempt != nil)
        #expect(site.registers.allSatisfy { $0.flow.transport == .udp })
        let before = site.now
        site.give(.clockChanged(isSet: true))
        site.run(for: .milliseconds(100))
        #expect(site.agent.accountStatuses[0].state == .registered)
        #expect(site.registers.last.map { $0.at - before < .milliseconds(50) } == true)
    }

    @Test("R10: a certificate that was not valid yet is looked at again when the clock is set") func setLater() throws {
        let (site, _) = Self.site([try Self.account()])
        site.accepts = { _ in .failure(.insecure("certificate is not yet valid")) }
        site.run(for: .seconds(100))
        #expect(site.status?.state == .failed)
        site.accepts = { _ in .success(()) }
        site.give(.clockChanged(isSet: true))
        site.run(for: .milliseconds(100))
        #expect(site.status?.state == .registered)
    }

    @Test("R10: a tolerant account does not wait, and connects anew when the clock is set") func tolerant() throws {
        var account = try Self.account()
        account.tls.toleratesClock = true
        let (site, _) = Self.site([account])
        site.give(.clockChanged(isSet: false))
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        let first = try #require(site.registers.last?.flow)
        site.give(.clockChanged(isSet: true))
        #expect(site.closed == [first])
        site.run(for: .seconds(3))
        #expect(site.status?.state == .registered)
        #expect(site.registers.last?.flow.connection != first.connection)
        site.give(.clockChanged(isSet: true))
        #expect(site.closed.count == 1)
    }

    @Test("R10: without verification the clock does not matter") func unverified() throws {
        var account = try Self.account()
        account.tls.verifies = false
        let (site, _) = Self.site([account])
        site.give(.clockChanged(isSet: false))
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
    }

    @Test("T13: accounts with the same trust share a connection, others do not") func sharing() throws {
        var other = try Self.account("other")
        other.tls.certificate = "/etc/portero/door.pem"
        let (site, _) = Self.site([try Self.account("one"), try Self.account("two"), other])
        site.run(for: .seconds(2))
        #expect(site.agent.accountStatuses.map(\.state) == [.registered, .registered, .registered])
        let connections = site.registers.map(\.flow.connection)
        #expect(connections[0] == connections[1])
        #expect(connections[0] != connections[2])
    }

    @Test("R6: no answer along a stream closes it, and the next request dials again") func deadFlow() throws {
        let (site, registrar) = Self.site([try Self.account()])
        site.run(for: .seconds(1))
        let first = try #require(site.registers.last?.flow)
        site.server = { _, _ in [] }
        site.give(.register(account: nil))
        site.run(for: .seconds(31))
        #expect(site.closed.isEmpty)
        site.run(for: .seconds(2))
        #expect(site.closed == [first])
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(5))
        #expect(site.status?.state == .registered)
        #expect(site.registers.last?.flow.connection != first.connection)
    }

    @Test("R6: a stream along which something came is not dead") func liveFlow() throws {
        let (site, _) = Self.site([try Self.account()])
        site.run(for: .seconds(1))
        let flow = try #require(site.registers.last?.flow)
        site.server = { _, _ in [] }
        site.give(.register(account: nil))
        site.run(for: .seconds(20))
        site.give(.received([13, 10, 13, 10], flow))
        site.run(for: .seconds(13))
        #expect(site.closed.isEmpty)
        #expect(site.status?.state == .failed)
    }

    @Test("R6: a peer that answered pings and stops is dialled again") func silentPings() throws {
        let (site, _) = Self.site([try Self.account()])
        site.run(for: .seconds(1))
        let flow = try #require(site.registers.last?.flow)
        site.give(.received([13, 10], flow))
        site.forgetSent()
        site.run(for: .seconds(121))
        #expect(site.sent.contains { $0.octets == [13, 10, 13, 10] && $0.flow == flow })
        site.run(for: .seconds(15))
        #expect(site.closed == [flow])
        #expect(site.status?.state == .registered)
        #expect(site.registers.last?.flow.connection != flow.connection)
    }

    @Test("SEC1: a datagram with the address of a TLS account's registrar is a stranger's") func forgedSource() throws {
        let (site, _) = Self.site([try Self.account()])
        site.run(for: .seconds(1))
        let flow = try #require(site.registers.last?.flow)
        site.forgetSent()
        let forged = Flow(transport: .udp, local: SocketAddress(Site.home, 5060), remote: Site.registrar)
        var invite = try TrustTests.invite("sip:k7xhouse@192.0.2.7")
        site.give(.received(invite.serialized(), forged))
        #expect(site.incoming.isEmpty)
        #expect(site.sent.isEmpty)
        invite.vias[0].transport = "TLS"
        site.give(.received(invite.serialized(), flow))
        #expect(site.incoming.count == 1)
    }

    @Test("SEC8: sips is taken along TLS and refused elsewhere") func sipsRequests() throws {
        let (site, _) = Self.site([try Self.account("house", transport: .auto)])
        site.run(for: .seconds(1))
        let flow = try #require(site.registers.last?.flow)
        site.forgetSent()
        site.decide = { .answer($0.call) }
        var invite = try TrustTests.invite("sips:k7xhouse@192.0.2.7")
        invite.vias[0].transport = "TLS"
        site.give(.received(invite.serialized(), flow))
        let answer = site.sent.compactMap(\.response).first { $0.status == 200 }
        #expect(answer?.contacts.first?.uri.scheme == .sips)

        let plain = TrustTests.site([try .house()])
        let datagram = Flow(transport: .udp, local: SocketAddress(Site.home, 5060), remote: Site.registrar)
        plain.give(.received(try TrustTests.invite("sips:k7xhouse@192.0.2.7").serialized(), datagram))
        #expect(plain.sent.map(\.status) == [416])
    }

    @Test("D19: a request that cannot leave ends at once, and the next server gets it") func localErrors() throws {
        var account = try Account.house(registrar: "sip:pbx.example.org")
        account.transport = .udp
        let site = Site([account])
        site.zone = { question in
            question.kind == .a ? .records([.address(.v4(0xC000_020B)), .address(.v4(0xC000_020C))]) : .records([])
        }
        let registrar = Registrar(.accept(600))
        site.server = { request, flow in
            guard flow.remote.address == .v4(0xC000_020B) else { return registrar.answer(request, flow) }
            site.schedule(.flowFailed(flow, .refused), after: .milliseconds(1))
            return []
        }
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        #expect(site.registers.map { $0.flow.remote.address.octets.last } == [11, 12])
    }
}
