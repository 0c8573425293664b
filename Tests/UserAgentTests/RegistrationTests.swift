import Primitives
import SIP
import Testing
import UserAgent

@Suite struct RegistrationTests {
    private func site(_ registrar: Registrar, change: (inout Account) -> Void = { _ in }) throws -> Site {
        var account = try Account.house()
        change(&account)
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        return site
    }

    @Test func registersAndRefreshesBeforeTheEnd() throws {
        let registrar = Registrar(.accept(600))
        let site = try site(registrar)
        site.run(for: .seconds(1))
        let status = try #require(site.status)
        #expect(status.state == .registered)
        #expect(status.contact == "sip:k7xhouse@192.0.2.7:5060")
        #expect(status.registrar == Site.registrar)
        #expect(status.code == 200)
        let first = try #require(registrar.seen.first)
        #expect(first.uri.description == "sip:192.0.2.1")
        #expect(first.headers.first(.expires) == "600")
        #expect(first.contacts.first?.parameters["reg-id"] == "1")
        #expect(
            first.contacts.first?.parameters["+sip.instance"] == "<urn:uuid:00000000-0000-1000-8000-000000000001>")
        #expect(first.topVia?.host.address == Site.home)
        #expect(first.topVia?.wantsRport == true)
        site.run(for: .seconds(3600))
        let times = site.registers.map(\.at)
        #expect(times.count >= 7)
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect((.seconds(479)...(.seconds(571))).contains(later - earlier))
        }
        #expect(Set(registrar.seen.map(\.callID)).count == 1)
        #expect(registrar.seen.map(\.cseq.number) == (1...UInt32(registrar.seen.count)).map { $0 })
        // A refresh is no change of state.
        #expect(site.statuses.map(\.state) == [.registering, .registered])
    }

    @Test(arguments: [
        (UInt32?(300), 240.0...285.1), (UInt32?(7200), 5760...6840.1), (nil, 480...570.1), (UInt32?(40), 20...24.1),
        (UInt32?(12), 6...10.1), (UInt32?(1), 0.9...1.1),
    ])
    func takesTheGrantedTime(granted: UInt32?, seconds: ClosedRange<Double>) throws {
        let registrar = Registrar(.accept(granted))
        let site = try site(registrar)
        site.run(for: .seconds(Int64(seconds.upperBound) + 1))
        let times = site.registers.prefix(2).map(\.at)
        try #require(times.count == 2)
        #expect(seconds.contains((times[1] - times[0]).inSeconds))
        // Always the account's wish, never what was granted (FIELD R14).
        #expect(Set(registrar.seen.compactMap { $0.headers.first(.expires) }) == ["600"])
    }

    @Test(arguments: [404, 480, 486, 500, 503, 504, 600, 603])
    func everyRefusalHasANextAttempt(code: Int) throws {
        let registrar = Registrar(.status(code))
        let site = try site(registrar)
        site.run(for: .milliseconds(500))
        let status = try #require(site.status)
        #expect(status.state == .failed)
        #expect(status.code == code)
        let next = try #require(status.nextAttempt)
        let sent = site.registers[0].at + .milliseconds(5)
        #expect(next - sent >= .seconds(1) && next - sent <= .seconds(2))
        // Back within a minute of a registrar that was away for half an hour.
        site.run(for: .seconds(1800))
        registrar.script = [.accept(600)]
        site.run(for: .seconds(61))
        #expect(site.status?.state == .registered)
    }

    /// R3, R4: whatever a registrar says, there is a next attempt, neither at once nor only after an hour.
    @Test func everyAnswerFrom300To699HasANextAttempt() throws {
        for code in 300...699 {
            let site = try site(Registrar(.status(code)))
            site.run(for: .seconds(1))
            let status = try #require(site.status)
            #expect(status.state == .failed && status.code == code, "\(code)")
            let wait = status.nextAttempt.map { $0 - site.now } ?? .zero
            #expect(wait > .zero && wait <= .seconds(1800), "\(code)")
        }
    }

    @Test func aDayOfRefusalsIsNoStorm() throws {
        let registrar = Registrar(.status(500))
        let site = try site(registrar)
        site.run(for: .seconds(7 * 3600))
        let late = site.registers.map(\.at).filter { $0 > .zero + .seconds(4000) }
        for (earlier, later) in zip(late, late.dropFirst()) {
            #expect((.seconds(150)...(.seconds(301))).contains(later - earlier))
        }
    }

    @Test func silenceIsTriedAgain() throws {
        let registrar = Registrar(.silence)
        let site = try site(registrar)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registering)
        #expect(site.status?.nextAttempt != nil)
        site.run(for: .seconds(32))
        #expect(site.status?.state == .failed)
        #expect(site.status?.code == 408)
        #expect(site.status?.nextAttempt != nil)
        let note = try #require(site.notes.first { $0.level == .warning })
        #expect(note.text.contains("sip:192.0.2.1 (udp, "))
        registrar.script = [.accept(600)]
        site.run(for: .seconds(3))
        #expect(site.status?.state == .registered)
    }

    @Test func answersAChallengeWithTheNextNumber() throws {
        let registrar = Registrar(.accept(600))
        registrar.nonce = "n1"
        let site = try site(registrar)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        #expect(registrar.seen.map(\.cseq.number) == [1, 2])
        #expect(Set(registrar.seen.map { $0.topVia?.branch }).count == 2)
        #expect(registrar.seen[1].headers.first(.authorization)?.contains("nc=00000001") == true)
        // The refresh uses the nonce again (A3).
        site.run(for: .seconds(580))
        #expect(registrar.seen.count == 3)
        #expect(registrar.seen[2].headers.first(.authorization)?.contains("nc=00000002") == true)
        // Another nonce without `stale` is answered too (FIELD R11).
        registrar.nonce = "n2"
        site.run(for: .seconds(580))
        #expect(site.status?.state == .registered)
        #expect(registrar.seen.count == 5)
    }

    @Test func aWrongPasswordIsNotHammered() throws {
        let registrar = Registrar(
            .status(401, [(.wwwAuthenticate, "Digest realm=\"pbx\", nonce=\"n1\", qop=\"auth\"")]))
        let site = try site(registrar)
        site.run(for: .seconds(3600))
        #expect(site.status?.state == .failed)
        // Twice at the start, then after 5, 15 and 30 minutes.
        #expect(site.registers.count <= 2 + 2 * 3)
        #expect(site.notes.filter { $0.level == .error }.count == 1)
        let alarm = try #require(site.notes.first { $0.level == .error })
        #expect(alarm.account == "house")
        #expect(alarm.text.contains("refused the password"))
        let status = try #require(site.status)
        #expect(status.nextAttempt != nil)
        // Neither the network nor the resolver shortens that.
        let count = site.registers.count
        site.give(.networkChanged)
        site.give(.resolverChanged)
        site.run(for: .seconds(10))
        #expect(site.registers.count == count)
        // The operator does.
        registrar.script = [.accept(600)]
        site.give(.register(account: "house"))
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
    }

    @Test func forbiddenIsTriedSlowly() throws {
        let site = try site(Registrar(.status(403)))
        site.run(for: .seconds(290))
        #expect(site.registers.count == 1)
        site.run(for: .seconds(20))
        #expect(site.registers.count == 2)
        #expect(site.notes.filter { $0.level == .error }.count == 1)
    }

    @Test func retryAfterIsHonoured() throws {
        let site = try site(Registrar(.status(503, [(.retryAfter, "120")]), .accept(600)))
        site.run(for: .seconds(119))
        #expect(site.registers.count == 1)
        site.run(for: .seconds(2))
        #expect(site.status?.state == .registered)
    }

    @Test func aLongerTimeIsTakenWhereItIsDemanded() throws {
        let registrar = Registrar(.status(423, [(.minExpires, "1800")]), .accept(1800))
        let site = try site(registrar)
        site.run(for: .seconds(3600))
        #expect(registrar.seen.compactMap { $0.headers.first(.expires) } == ["600", "1800", "1800", "1800"])
        #expect(site.registers[1].at - site.registers[0].at < .milliseconds(100))
    }

    @Test(arguments: ["", "500", "90000"])
    func aStrangeIntervalIsAFailure(minimum: String) throws {
        let headers: [(HeaderName, String)] = minimum.isEmpty ? [] : [(.minExpires, minimum)]
        let site = try site(Registrar(.status(423, headers)))
        site.run(for: .milliseconds(500))
        #expect(site.registers.count == 1)
        #expect(site.status?.state == .failed)
        #expect(site.status?.nextAttempt != nil)
    }

    @Test func followsOneRedirection() throws {
        let registrar = Registrar(.status(301, [(.contact, "<sip:192.0.2.99>")]))
        let site = try site(registrar)
        site.run(for: .milliseconds(500))
        #expect(site.registers.map(\.flow.remote.address.description) == ["192.0.2.1", "192.0.2.99"])
        #expect(site.status?.state == .failed)
        #expect(site.status?.nextAttempt != nil)
    }

    @Test func anAnswerWithoutOurContactIsAFailure() throws {
        let site = try site(Registrar(.acceptWithoutContact))
        site.run(for: .milliseconds(500))
        #expect(site.status?.state == .failed)
        #expect(site.status?.nextAttempt != nil)
    }

    @Test func aRegistrarWithoutOutboundGetsNoRegID() throws {
        let registrar = Registrar(.status(439), .accept(600))
        let site = try site(registrar)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        #expect(registrar.seen.last?.contacts.first?.parameters["reg-id"] == nil)
    }

    @Test func unregistersWhenItStops() throws {
        let registrar = Registrar(.accept(600))
        let site = try site(registrar)
        site.run(for: .seconds(1))
        #expect(registrar.bindings.count == 1)
        site.give(.stop)
        site.run(for: .seconds(1))
        #expect(site.isStopped)
        #expect(registrar.bindings.isEmpty)
        #expect(registrar.seen.last?.contacts.first?.expires == 0)
        #expect(registrar.seen.last?.hasWildcardContact == false)
        #expect(site.agent.deadline == nil)
    }

    @Test func aSilentRegistrarDelaysTheEndByTwoSeconds() throws {
        let registrar = Registrar(.accept(600), .silence)
        let site = try site(registrar)
        site.run(for: .seconds(1))
        site.give(.stop)
        site.run(for: .milliseconds(1900))
        #expect(!site.isStopped)
        site.run(for: .milliseconds(200))
        #expect(site.isStopped)
    }

    @Test func theOperatorMayUnregister() throws {
        let registrar = Registrar(.accept(600))
        let site = try site(registrar)
        site.run(for: .seconds(1))
        site.give(.unregister(account: "house"))
        site.run(for: .seconds(3600))
        #expect(registrar.bindings.isEmpty)
        #expect(site.status?.state == .disabled)
        site.give(.register(account: nil))
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
    }

    @Test func bootsWithoutANetwork() throws {
        let registrar = Registrar(.accept(600))
        var account = try Account.house()
        account.registrar = try SIPURI("sip:pbx.example.org")
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        site.local = nil
        site.zone = { _ in .failed("no network") }
        site.run(for: .seconds(1000))
        #expect(site.status?.state == .failed)
        #expect(site.status?.nextAttempt != nil)
        #expect(site.status?.reason?.contains("no network") == true)
        site.local = Site.home
        site.zone = {
            $0 == DNSQuestion("pbx.example.org", .a) ? .records([.address(Site.registrar.address)]) : .records([])
        }
        site.give(.resolverChanged)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
    }
}
