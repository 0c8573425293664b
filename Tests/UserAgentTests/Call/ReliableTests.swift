import Primitives
import SDP
import SIP
import Testing

@testable import UserAgent

/// Reliable provisional responses, and the offers and answers that they and their PRACKs carry (D11, D12).
@Suite struct ReliableTests: ScriptedPeer {
    var world = CallWorld()

    private func reliably(_ number: Int, _ more: Headers = [:]) -> Headers {
        var headers = more
        headers.append(.require, "100rel")
        headers.append(.rseq, String(number))
        return headers
    }

    // MARK: UAC

    /// D11: each new RSeq in order gets its PRACK; repeats and such that come too early do not.
    @Test mutating func eachReliableResponseIsAcknowledgedOnce() throws {
        let invite = try dial()
        answer(invite, 183, sdp: true, headers: reliably(7))
        answer(invite, 183, sdp: true, headers: reliably(7))
        answer(invite, 180, headers: reliably(9))
        let first = try #require(sent(.prack).last)
        #expect(sent(.prack).count == 1)
        #expect(first.rack == RAck(rseq: 7, cseq: invite.cseq))
        #expect(first.cseq.number == invite.cseq.number + 1)
        #expect(first.to.tag == "t")
        answer(invite, 180, headers: reliably(8))
        #expect(sent(.prack).count == 1, "one request after the other")
        answer(first, 200)
        #expect(sent(.prack).map(\.rack?.rseq) == [7, 8])
        answer(sent(.prack)[1], 200)
        answer(invite, 200)
        #expect(world.last(0)?.state == .talking)
        #expect(world.last(0)?.plan?.codec == .pcma)
        world.do(.hangUp(.normal))
        #expect(sent(.bye).last?.cseq.number == invite.cseq.number + 3)
        finish()
    }

    /// D12: the description of a reliable 183 is the answer; one in the 2xx says nothing new.
    @Test mutating func reliableAnswerStands() throws {
        let invite = try dial()
        answer(invite, 183, sdp: true, headers: reliably(1))
        answer(sent(.prack)[0], 200)
        var response = invite.response(200, toTag: "t")
        response.headers = [.contact: "<sip:phone@192.0.2.1>", .contentType: "application/sdp"]
        response.body = Array(Self.description.replacing("40000", with: "50000").utf8)
        world.receive(.response(response), 0, from: Self.peer)
        #expect(world.last(0)?.plan?.remote.port == 40_000)
        finish()
    }

    /// D3: a reliable 1xx fixes the route set and refreshes the target.
    @Test mutating func reliableResponseFixesTheRouteSet() throws {
        let invite = try dial()
        answer(invite, 180, headers: [.recordRoute: "<sip:192.0.2.1;lr>, <sip:192.0.2.9;lr>"])
        answer(invite, 183, sdp: true, headers: reliably(1, [.recordRoute: "<sip:192.0.2.1;lr>"]))
        #expect(sent(.prack).last?.routes.map(\.description) == ["<sip:192.0.2.1;lr>"])
        answer(sent(.prack)[0], 200)
        answer(invite, 200, headers: [.recordRoute: "<sip:192.0.2.9;lr>"])
        #expect(sent(.ack).last?.routes.map(\.description) == ["<sip:192.0.2.1;lr>"])
        finish()
    }

    /// D5, D10: each early dialog has offers and answers of its own, and the youngest with sound is heard.
    @Test mutating func earlyDialogsAreKeptApart() throws {
        let invite = try dial()
        answer(invite, 183, tag: "a", sdp: true, headers: reliably(1))
        var other = invite.response(183, toTag: "b")
        other.headers = reliably(100, [.contact: "<sip:b@192.0.2.1>", .contentType: "application/sdp"])
        other.body = Array(Self.description.replacing("40000", with: "50000").utf8)
        world.receive(.response(other), 0, from: Self.peer)
        #expect(sent(.prack).map(\.to.tag) == ["a", "b"])
        #expect(Set(sent(.prack).map(\.cseq.number)).count == 1)
        #expect(world.last(0)?.plan?.remote.port == 50_000)
        answer(invite, 199, tag: "b")
        #expect(world.last(0)?.plan?.remote.port == 40_000)
        for prack in sent(.prack) { answer(prack, 200) }
        answer(invite, 200, tag: "b", sdp: false)
        #expect(world.last(0)?.state == .ended, "nothing of the forgotten dialog counts")
        finish()
    }

