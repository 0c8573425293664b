import Primitives
import SIP
import Testing
import UserAgent

@Suite struct RegistrationTests {
    private func world(_ registrar: Registrar, change: (inout Account) -> Void = { _ in }) throws -> World {
        var account = try Account.house()
        change(&account)
        let world = World([account])
        world.server = { registrar.answer($0, $1) }
        return world
    }

    @Test func registersAndRefreshesBeforeTheEnd() throws {
        let registrar = Registrar(.accept(600))
        let world = try world(registrar)
        world.run(for: .seconds(1))
        let status = try #require(world.status)
        #expect(status.state == .registered)
        #expect(status.contact == "sip:k7xhouse@192.0.2.7:5060")
        #expect(status.registrar == World.registrar)
        #expect(status.code == 200)
        let first = try #require(registrar.seen.first)
        #expect(first.uri.description == "sip:192.0.2.1")
        #expect(first.headers.first(.expires) == "600")
        #expect(first.contacts.first?.parameters["reg-id"] == "1")
        #expect(
            first.contacts.first?.parameters["+sip.instance"] == "<urn:uuid:00000000-0000-1000-8000-000000000001>")
        #expect(first.topVia?.host.address == World.home)
        #expect(first.topVia?.wantsRport == true)
        world.run(for: .seconds(3600))
        let times = world.registers.map(\.at)
        #expect(times.count >= 7)
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect((.seconds(479)...(.seconds(571))).contains(later - earlier))
        }
        #expect(Set(registrar.seen.map(\.callID)).count == 1)
        #expect(registrar.seen.map(\.cseq.number) == (1...UInt32(registrar.seen.count)).map { $0 })
        // A refresh is no change of state.
        #expect(world.statuses.map(\.state) == [.registering, .registered])
    }

    @Test(arguments: [
        (UInt32?(300), 240.0...285.1), (UInt32?(7200), 5760...6840.1), (nil, 480...570.1), (UInt32?(40), 20...24.1),
        (UInt32?(12), 6...10.1), (UInt32?(1), 0.9...1.1),
    ])
    func takesTheGrantedTime(granted: UInt32?, seconds: ClosedRange<Double>) throws {
        let registrar = Registrar(.accept(granted))
        let world = try world(registrar)
        world.run(for: .seconds(8000))
        let times = world.registers.prefix(2).map(\.at)
        try #require(times.count == 2)
        #expect(seconds.contains((times[1] - times[0]).inSeconds))
        // Always the account's wish, never what was granted (FIELD R14).
        #expect(Set(registrar.seen.compactMap { $0.headers.first(.expires) }) == ["600"])
    }

    @Test(arguments: [404, 480, 486, 500, 503, 504, 600, 603])
    func everyRefusalHasANextAttempt(code: Int) throws {
        let registrar = Registrar(.status(code))
        let world = try world(registrar)
        world.run(for: .milliseconds(500))
        let status = try #require(world.status)
        #expect(status.state == .failed)
        #expect(status.code == code)
        let next = try #require(status.nextAttempt)
        #expect((.seconds(1)...(.milliseconds(2000))).contains(next - world.registers[0].at - .milliseconds(5)))
        // Back within a minute of a registrar that was away for half an hour.
        world.run(for: .seconds(1800))
        registrar.script = [.accept(600)]
        world.run(for: .seconds(61))
        #expect(world.status?.state == .registered)
    }

    @Test func aDayOfRefusalsIsNoStorm() throws {
        let registrar = Registrar(.status(500))
        let world = try world(registrar)
        world.run(for: .seconds(7 * 3600))
        let late = world.registers.map(\.at).filter { $0 > .zero + .seconds(4000) }
        for (earlier, later) in zip(late, late.dropFirst()) {
            #expect((.seconds(150)...(.seconds(301))).contains(later - earlier))
        }
    }

    @Test func silenceIsTriedAgain() throws {
        let registrar = Registrar(.silence)
        let world = try world(registrar)
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registering)
        #expect(world.status?.nextAttempt != nil)
        world.run(for: .seconds(32))
        #expect(world.status?.state == .failed)
        #expect(world.status?.code == 408)
        #expect(world.status?.nextAttempt != nil)
        let note = try #require(world.notes.first { $0.level == .warning })
        #expect(note.text.contains("sip:192.0.2.1 (udp, "))
        registrar.script = [.accept(600)]
        world.run(for: .seconds(3))
        #expect(world.status?.state == .registered)
    }

    @Test func answersAChallengeWithTheNextNumber() throws {
        let registrar = Registrar(.accept(600))
        registrar.nonce = "n1"
        let world = try world(registrar)
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registered)
        #expect(registrar.seen.map(\.cseq.number) == [1, 2])
        #expect(Set(registrar.seen.map { $0.topVia?.branch }).count == 2)
        #expect(registrar.seen[1].headers.first(.authorization)?.contains("nc=00000001") == true)
        // The refresh uses the nonce again (A3).
        world.run(for: .seconds(580))
        #expect(registrar.seen.count == 3)
        #expect(registrar.seen[2].headers.first(.authorization)?.contains("nc=00000002") == true)
        // Another nonce without `stale` is answered too (FIELD R11).
        registrar.nonce = "n2"
        world.run(for: .seconds(580))
        #expect(world.status?.state == .registered)
        #expect(registrar.seen.count == 5)
    }

    @Test func aWrongPasswordIsNotHammered() throws {
        let registrar = Registrar(
            .status(401, [(.wwwAuthenticate, "Digest realm=\"pbx\", nonce=\"n1\", qop=\"auth\"")]))
        let world = try world(registrar)
        world.run(for: .seconds(3600))
        #expect(world.status?.state == .failed)
        // Twice at the start, then after 5, 15 and 30 minutes.
        #expect(world.registers.count <= 2 + 2 * 3)
        #expect(world.notes.filter { $0.level == .error }.count == 1)
        let alarm = try #require(world.notes.first { $0.level == .error })
        #expect(alarm.account == "house")
        #expect(alarm.text.contains("refused the password"))
        let status = try #require(world.status)
        #expect(status.nextAttempt != nil)
        // Neither the network nor the resolver shortens that.
        let count = world.registers.count
        world.give(.networkChanged)
        world.give(.resolverChanged)
        world.run(for: .seconds(10))
        #expect(world.registers.count == count)
        // The operator does.
        registrar.script = [.accept(600)]
        world.give(.register(account: "house"))
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registered)
    }

    @Test func forbiddenIsTriedSlowly() throws {
        let world = try world(Registrar(.status(403)))
        world.run(for: .seconds(290))
        #expect(world.registers.count == 1)
        world.run(for: .seconds(20))
        #expect(world.registers.count == 2)
        #expect(world.notes.filter { $0.level == .error }.count == 1)
    }

    @Test func retryAfterIsHonoured() throws {
        let world = try world(Registrar(.status(503, [(.retryAfter, "120")]), .accept(600)))
        world.run(for: .seconds(119))
        #expect(world.registers.count == 1)
        world.run(for: .seconds(2))
        #expect(world.status?.state == .registered)
    }

    @Test func aLongerTimeIsTakenWhereItIsDemanded() throws {
        let registrar = Registrar(.status(423, [(.minExpires, "1800")]), .accept(1800))
        let world = try world(registrar)
        world.run(for: .seconds(3600))
        #expect(registrar.seen.compactMap { $0.headers.first(.expires) } == ["600", "1800", "1800", "1800"])
        #expect(world.registers[1].at - world.registers[0].at < .milliseconds(100))
    }

    @Test(arguments: ["", "500", "90000"])
    func aStrangeIntervalIsAFailure(minimum: String) throws {
        let headers: [(HeaderName, String)] = minimum.isEmpty ? [] : [(.minExpires, minimum)]
        let world = try world(Registrar(.status(423, headers)))
        world.run(for: .milliseconds(500))
        #expect(world.registers.count == 1)
        #expect(world.status?.state == .failed)
        #expect(world.status?.nextAttempt != nil)
    }

    @Test func followsOneRedirection() throws {
        let registrar = Registrar(.status(301, [(.contact, "<sip:192.0.2.99>")]))
        let world = try world(registrar)
        world.run(for: .milliseconds(500))
        #expect(world.registers.map(\.flow.remote.address.description) == ["192.0.2.1", "192.0.2.99"])
        #expect(world.status?.state == .failed)
        #expect(world.status?.nextAttempt != nil)
    }

    @Test func anAnswerWithoutOurContactIsAFailure() throws {
        let world = try world(Registrar(.acceptWithoutContact))
        world.run(for: .milliseconds(500))
        #expect(world.status?.state == .failed)
        #expect(world.status?.nextAttempt != nil)
    }

    @Test func aRegistrarWithoutOutboundGetsNoRegID() throws {
        let registrar = Registrar(.status(439), .accept(600))
        let world = try world(registrar)
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registered)
        #expect(registrar.seen.last?.contacts.first?.parameters["reg-id"] == nil)
    }

    @Test func unregistersWhenItStops() throws {
        let registrar = Registrar(.accept(600))
        let world = try world(registrar)
        world.run(for: .seconds(1))
        #expect(registrar.bindings.count == 1)
        world.give(.stop)
        world.run(for: .seconds(1))
        #expect(world.isStopped)
        #expect(registrar.bindings.isEmpty)
        #expect(registrar.seen.last?.contacts.first?.expires == 0)
        #expect(registrar.seen.last?.hasWildcardContact == false)
        #expect(world.agent.deadline == nil)
    }

    @Test func aSilentRegistrarDelaysTheEndByTwoSeconds() throws {
        let registrar = Registrar(.accept(600), .silence)
        let world = try world(registrar)
        world.run(for: .seconds(1))
        world.give(.stop)
        world.run(for: .milliseconds(1900))
        #expect(!world.isStopped)
        world.run(for: .milliseconds(200))
        #expect(world.isStopped)
    }

    @Test func theOperatorMayUnregister() throws {
        let registrar = Registrar(.accept(600))
        let world = try world(registrar)
        world.run(for: .seconds(1))
        world.give(.unregister(account: "house"))
        world.run(for: .seconds(3600))
        #expect(registrar.bindings.isEmpty)
        #expect(world.status?.state == .disabled)
        world.give(.register(account: nil))
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registered)
    }

    @Test func bootsWithoutANetwork() throws {
        let registrar = Registrar(.accept(600))
        var account = try Account.house()
        account.registrar = try SIPURI("sip:pbx.example.org")
        let world = World([account])
        world.server = { registrar.answer($0, $1) }
        world.local = nil
        world.zone = { _ in .failed("no network") }
        world.run(for: .seconds(1000))
        #expect(world.status?.state == .failed)
        #expect(world.status?.nextAttempt != nil)
        #expect(world.status?.reason?.contains("no network") == true)
        world.local = World.home
        world.zone = {
            $0 == DNSQuestion("pbx.example.org", .a) ? .records([.address(World.registrar.address)]) : .records([])
        }
        world.give(.resolverChanged)
        world.run(for: .seconds(1))
        #expect(world.status?.state == .registered)
    }
}
