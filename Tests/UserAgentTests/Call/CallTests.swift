import Primitives
import SDP
import SIP
import Simulation
import Testing

@testable import UserAgent

/// Two user agents call each other.
@Suite struct CallTests {
    @Test func answeredCallEndsByTheCaller() throws {
        var world = CallWorld()
        world.endpoints[1].reactions = [(.zero, .ring), (.seconds(2), .answer)]
        _ = world.dial()
        world.run(for: .seconds(10))
        #expect(world.states(0) == [.dialing, .ringing, .talking])
        #expect(world.states(1) == [.incoming, .talking])
        let plan = try #require(world.endpoints[0].plans[CallKey(1)])
        let other = try #require(world.endpoints[1].plans[CallKey(1)])
        #expect(plan.remote == other.local)
        #expect(other.remote == plan.local)
        #expect(plan.codec == .opus)
        world.do(.hangUp(.normal))
        #expect(world.last(0)?.state == .ended)
        #expect(world.last(0)?.cause == "normal")
        world.run()
        #expect(world.last(1)?.cause == "normal")
        #expect(world.sent(by: 0) == ["INVITE", "ACK", "BYE"])
        #expect(world.sent(by: 1) == ["180 INVITE", "200 INVITE", "200 BYE"])
        #expect(world.isIdle)
    }

    @Test func calledSideHangsUp() {
        var world = CallWorld()
        world.endpoints[1].reactions = [(.zero, .answer), (.seconds(5), .hangUp(.mediaTimeout))]
        _ = world.dial()
        world.run()
        #expect(world.last(0)?.cause == "normal")
        #expect(world.last(1)?.cause == "media-timeout")
        #expect(world.requests(.bye, from: 1).first?.reasons.first?.text == "media timeout")
        #expect(world.endpoints[0].notes.contains { $0.contains("media timeout") })
        #expect(world.isIdle)
    }

    @Test(arguments: [(486, "busy"), (603, "declined"), (480, "no-answer"), (404, "unreachable"), (403, "refused")])
    func refusalsHaveTheirWords(code: Int, cause: String) {
        var world = CallWorld()
        world.endpoints[1].reactions = [(.zero, .ring), (.seconds(1), .reject(code: code))]
        _ = world.dial()
        world.run()
        #expect(world.last(0)?.cause == cause)
        #expect(world.last(0)?.code == code)
        #expect(world.last(1)?.state == .ended)
        #expect(world.isIdle)
    }

    @Test func nobodyAnswersTheInvite() {
        var world = CallWorld()
        world.drops = { _ in true }
        _ = world.dial()
        world.run()
        #expect(world.last(0)?.code == 408)
        #expect(world.last(0)?.cause == "unreachable")
        #expect(world.requests(.invite, from: 0).count == 7)
        #expect(world.isIdle)
    }

    // MARK: CANCEL

    @Test func cancelWhileRinging() {
        var world = CallWorld()
        world.endpoints[1].reactions = [(.zero, .ring)]
        _ = world.dial()
        world.run(for: .seconds(3))
        world.do(.hangUp(.answeredElsewhere))
        world.run()
        #expect(world.last(0)?.cause == "answered-elsewhere")
        #expect(world.last(1)?.cause == "answered-elsewhere")
        #expect(world.requests(.cancel, from: 0).first?.reasons.first?.cause == 200)
        #expect(world.sent(by: 1) == ["180 INVITE", "200 CANCEL", "487 INVITE"])
        #expect(world.isIdle)
    }

    /// CANCEL waits for a provisional response (D6).
    @Test func cancelBeforeTrying() {
        var world = CallWorld()
        _ = world.dial()
        world.do(.hangUp(.normal))
        #expect(world.last(0)?.cause == "cancelled")
        #expect(world.sent(by: 0) == ["INVITE"])
        world.run()
        #expect(world.sent(by: 0) == ["INVITE", "CANCEL", "ACK"])
        #expect(world.sent(by: 1) == ["100 INVITE", "200 CANCEL", "487 INVITE"])
        #expect(world.last(1)?.cause == "cancelled")
        #expect(world.isIdle)
    }

    /// The answer overtakes the CANCEL: ACK, then BYE (D5).
    @Test func cancelCrossesTheAnswer() {
        var world = CallWorld()
        world.network.conditions.latency = .milliseconds(50)...(.milliseconds(50))
        world.endpoints[1].reactions = [(.zero, .ring), (.seconds(1), .answer)]
        let key = world.dial()
        world.endpoints[0].plan(.hangUp(.normal), for: key, at: .zero + .milliseconds(1080))
        world.run()
        #expect(world.sent(by: 0) == ["INVITE", "CANCEL", "ACK", "BYE"])
        #expect(world.sent(by: 1) == ["180 INVITE", "200 INVITE", "200 CANCEL", "200 BYE"])
        #expect(world.last(0)?.cause == "cancelled")
        #expect(world.last(1)?.cause == "normal")
        #expect(world.isIdle)
    }

