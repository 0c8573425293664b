import Exchange
import Primitives
import SIP
import Testing

/// Phones that call each other by way of the exchange.
@Suite struct PhoneCallTests {
    private let town = Town()

    init() throws {
        town.add("alice", number: 1) {
            $0.tone = 440
            $0.listensFor = [440, 1000]
        }
        town.add("bob", number: 2) {
            $0.tone = 1000
            $0.listensFor = [440, 1000]
            $0.answersAfter = .seconds(2)
        }
        town.add("carol", number: 3)
        for name in ["alice", "bob", "carol"] {
            town.tell(name, .register)
            try #require(town.run(for: .seconds(2)) { $0.isRegistered(name) })
        }
    }

    private func call(_ caller: String, _ called: String, _ headers: Headers = [:]) {
        town.tell(caller, .dial(town.uri(called), headers: headers))
    }

    private func heard(_ name: String) -> [Hearing] {
        town.events(name).compactMap { if case .heard(let hearing) = $0 { hearing } else { nil } }
    }

    @Test func rings() throws {
        call("alice", "bob")
        #expect(town.run(for: .seconds(1)) { $0.events("bob").contains(.ringing(from: town.uri("alice"))) })
        #expect(town.run(for: .seconds(1)) { $0.events("alice").contains(.ringback) })
        #expect(!town.isTalking("bob"))
        // After the time that is set, not before.
        let rang = town.now
        #expect(town.run(for: .seconds(5)) { $0.isTalking("bob") && $0.isTalking("alice") })
        #expect(town.now - rang > .milliseconds(1900) && town.now - rang < .milliseconds(2100))
        #expect(town.events("alice").contains(.answered(.pcma)))
    }

    @Test func hearsTheOtherTone() throws {
        call("alice", "bob")
        town.run(for: .seconds(4))
        for (name, theirs, own) in [("alice", 1000.0, 440.0), ("bob", 440.0, 1000.0)] {
            let last = try #require(heard(name).last)
            #expect(abs(try #require(last.tones[theirs]) - 0.25) < 0.01)
            #expect(try #require(last.tones[own]) < 0.005)
            #expect(abs(last.level - 0.25 / 2.0.squareRoot()) < 0.01)
        }
        // About two seconds in stretches of 200 ms.
        #expect((8...11).contains(heard("alice").count))
    }

    @Test func callerHangsUp() {
        call("alice", "bob")
        town.run(for: .seconds(3))
        town.tell("alice", .hangUp)
        #expect(town.run(for: .seconds(1)) { !$0.isTalking("bob") })
        #expect(town.events("alice").last == .ended(status: nil, byPeer: false))
        #expect(town.events("bob").last == .ended(status: nil, byPeer: true))
        #expect(town.requests(.bye).count == 2)
        town.run(for: .seconds(1))
        let count = town.messages.count
        town.run(for: .seconds(60))
        #expect(town.messages.count == count, "no transaction was left over")
    }

    @Test func calledHangsUp() {
        call("alice", "bob")
        town.run(for: .seconds(3))
        town.tell("bob", .hangUp)
        #expect(town.run(for: .seconds(1)) { $0.events("alice").contains(.ended(status: nil, byPeer: true)) })
    }

    @Test func callerGivesUp() {
        call("alice", "carol")
        town.run(for: .seconds(1))
        town.tell("alice", .hangUp)
        town.run(for: .seconds(1))
        #expect(town.events("carol").last == .ended(status: nil, byPeer: true))
        #expect(town.events("alice").last == .ended(status: 487, byPeer: false))
        #expect(town.requests(.cancel).count == 2)
        let count = town.messages.count
        town.run(for: .seconds(60))
        #expect(town.messages.count == count, "no transaction was left over")
    }

    @Test func calledRefuses() {
        call("alice", "carol")
        town.run(for: .seconds(1))
        town.tell("carol", .reject(status: 486))
        #expect(town.run(for: .seconds(1)) { $0.events("alice").contains(.ended(status: 486, byPeer: true)) })
    }

    @Test func secondCallerHearsBusy() {
        call("alice", "bob")
        town.run(for: .seconds(3))
        call("carol", "bob")
        #expect(town.run(for: .seconds(1)) { $0.events("carol").contains(.ended(status: 486, byPeer: true)) })
        #expect(town.isTalking("alice") && town.isTalking("bob"))
    }

    @Test func keysArriveOnce() throws {
        call("alice", "bob")
        town.run(for: .seconds(3))
        let keys = "19#".utf8.compactMap { DTMFSignal(character: $0) }
        for key in keys { town.tell("alice", .press(key)) }
        town.run(for: .seconds(2))
        let came = town.events("bob").compactMap { if case .digit(let key) = $0 { key } else { nil } }
        #expect(came == keys)
    }

    @Test func extraHeadersArrive() throws {
        call("alice", "bob", [.callInfo: "<sip:x>;answer-after=0"])
        town.run(for: .seconds(1))
        let invite = try #require(town.requests(.invite).last)
        #expect(invite.headers.first(.callInfo) == "<sip:x>;answer-after=0")
        #expect(invite.assertedIdentities.first?.uri == town.uri("alice"))
        #expect(!invite.headers.contains(.proxyAuthorization), "credentials end at the exchange")
    }

