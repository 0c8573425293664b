import Configuration
import Primitives
import SIP
import Testing
import UserAgent

@Suite struct NetworkChangeTests {
    private static let second = IPAddress.v4(0xC000_0208)
    private static let third = IPAddress.v4(0xC000_0209)

    private func registered(_ registrar: Registrar, count: Int = 1) throws -> Site {
        let accounts = try (1...count).map { try Account.house("house\($0)") }
        let site = Site(accounts)
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(Int64(count) + 1))
        #expect(site.agent.accountStatuses.allSatisfy { $0.state == .registered })
        site.forgetSent()
        return site
    }

    @Test func aNewAddressIsRegisteredWithinASecond() throws {
        let registrar = Registrar(.accept(600))
        let site = try registered(registrar, count: 5)
        site.local = Self.second
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        #expect(site.registers.count == 5)
        #expect(site.agent.accountStatuses.allSatisfy { $0.state == .registered })
        #expect(site.agent.accountStatuses.allSatisfy { $0.contact?.hasSuffix("@192.0.2.8:5060") == true })
        #expect(registrar.bindings.allSatisfy { $0.host?.address == Self.second })
        #expect(registrar.bindings.count == 5)
        // Both in one request: the new one, and the old one with nothing left to live.
        let request = try #require(site.registers.first?.request)
        #expect(request.contacts.map(\.expires) == [600, 0])
    }

    @Test func aNewPortIsRegisteredLikeANewAddress() throws {
        let registrar = Registrar(.accept(600))
        let site = try registered(registrar)
        site.port = 5070
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        #expect(site.registers.count == 1)
        #expect(site.status?.contact == "sip:k7xhouse1@192.0.2.7:5070")
        #expect(registrar.bindings.map(\.port) == [5070])
    }

    @Test func anUnrelatedInterfaceChangesNothing() throws {
        let site = try registered(Registrar(.accept(600)))
        for _ in 0..<20 {
            site.give(.networkChanged)
            site.run(for: .seconds(1))
        }
        #expect(site.sent.isEmpty)
        #expect(site.status?.state == .registered)
    }

    @Test func twoChangesASecondApartEndWithTheLastAddress() throws {
        let registrar = Registrar(.accept(600))
        let site = try registered(registrar)
        site.local = Self.second
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        site.local = Self.third
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        #expect(registrar.bindings.map { $0.host?.address } == [Self.third])
        #expect(site.status?.contact == "sip:k7xhouse1@192.0.2.9:5060")
    }

    @Test func aChangeDuringARegisterEndsWithTheLastAddress() throws {
        let registrar = Registrar(.accept(600))
        let site = try registered(registrar)
        // The registrar takes the second address, but its answer never arrives.
        site.server = { request, flow in
            let answers = registrar.answer(request, flow)
            return flow.local.address == Self.second ? [] : answers
        }
        site.local = Self.second
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registering)
        site.local = Self.third
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        #expect(registrar.bindings.map { $0.host?.address } == [Self.third])
        // What was given up is not repeated.
        let count = site.registers.count
        site.run(for: .seconds(60))
        #expect(site.registers.count == count)
    }

    @Test func aLinkThatGoesAndComesIsRegisteredAgain() throws {
        let registrar = Registrar(.accept(600))
        let site = try registered(registrar)
        site.local = nil
        site.give(.networkChanged)
        site.run(for: .seconds(20))
        #expect(site.status?.state == .failed)
        #expect(site.status?.nextAttempt != nil)
        #expect(site.registers.isEmpty)
        site.local = Site.home
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        #expect(site.registers.count == 1)
    }

    @Test func aRegistrarThatTakesOneContactOnlyGetsOne() throws {
        let registrar = Registrar(.accept(600))
        let site = try registered(registrar)
        site.server = { request, flow in
            request.contacts.count > 1
                ? [(.milliseconds(5), request.response(400))] : registrar.answer(request, flow)
        }
        site.local = Self.second
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        #expect(site.status?.contact == "sip:k7xhouse1@192.0.2.8:5060")
    }

    @Test func aNetworkEventEndsTheBackOff() throws {
        let registrar = Registrar(.accept(600))
        let site = try registered(registrar)
        registrar.script = [.status(500)]
        site.run(for: .seconds(3000))
        #expect(site.status?.state == .failed)
        registrar.script = [.accept(600)]
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
    }

    @Test func connectionsFromDeadAddressesAreClosed() throws {
        let registrar = Registrar(.accept(600))
        var account = try Account.house()
        account.transport = .tcp
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(1))
        #expect(site.status?.contact == "sip:k7xhouse@192.0.2.7:40001;transport=tcp")
        site.local = Self.second
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        #expect(site.closed.map(\.connection) == [1])
        #expect(site.status?.contact == "sip:k7xhouse@192.0.2.8:40002;transport=tcp")
        #expect(site.status?.state == .registered)
    }
}

