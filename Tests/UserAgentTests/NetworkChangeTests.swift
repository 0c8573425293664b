import Primitives
import SIP
import Testing
import UserAgent

@Suite struct NetworkChangeTests {
    private static let second = IPAddress.v4(0xC000_0208)
    private static let third = IPAddress.v4(0xC000_0209)

    private func registered(_ registrar: Registrar, count: Int = 1) throws -> World {
        let accounts = try (1...count).map { try Account.house("house\($0)") }
        let world = World(accounts)
        world.server = { registrar.answer($0, $1) }
        world.run(for: .seconds(Int64(count) + 1))
        #expect(world.agent.accountStatuses.allSatisfy { $0.state == .registered })
        world.forgetSent()
        return world
    }

    @Test func aNewAddressIsRegisteredWithinASecond() throws {
        let registrar = Registrar(.accept(600))
        let world = try registered(registrar, count: 5)
        world.local = Self.second
        world.give(.networkChanged)
        world.run(for: .seconds(1))
        #expect(world.registers.count == 5)
        #expect(world.agent.accountStatuses.allSatisfy { $0.state == .registered })
        #expect(world.agent.accountStatuses.allSatisfy { $0.contact?.hasSuffix("@192.0.2.8:5060") == true })
        #expect(registrar.bindings.allSatisfy { $0.host?.address == Self.second })
        #expect(registrar.bindings.count == 5)
        // Both in one request: the new one, and the old one with nothing left to live.
        let request = try #require(world.registers.first?.request)
        #expect(request.contacts.map(\.expires) == [600, 0])
    }

    @Test func anUnrelatedInterfaceChangesNothing() throws {
        let world = try registered(Registrar(.accept(600)))
        for _ in 0..<20 {
            world.give(.networkChanged)
            world.run(for: .seconds(1))
        }
        #expect(world.sent.isEmpty)
        #expect(world.status?.state == .registered)
    }

    @Test func changesThatComeTogetherAreOne() throws {
        let world = try registered(Registrar(.accept(600)))
        world.give(.networkChanged)
        world.run(for: .milliseconds(200))
        world.local = Self.second
        world.give(.networkChanged)
        world.run(for: .seconds(1))
        #expect(world.registers.count == 1)
    }

    @Test func twoChangesASecondApartEndWithTheLastAddress() throws {
        let registrar = Registrar(.accept(600))
        let world = try registered(registrar)
        world.local = Self.second
        world.give(.networkChanged)
        world.run(for: .seconds(1))
        world.local = Self.third
        world.give(.networkChanged)
        world.run(for: .seconds(1))
        #expect(registrar.bindings.map { $0.host?.address } == [Self.third])
        #expect(world.status?.contact == "sip:k7xhouse1@192.0.2.9:5060")
    }

    @Test func aChangeDuringARegisterEndsWithTheLastAddress() throws {
        let registrar = Registrar(.accept(600))
        let world = try registered(registrar)
        // The registrar takes the second address, but its answer never arrives.
        world.server = { request, flow in
            let answers = registrar.answer(request, flow)
            return flow.local.address == Self.second ? [] : answers
        }
        world.local = Self.second
        world.give(.networkChanged)
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registering)
        world.local = Self.third
        world.give(.networkChanged)
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registered)
        #expect(registrar.bindings.map { $0.host?.address } == [Self.third])
        // What was given up is not repeated.
        let count = world.registers.count
        world.run(for: .seconds(60))
        #expect(world.registers.count == count)
    }

    @Test func aLinkThatGoesAndComesIsRegisteredAgain() throws {
        let registrar = Registrar(.accept(600))
        let world = try registered(registrar)
        world.local = nil
        world.give(.networkChanged)
        world.run(for: .seconds(20))
        #expect(world.status?.state == .failed)
        #expect(world.status?.nextAttempt != nil)
        #expect(world.registers.isEmpty)
        world.local = World.home
        world.give(.networkChanged)
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registered)
        #expect(world.registers.count == 1)
    }

    @Test func aFlappingLinkCausesNoStorm() throws {
        let registrar = Registrar(.accept(600))
        let world = try registered(registrar)
        for round in 0..<60 {
            world.local = round % 2 == 0 ? Self.second : World.home
            world.give(.networkChanged)
            world.run(for: .seconds(1))
        }
        #expect(world.registers.count <= 3 + 60 / 5 + 1)
        world.local = Self.third
        world.give(.networkChanged)
        world.run(for: .seconds(6))
        #expect(registrar.bindings.map { $0.host?.address } == [Self.third])
    }

    @Test func aRegistrarThatTakesOneContactOnlyGetsOne() throws {
        let registrar = Registrar(.accept(600))
        let world = try registered(registrar)
        world.server = { request, flow in
            request.contacts.count > 1
                ? [(.milliseconds(5), request.response(400))] : registrar.answer(request, flow)
        }
        world.local = Self.second
        world.give(.networkChanged)
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registered)
        #expect(world.status?.contact == "sip:k7xhouse1@192.0.2.8:5060")
    }

    @Test func aNetworkEventEndsTheBackOff() throws {
        let registrar = Registrar(.accept(600))
        let world = try registered(registrar)
        registrar.script = [.status(500)]
        world.run(for: .seconds(3000))
        #expect(world.status?.state == .failed)
        registrar.script = [.accept(600)]
        world.give(.networkChanged)
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registered)
    }

    @Test func connectionsFromDeadAddressesAreClosed() throws {
        let registrar = Registrar(.accept(600))
        var account = try Account.house()
        account.transport = .fixed(.tcp)
        let world = World([account])
        world.server = { registrar.answer($0, $1) }
        world.run(for: .seconds(1))
        #expect(world.status?.contact == "sip:k7xhouse@192.0.2.7:40001;transport=tcp")
        world.local = Self.second
        world.give(.networkChanged)
        world.run(for: .seconds(1))
        #expect(world.closed.map(\.connection) == [1])
        #expect(world.status?.contact == "sip:k7xhouse@192.0.2.8:40002;transport=tcp")
        #expect(world.status?.state == .registered)
    }
}