    @Test func lostAcknowledgementEndsTheCall() throws {
        // Alice never sees the answer: Bob repeats it for 32 s, then hangs up.
        call("alice", "bob")
        town.run(for: .seconds(1))
        town.dead.insert(SocketAddress(.v4(0xC000_0211), 5060))
        town.run(for: .seconds(20))
        #expect(town.responses(200).filter { $0.cseq.method == .invite }.count >= 12, "6 repeats, each passed on")
        #expect(town.run(for: .seconds(20)) { $0.events("bob").last == .ended(status: 408, byPeer: true) })
    }

    @Test func registrationIsRefreshed() {
        town.run(for: .seconds(3600))
        #expect(town.exchange.bindings(of: "alice").count == 1)
        #expect(!town.exchangeEvents.contains { if case .registration(.unbound) = $0 { true } else { false } })
        #expect(town.requests(.register).count > 30)
    }

    @Test func unregistersAndIsGone() {
        town.tell("alice", .unregister)
        #expect(town.run(for: .seconds(1)) { $0.events("alice").last == .unregistered })
        #expect(town.exchange.bindings(of: "alice").isEmpty)
        call("bob", "alice")
        #expect(town.run(for: .seconds(1)) { $0.events("bob").contains(.ended(status: 480, byPeer: true)) })
    }

    @Test func wrongPasswordIsRefused() {
        town.add("mallory", user: "alice", password: "guess", number: 9)
        town.tell("mallory", .register)
        #expect(town.run(for: .seconds(1)) { $0.events("mallory").contains(.registrationFailed(403)) })
        #expect(town.exchange.bindings(of: "alice").count == 1)
        call("mallory", "bob")
        #expect(town.run(for: .seconds(1)) { $0.events("mallory").contains(.ended(status: 403, byPeer: true)) })
        #expect(!town.events("bob").contains { if case .ringing = $0 { true } else { false } })
    }

    @Test func asUnknownUserAsWrongPassword() {
        town.add("nobody", number: 9)
        town.tell("nobody", .register)
        #expect(town.run(for: .seconds(1)) { $0.events("nobody").contains(.registrationFailed(403)) })
    }

    @Test(arguments: [("dave", 404), ("unregistered", 480)])
    func unreachableUser(_ user: String, _ status: Int) {
        let town = Town(users: ["alice", "unregistered"])
        town.add("alice", number: 1)
        town.tell("alice", .register)
        town.run(for: .seconds(1))
        town.tell("alice", .dial(town.uri(user), headers: [:]))
        #expect(town.run(for: .seconds(1)) { $0.events("alice").contains(.ended(status: status, byPeer: true)) })
    }

    @Test func goneAtTheSocketIsUnavailable() {
        town.dead.insert(SocketAddress(.v4(0xC000_0213), 5060))
        call("alice", "carol")
        #expect(town.run(for: .seconds(1)) { $0.events("alice").contains(.ended(status: 480, byPeer: true)) })
    }

    @Test func firstOfTwoPhonesWins() {
        // Carol has a second phone, which answers after a second.
        town.add("carol upstairs", user: "carol", number: 4) { $0.answersAfter = .seconds(1) }
        town.tell("carol upstairs", .register)
        town.run(for: .seconds(1))
        call("alice", "carol")
        #expect(town.run(for: .seconds(3)) { $0.isTalking("alice") && $0.isTalking("carol upstairs") })
        town.run(for: .seconds(1))
        #expect(town.events("carol").last == .ended(status: nil, byPeer: true))
        #expect(town.requests(.cancel).contains { $0.reasons.first?.cause == 200 })
        #expect(town.isTalking("alice") && town.isTalking("carol upstairs"))
    }

    @Test func bestFailureOfTwoPhones() {
        town.add("carol upstairs", user: "carol", number: 4)
        town.tell("carol upstairs", .register)
        town.run(for: .seconds(1))
        call("alice", "carol")
        town.run(for: .seconds(1))
        town.tell("carol", .reject(status: 500))
        town.run(for: .seconds(1))
        #expect(!town.events("alice").contains { if case .ended = $0 { true } else { false } })
        town.tell("carol upstairs", .reject(status: 486))
        #expect(town.run(for: .seconds(1)) { $0.events("alice").contains(.ended(status: 486, byPeer: true)) })
    }

    @Test func declineEndsAllRinging() {
        town.add("carol upstairs", user: "carol", number: 4)
        town.tell("carol upstairs", .register)
        town.run(for: .seconds(1))
        call("alice", "carol")
        town.run(for: .seconds(1))
        town.tell("carol", .reject(status: 603))
        #expect(town.run(for: .seconds(1)) { $0.events("alice").contains(.ended(status: 603, byPeer: true)) })
        #expect(town.events("carol upstairs").last == .ended(status: nil, byPeer: true))
    }
}