@Suite struct FlowTests {
    @Test func aLostConnectionIsMadeAgain() throws {
        let registrar = Registrar(.accept(600))
        var account = try Account.house()
        account.transport = .tcp
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(1))
        let flow = try #require(site.registers.first?.flow)
        site.give(.flowFailed(flow, .closedByPeer))
        #expect(site.status?.state == .failed)
        site.run(for: .seconds(3))
        #expect(site.status?.state == .registered)
        #expect(site.registers.last?.flow.connection == 2)
    }

    @Test func aRegistrarThatIsDownIsFoundAgain() throws {
        let registrar = Registrar(.accept(600))
        var account = try Account.house()
        account.keepAlive = .seconds(25)
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(1))
        let flow = try #require(site.registers.first?.flow)
        // The host says so to the next keep-alive, and to every REGISTER.
        site.server = { _, flow in
            site.schedule(.flowFailed(flow, .refused), after: .milliseconds(1))
            return []
        }
        site.schedule(.flowFailed(flow, .refused), after: .seconds(10))
        site.run(for: .seconds(30))
        #expect(site.status?.state == .failed)
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(60))
        #expect(site.status?.state == .registered)
    }

    @Test func accountsOnOneFlowShareItsKeepAlives() throws {
        let registrar = Registrar(.accept(3600))
        let accounts = try (1...64).map { number in
            var account = try Account.house("a\(number)")
            account.keepAlive = .seconds(25)
            return account
        }
        let site = Site(accounts)
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(60))
        #expect(site.agent.accountStatuses.allSatisfy { $0.state == .registered })
        site.forgetSent()
        let wakeUps = site.wakeUps
        site.run(for: .seconds(1000))
        let keepAlives = site.sent.filter { $0.octets == [13, 10, 13, 10] }
        #expect((33...50).contains(keepAlives.count))
        #expect(site.wakeUps - wakeUps < 1000)
    }

    @Test func accountsOnManyFlowsCostFewWakeUps() throws {
        let registrar = Registrar(.accept(3600))
        let accounts = try (1...64).map { number in
            var account = try Account.house("a\(number)", registrar: "sip:198.51.100.\(number)")
            account.keepAlive = .seconds(25)
            return account
        }
        let site = Site(accounts)
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(60))
        let wakeUps = site.wakeUps
        site.run(for: .seconds(1000))
        #expect(site.wakeUps - wakeUps < 500)
    }

    @Test func streamsArePingedAndSilenceIsDeathOnlyAfterAnAnswer() throws {
        let registrar = Registrar(.accept(3600))
        var account = try Account.house()
        account.transport = .tcp
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(600))
        let pings = site.sent.filter { $0.octets == [13, 10, 13, 10] }.map(\.at)
        #expect(pings.count >= 5)
        for (earlier, later) in zip(pings, pings.dropFirst()) {
            #expect((.seconds(95)...(.seconds(120))).contains(later - earlier))
        }
        #expect(site.closed.isEmpty)
        let flow = try #require(site.registers.first?.flow)
        site.give(.received([13, 10], flow))
        site.run(for: .seconds(131))
        #expect(site.closed.map(\.connection) == [1])
        site.run(for: .seconds(3))
        #expect(site.status?.state == .registered)
    }

    @Test func accountsStartOneAfterTheOther() throws {
        let registrar = Registrar(.accept(600))
        let site = Site(try (1...20).map { try Account.house("a\($0)") })
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(10))
        #expect(registrar.seen.compactMap(\.from.uri.user) == (1...20).map { "a\($0)" })
        let times = site.registers.map(\.at)
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect((.milliseconds(50)...(.milliseconds(250))).contains(later - earlier))
        }
    }
}