    @Test mutating func offerInUpdateOfAnEarlyDialog() throws {
        let invite = try dial()
        answer(invite, 183, sdp: true)
        send(
            .update, in: invite, cseq: 1, type: "application/sdp",
            body: Self.description.replacing("40000", with: "50000"))
        #expect(lastResponse?.status == 491, "our own offer has no answer yet")
        answer(invite, 183, sdp: true, headers: reliably(1))
        send(
            .update, in: invite, cseq: 2, type: "application/sdp",
            body: Self.description.replacing("40000", with: "50000"))
        #expect(lastResponse?.status == 200)
        #expect(lastResponse?.sessionDescription != nil)
        #expect(world.last(0)?.plan?.remote.port == 50_000)
        answer(invite, 200)
        #expect(world.last(0)?.plan?.remote.port == 50_000)
        finish()
    }

    // MARK: UAS

    private static let reliable: Headers = [.require: "100rel"]

    /// D11: sent again at T1 doubling until its PRACK; then the next one may come.
    @Test mutating func ringingIsRepeatedUntilItsPRACK() throws {
        let invite = try receiveInvite(headers: Self.reliable)
        let begun = world.now
        world.do(.ring)
        world.run(for: .seconds(4))
        let rings = world.trace.filter {
            if case .response(let response) = $0.message { response.status == 180 } else { false }
        }
        #expect(rings.map { ($0.at - begun).inSeconds } == [0, 0.5, 1.5, 3.5])
        let ringing = try #require(world.responses(180, from: 0).last)
        let number = try #require(ringing.rseq)
        #expect(ringing.require == ["100rel"])
        #expect((1...0x7FFF_FFFF).contains(number))
        try say(.prack, after: invite, cseq: 8, headers: [.rack: "\(number &+ 1) 7 INVITE"])
        #expect(lastResponse?.status == 481)
        try say(.prack, after: invite, cseq: 9, headers: [.rack: "\(number) 7 INVITE"])
        #expect(lastResponse?.status == 200)
        let count = world.responses(180, from: 0).count
        world.run(for: .seconds(40))
        #expect(world.responses(180, from: 0).count == count)
        world.run(for: .seconds(20))
        #expect(world.responses(180, from: 0).last?.rseq == number + 1)
        world.do(.answer)
        #expect(lastResponse?.status == 200)
        #expect(lastResponse?.sessionDescription != nil)
        try acknowledge(invite)
        finish()
    }

    @Test mutating func withoutPRACKTheCallIsRefused() throws {
        _ = try receiveInvite(headers: Self.reliable)
        world.do(.ring)
        world.run(for: .seconds(33))
        #expect(lastResponse?.status == 504)
        #expect(world.last(0)?.state == .ended)
        world.run()
        #expect(world.endpoints[0].isIdle)
    }

    /// D12: without an offer in the INVITE ours is in the first reliable response, its answer in the PRACK; the 2xx waits
    /// for that.
    @Test mutating func lateOfferInAReliableResponse() throws {
        let invite = try receiveInvite(sdp: nil, headers: Self.reliable)
        world.do(.ring)
        let ringing = try #require(lastResponse)
        #expect(ringing.sessionDescription != nil)
        world.do(.answer)
        #expect(world.responses(200, from: 0).isEmpty)
        try say(
            .prack, after: invite, cseq: 8, sdp: Self.description, headers: [.rack: "\(ringing.rseq ?? 0) 7 INVITE"])
        let answers = world.responses(200, from: 0)
        #expect(answers.map(\.cseq.method) == [.prack, .invite])
        #expect(answers.last?.sessionDescription == nil)
        #expect(world.last(0)?.plan?.codec == .pcma)
        try acknowledge(invite)
        #expect(world.last(0)?.state == .talking)
        finish()
    }

    @Test mutating func lateOfferWhosePRACKAnswersNothing() throws {
        let invite = try receiveInvite(sdp: nil, headers: Self.reliable)
        world.do(.ring)
        try say(.prack, after: invite, cseq: 8, headers: [.rack: "\(lastResponse?.rseq ?? 0) 7 INVITE"])
        #expect(world.sent(by: 0).suffix(2) == ["200 PRACK", "488 INVITE"])
        #expect(world.last(0)?.state == .ended)
        world.run()
        #expect(world.endpoints[0].isIdle)
    }

    /// D8: while our answer to the INVITE is due no other offer is taken.
    @Test mutating func offersBeforeOurAnswerComeTooEarly() throws {
        let invite = try receiveInvite()
        world.do(.ring)
        try say(.update, after: invite, cseq: 8, sdp: Self.description)
        #expect(lastResponse?.status == 500)
        #expect(lastResponse?.retryAfter.map { $0 <= 10 } == true)
        try say(.invite, after: invite, cseq: 9, sdp: Self.description)
        #expect(lastResponse?.status == 500)
        try say(.update, after: invite, cseq: 10)
        #expect(lastResponse?.status == 200, "a mere refresh of the target is fine")
        world.do(.answer)
        try acknowledge(invite)
        #expect(world.last(0)?.state == .talking)
        finish()
    }
}