@Suite struct FlowTests {
    @Test func aLostConnectionIsMadeAgain() throws {
        let registrar = Registrar(.accept(600))
        var account = try Account.house()
        account.transport = .fixed(.tcp)
        let world = World([account])
        world.server = { registrar.answer($0, $1) }
        world.run(for: .seconds(1))
        let flow = try #require(world.registers.first?.flow)
        world.give(.flowFailed(flow, .closedByPeer))
        #expect(world.status?.state == .failed)
        world.run(for: .seconds(3))
        #expect(world.status?.state == .registered)
        #expect(world.registers.last?.flow.connection == 2)
    }

    @Test func aRegistrarThatIsDownIsFoundAgain() throws {
        let registrar = Registrar(.accept(600))
        var account = try Account.house()
        account.keepAlive = .seconds(25)
        let world = World([account])
        world.server = { registrar.answer($0, $1) }
        world.run(for: .seconds(1))
        let flow = try #require(world.registers.first?.flow)
        // The host says so to the next keep-alive, and to every REGISTER.
        world.server = { _, flow in
            world.schedule(.flowFailed(flow, .refused), after: .milliseconds(1))
            return []
        }
        world.schedule(.flowFailed(flow, .refused), after: .seconds(10))
        world.run(for: .seconds(30))
        #expect(world.status?.state == .failed)
        world.server = { registrar.answer($0, $1) }
        world.run(for: .seconds(60))
        #expect(world.status?.state == .registered)
    }

    @Test func accountsOnOneFlowShareItsKeepAlives() throws {
        let registrar = Registrar(.accept(3600))
        let accounts = try (1...64).map { number in
            var account = try Account.house("a\(number)")
            account.keepAlive = .seconds(25)
            return account
        }
        let world = World(accounts)
        world.server = { registrar.answer($0, $1) }
        world.run(for: .seconds(60))
        #expect(world.agent.accountStatuses.allSatisfy { $0.state == .registered })
        world.forgetSent()
        let wakeUps = world.wakeUps
        world.run(for: .seconds(1000))
        let keepAlives = world.sent.filter { $0.octets == [13, 10, 13, 10] }
        #expect((33...50).contains(keepAlives.count))
        #expect(world.wakeUps - wakeUps < 1000)
    }

    @Test func accountsOnManyFlowsCostFewWakeUps() throws {
        let registrar = Registrar(.accept(3600))
        let accounts = try (1...64).map { number in
            var account = try Account.house("a\(number)", registrar: "sip:198.51.100.\(number)")
            account.keepAlive = .seconds(25)
            return account
        }
        let world = World(accounts)
        world.server = { registrar.answer($0, $1) }
        world.run(for: .seconds(60))
        let wakeUps = world.wakeUps
        world.run(for: .seconds(1000))
        #expect(world.wakeUps - wakeUps < 500)
    }

    @Test func streamsArePingedAndSilenceIsDeathOnlyAfterAnAnswer() throws {
        let registrar = Registrar(.accept(3600))
        var account = try Account.house()
        account.transport = .fixed(.tcp)
        let world = World([account])
        world.server = { registrar.answer($0, $1) }
        world.run(for: .seconds(600))
        let pings = world.sent.filter { $0.octets == [13, 10, 13, 10] }.map(\.at)
        #expect(pings.count >= 5)
        for (earlier, later) in zip(pings, pings.dropFirst()) {
            #expect((.seconds(95)...(.seconds(120))).contains(later - earlier))
        }
        #expect(world.closed.isEmpty)
        let flow = try #require(world.registers.first?.flow)
        world.give(.received([13, 10], flow))
        world.run(for: .seconds(131))
        #expect(world.closed.map(\.connection) == [1])
        world.run(for: .seconds(3))
        #expect(world.status?.state == .registered)
    }

    @Test func accountsStartOneAfterTheOther() throws {
        let registrar = Registrar(.accept(600))
        let world = World(try (1...20).map { try Account.house("a\($0)") })
        world.server = { registrar.answer($0, $1) }
        world.run(for: .seconds(10))
        #expect(registrar.seen.compactMap(\.from.uri.user) == (1...20).map { "a\($0)" })
        let times = world.registers.map(\.at)
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect((.milliseconds(50)...(.milliseconds(250))).contains(later - earlier))
        }
    }
}