    // MARK: 2xx and ACK

    /// T3: at T1 doubling to T2 for 64*T1, then BYE.
    @Test func withoutAckTheCallEnds() {
        var world = CallWorld()
        world.drops = { if case .request(let request) = $0 { request.method == .ack } else { false } }
        world.endpoints[1].reactions = [(.zero, .answer)]
        _ = world.dial()
        world.run()
        let answers = world.trace.filter {
            if case .response(let response) = $0.message { response.cseq.method == .invite } else { false }
        }
        let start = answers.first?.at ?? .zero
        #expect(
            answers.map { ($0.at - start).inSeconds } == [0, 0.5, 1.5, 3.5, 7.5, 11.5, 15.5, 19.5, 23.5, 27.5, 31.5])
        #expect(world.requests(.bye, from: 1).count == 1)
        #expect(world.last(1)?.code == 408)
        #expect(world.last(0)?.cause == "normal")
        // One for each 2xx, all alike.
        let acknowledgements = world.requests(.ack, from: 0)
        #expect(acknowledgements.count == answers.count)
        #expect(Set(acknowledgements.map(\.cseq)).count == 1)
        #expect(Set(acknowledgements.compactMap { $0.topVia?.branch }).count == answers.count)
        #expect(world.isIdle)
    }

    /// The called side hangs up before the ACK: BYE waits for it (D7).
    @Test func byeWaitsForTheAck() {
        var world = CallWorld()
        world.network.conditions.latency = .milliseconds(100)...(.milliseconds(100))
        world.endpoints[1].reactions = [(.zero, .answer), (.milliseconds(10), .hangUp(.normal))]
        _ = world.dial()
        world.run()
        #expect(world.sent(by: 1) == ["200 INVITE", "BYE"])
        #expect(
            world.trace.map(\.message).compactMap { message in
                if case .request(let request) = message { request.method.name } else { nil }
            } == ["INVITE", "ACK", "BYE"])
        #expect(world.isIdle)
    }

    @Test func bothHangUpAtOnce() {
        var world = CallWorld()
        world.endpoints[1].reactions = [(.zero, .answer)]
        _ = world.dial()
        world.run(for: .seconds(3))
        world.do(.hangUp(.normal), 0)
        world.do(.hangUp(.normal), 1)
        world.run()
        #expect(world.requests(.bye, from: 0).count == 1)
        #expect(world.requests(.bye, from: 1).count == 1)
        #expect(world.isIdle)
    }

    // MARK: Hold

    @Test func holdAndResumeFromBothSides() {
        var world = CallWorld()
        world.endpoints[1].reactions = [(.zero, .answer)]
        _ = world.dial()
        world.run(for: .seconds(1))
        world.do(.hold, 0)
        world.run(for: .seconds(1))
        #expect(world.last(0)?.state == .held)
        #expect(world.last(0)?.hold == .local)
        #expect(world.last(0)?.plan?.direction == .inactive)
        #expect(world.last(1)?.state == .heldByPeer)
        #expect(world.last(1)?.hold == .remote)
        world.do(.hold, 1)
        world.run(for: .seconds(1))
        #expect(world.last(0)?.hold == .both)
        #expect(world.last(1)?.hold == .both)
        world.do(.resume, 0)
        world.run(for: .seconds(1))
        #expect(world.last(0)?.hold == .remote)
        #expect(world.last(1)?.hold == .local)
        #expect(world.last(0)?.plan?.receives == false)
        world.do(.resume, 1)
        world.run(for: .seconds(1))
        #expect(world.last(0)?.state == .talking)
        #expect(world.last(1)?.state == .talking)
        #expect(world.last(0)?.plan?.direction == .sendrecv)
        #expect(world.last(1)?.plan?.direction == .sendrecv)
        world.do(.hangUp(.normal))
        world.run()
        #expect(world.isIdle)
    }

    /// Both hold at once: 491 for both, the owner of the Call-ID waits longer (D8).
    @Test func glare() {
        var world = CallWorld()
        world.endpoints[1].reactions = [(.zero, .answer)]
        _ = world.dial()
        world.run(for: .seconds(1))
        world.do(.hold, 0)
        world.do(.hold, 1)
        world.run(for: .seconds(1))
        #expect(world.sent(by: 0).contains("491 INVITE"))
        #expect(world.sent(by: 1).contains("491 INVITE"))
        world.run(for: .seconds(10))
        #expect(world.last(0)?.hold == .both)
        #expect(world.last(1)?.hold == .both)
        let again = world.trace.filter { entry in
            if case .request(let request) = entry.message { request.method == .invite } else { false }
        }.dropFirst(3)
        #expect(again.map(\.from) == [world.endpoints[1].address, world.endpoints[0].address])
        world.do(.hangUp(.normal))
        world.run()
        #expect(world.isIdle)
    }

    // MARK: Digits

    @Test func digitsGoOneAfterTheOther() {
        var world = CallWorld()
        world.network.conditions.latency = .milliseconds(1)...(.milliseconds(200))
        world.endpoints[1].reactions = [(.zero, .answer)]
        _ = world.dial()
        world.run(for: .seconds(3))
        for digit in "4711#".utf8 { world.do(.sendDigit(digit)) }
        world.run(for: .seconds(5))
        #expect(world.endpoints[1].digits == Array("4711#".utf8))
        world.do(.hangUp(.normal))
        world.run()
        #expect(world.isIdle)
    }

    // MARK: Address change

    /// R8: the peer learns the new address, with o= raised by one. Here a proxy takes it on to the peer.
    @Test func addressChangeMovesTheCall() throws {
        var world = CallWorld()
        world.endpoints[1].reactions = [(.zero, .answer)]
        _ = world.dial()
        world.run(for: .seconds(1))
        let phone = world.endpoints[1].address
        let answer = try #require(world.responses(200, from: 1).first)
        world.network.down = [phone.address]
        world.endpoints[0].address = SocketAddress(.v4(0xC000_0208), 5060)
        world.do(.addressChanged(.init(local: world.endpoints[0].address, isFormerGone: true)))
        let reinvite = try #require(world.requests(.invite, from: 0).last)
        #expect(reinvite.contacts.first?.uri.host?.address == .v4(0xC000_0208))
        #expect(String(decoding: reinvite.body, as: UTF8.self).contains(" 2 IN IP4 192.0.2.8"))
        #expect(world.endpoints[0].plans[CallKey(1)]?.local.address == .v4(0xC000_0207))
        var response = reinvite.response(200)
        response.headers = answer.headers
        response.body = answer.body
        world.receive(.response(response), 0, from: phone)
        #expect(world.endpoints[0].plans[CallKey(1)]?.local.address == .v4(0xC000_0208))
        #expect(world.requests(.ack, from: 0).last?.cseq.number == reinvite.cseq.number)
        world.network.down = []
        world.do(.hangUp(.normal))
        world.run()
        world.do(.hangUp(.normal), 1)
        world.run()
        #expect(world.isIdle)
    }

    /// SEC14: another address than the peer's cannot end the call.
    @Test func foreignByeIsDropped() throws {
        var world = CallWorld()
        world.endpoints[1].reactions = [(.zero, .answer)]
        _ = world.dial()
        world.run(for: .seconds(1))
        var bye = try #require(world.requests(.ack, from: 0).first)
        bye.method = .bye
        bye.cseq = CSeq(7, .bye)
        bye.vias[0].branch = "z9hG4bKforeign"
        world.receive(.request(bye), 1, from: SocketAddress(.v4(0xC633_6401), 5060))
        #expect(world.last(1)?.state == .talking)
        #expect(world.endpoints[1].notes.contains { $0.contains("not its peer") })
        world.receive(.request(bye), 1, from: world.endpoints[0].address)
        #expect(world.last(1)?.state == .ended)
        world.do(.hangUp(.normal))
        world.run()
        #expect(world.isIdle)
    }

    @Test func peerThatNeverLearnsTheNewAddress() {
        var world = CallWorld()
        world.endpoints[1].reactions = [(.zero, .answer)]
        _ = world.dial()
        world.run(for: .seconds(1))
        world.network.down = [world.endpoints[1].address.address]
        world.do(.addressChanged(.init(local: world.endpoints[0].address, isFormerGone: true)))
        world.run(for: .seconds(31))
        #expect(world.last(0)?.state == .ended)
        #expect(world.last(0)?.cause == "unreachable")
        #expect(world.requests(.bye, from: 0).first?.reasons.first?.text == "network changed")
        world.do(.hangUp(.normal), 1)
        world.run()
        #expect(world.isIdle)
    }
}
