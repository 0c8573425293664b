import Primitives
import SDP
import SIP
import Simulation
import Testing

@testable import UserAgent

/// One user agent and a peer whose every message is written here.
@Suite struct CallPeerTests: ScriptedPeer {
    var world = CallWorld()

    // MARK: UAC

    @Test mutating func forkedAnswers() throws {
        let invite = try dial()
        answer(invite, 180, tag: "a")
        answer(invite, 183, tag: "b", sdp: true)
        #expect(world.states(0) == [.dialing, .ringing, .early])
        answer(invite, 200, tag: "c", sdp: true)
        #expect(world.last(0)?.state == .talking)
        #expect(world.requests(.ack, from: 0).map(\.to.tag) == ["c"])
        answer(invite, 200, tag: "c", sdp: true)
        #expect(world.requests(.ack, from: 0).map(\.to.tag) == ["c", "c"])
        let plan = world.endpoints[0].plans[CallKey(1)]
        answer(invite, 200, tag: "b", sdp: true)
        #expect(world.requests(.ack, from: 0).map(\.to.tag) == ["c", "c", "b"])
        #expect(world.requests(.bye, from: 0).map(\.to.tag) == ["b"])
        answer(invite, 200, tag: "b", sdp: true)
        #expect(world.requests(.ack, from: 0).count == 4)
        #expect(world.requests(.bye, from: 0).count == 1)
        #expect(world.endpoints[0].plans[CallKey(1)] == plan)
        #expect(world.last(0)?.state == .talking)
        finish()
    }

    /// The description of the 183 counts when the 2xx has none.
    @Test mutating func earlyMedia() throws {
        let invite = try dial()
        answer(invite, 183, sdp: true)
        #expect(world.last(0)?.state == .early)
        let plan = try #require(world.last(0)?.plan)
        #expect(plan.codec == .pcma)
        #expect(plan.remote == SocketAddress(Self.peer.address, 40_000))
        answer(invite, 180)
        #expect(world.last(0)?.state == .early)
        answer(invite, 200)
        #expect(world.last(0)?.state == .talking)
        #expect(world.last(0)?.plan == plan)
        finish()
    }

    @Test mutating func earlyMediaEndsWithARefusal() throws {
        let invite = try dial()
        answer(invite, 183, sdp: true)
        #expect(world.endpoints[0].plans.count == 1)
        answer(invite, 486)
        #expect(world.endpoints[0].plans.isEmpty)
        #expect(world.last(0)?.cause == "busy")
        finish()
    }

    @Test mutating func answerWithoutDescription() throws {
        let invite = try dial()
        answer(invite, 200)
        #expect(world.last(0)?.state == .ended)
        #expect(world.sent(by: 0) == ["INVITE", "ACK", "BYE"])
        finish()
    }

    /// The contact that `answer` adds has no q: it is the best. 600 ends the search.
    @Test mutating func redirectionGoesByPreference() throws {
        let invite = try dial()
        answer(
            invite, 302,
            headers: [
                .contact: "<sip:low@192.0.2.1>;q=0.1, <sip:high@192.0.2.1>;q=0.9, <mailto:x@example.org>"
            ])
        let second = try #require(world.requests(.invite, from: 0).last)
        #expect(second.uri.user == "phone")
        #expect(second.callID == invite.callID)
        #expect(second.from == invite.from)
        #expect(second.cseq.number == invite.cseq.number + 1)
        #expect(second.body == invite.body)
        answer(second, 480)
        let third = try #require(world.requests(.invite, from: 0).last)
        #expect(third.uri.user == "high")
        answer(third, 600)
        #expect(world.requests(.invite, from: 0).count == 3)
        #expect(world.last(0)?.cause == "busy")
        finish()
    }

    @Test mutating func redirectionEndsAfterFivePlaces() throws {
        var invite = try dial()
        for number in 0..<10 {
            answer(invite, 302, headers: [.contact: "<sip:x\(number)@192.0.2.1>"])
            invite = try #require(world.requests(.invite, from: 0).last)
        }
        #expect(world.requests(.invite, from: 0).count == 5)
        #expect(world.last(0)?.cause == "unreachable")
        finish()
    }

    @Test mutating func redirectionToItselfIsNotFollowed() throws {
        let invite = try dial("sip:phone@192.0.2.1")
        answer(invite, 302)
        #expect(world.requests(.invite, from: 0).count == 1)
        #expect(world.last(0)?.code == 302)
        finish()
    }

    @Test mutating func retryAfterIsHonouredOnce() throws {
        let invite = try dial()
        answer(invite, 503, headers: [.retryAfter: "5"])
        #expect(world.last(0)?.state == .dialing)
        world.run(for: .seconds(6))
        let second = try #require(world.requests(.invite, from: 0).last)
        #expect(second.cseq.number == invite.cseq.number + 1)
        answer(second, 503, headers: [.retryAfter: "5"])
        #expect(world.last(0)?.state == .ended)
        #expect(world.last(0)?.code == 503)
        finish()
    }

    @Test mutating func routeSetIsThatOfThe2xxReversed() throws {
        let invite = try dial()
        answer(
            invite, 200, sdp: true,
            headers: [.recordRoute: "<sip:192.0.2.9;lr>, <sip:192.0.2.1;lr>"])
        let ack = try #require(world.requests(.ack, from: 0).last)
        #expect(ack.routes.map(\.uri.description) == ["sip:192.0.2.1;lr", "sip:192.0.2.9;lr"])
        #expect(ack.uri.description == "sip:phone@192.0.2.1")
        finish()
    }

    /// With credentials the next number is taken, and later requests go on from it (A2, D4).
    @Test func credentialsRaiseTheNumber() throws {
        var endpoint = Endpoint("door", SocketAddress(.v4(0xC000_0207), 5060), seed: 1)
        let flow = Flow(transport: .udp, local: endpoint.address, remote: Self.peer)
        var wire: [TransactionLayer.Output] = []
        let key = endpoint.dial(try SIPURI("sip:100@192.0.2.1"), at: .zero, &wire)
        var call = try #require(endpoint.calls[key])
        var out: [Call.Output] = []
        call.handle(.ready(1, flow, .authorized), at: .zero, &out)
        guard case .submit(1, var sent)? = out.first else {
            Issue.record("nothing was submitted")
            return
        }
        #expect(sent.cseq.number == 2)
        sent.headers.append(.proxyAuthorization, "Digest x")
        var response = sent.response(200, toTag: "t")
        response.headers.append(.contact, "<sip:phone@192.0.2.1>")
        response.headers.append(.contentType, "application/sdp")
        response.body = Array(Self.description.utf8)
        out = []
        call.handle(.final(1, response, sent: sent, flow), at: .zero, &out)
        call.handle(.ready(2, flow, .first), at: .zero, &out)
        call.handle(.hangUp(.normal), at: .zero, &out)
        call.handle(.ready(3, flow, .first), at: .zero, &out)
        call.handle(.ready(3, flow, .authorized), at: .zero, &out)
        let submitted = out.compactMap { if case .submit(_, let request) = $0 { request } else { nil } }
        #expect(submitted.map(\.cseq) == [CSeq(2, .ack), CSeq(3, .bye), CSeq(4, .bye)])
        #expect(submitted.first?.headers.first(.proxyAuthorization) == "Digest x")
    }

    // MARK: UAS

    @Test mutating func answerCopiesTheRecordedRoute() throws {
        let invite = try receiveInvite()
        world.do(.ring)
        world.do(.answer)
        for response in world.responses(180, from: 0) + world.responses(200, from: 0) {
            #expect(response.recordRoutes.map(\.description) == ["<sip:192.0.2.1;lr>", "<sip:192.0.2.9;lr>"])
            #expect(response.contacts.first?.uri.user == "door")
        }
        #expect(lastResponse?.sessionDescription != nil)
        try acknowledge(invite)
        world.do(.hangUp(.normal))
        let bye = try #require(world.requests(.bye, from: 0).last)
        #expect(bye.routes.map(\.description) == ["<sip:192.0.2.1;lr>", "<sip:192.0.2.9;lr>"])
        #expect(bye.uri.description == "sip:100@192.0.2.1")
        finish()
    }

    /// An INVITE without an offer gets ours; the answer comes with the ACK (D12).
    @Test mutating func lateOffer() throws {
        let invite = try receiveInvite(sdp: nil)
        world.do(.answer)
        let offer = try #require(lastResponse?.sessionDescription)
        #expect(String(decoding: offer, as: UTF8.self).contains("opus"))
        #expect(world.endpoints[0].plans.isEmpty)
        try acknowledge(invite, sdp: Self.description)
        #expect(world.endpoints[0].plans[CallKey(1)]?.codec == .pcma)
        finish()
    }

    @Test mutating func lateOfferWithoutAnswer() throws {
        let invite = try receiveInvite(sdp: nil)
        world.do(.answer)
        try acknowledge(invite)
        #expect(world.last(0)?.state == .ended)
        #expect(world.requests(.bye, from: 0).count == 1)
        finish()
    }

    @Test mutating func unusableOfferIs488AndNeverRings() throws {
        _ = try receiveInvite(sdp: Self.description.replacing("8 101", with: "18 101").replacing("PCMA", with: "X"))
        #expect(lastResponse?.status == 488)
        #expect(world.states(0).isEmpty)
        #expect(world.endpoints[0].reservedPorts == 0)
    }

    @Test mutating func descriptionInAMultipartBody() throws {
        let from = try NameAddress("<sip:100@192.0.2.1>;tag=p")
        let to = try NameAddress("<sip:door@192.0.2.7>")
        var invite = Request(
            .invite, to.uri, from: from, to: to, callID: "call@peer", cseq: 7,
            vias: [Via(transport: "UDP", host: Host(Self.peer.address), branch: "z9hG4bKm")],
            headers: [.contact: "<sip:100@192.0.2.1>", .contentType: "multipart/mixed;boundary=\"x y\""])
        invite.body = Array(
            """
            preamble\r\n--x y\r\nContent-Type: text/plain\r\n\r\nhello\r\n--x y\r\ncontent-type: application/sdp\r\n\r\n\
            \(Self.description)\r\n--x y--\r\n
            """.utf8)
        world.receive(.request(invite), 0, from: Self.peer)
        world.do(.answer)
        #expect(world.endpoints[0].plans[CallKey(1)]?.codec == .pcma)
        #expect(Array(Self.description.utf8) == invite.sessionDescription)
    }

    @Test mutating func ringsAgainEachMinuteUntilTheLimit() throws {
        _ = try receiveInvite()
        world.do(.ring)
        world.run(for: .seconds(599))
        #expect(world.responses(180, from: 0).count == 10)
        world.run(for: .seconds(10))
        #expect(world.last(0)?.cause == "no-answer")
        #expect(world.last(0)?.code == 480)
        world.run()
        #expect(world.endpoints[0].isIdle)
    }

    @Test mutating func callerEndsTheEarlyDialogByBye() throws {
        let invite = try receiveInvite()
        world.do(.ring)
        var bye = invite
        bye.method = .bye
        bye.cseq = CSeq(8, .bye)
        bye.vias[0].branch = "z9hG4bKbye"
        bye.to.tag = lastResponse?.to.tag
        world.receive(.request(bye), 0, from: Self.peer)
        #expect(world.sent(by: 0) == ["180 INVITE", "200 BYE", "487 INVITE"])
        #expect(world.last(0)?.cause == "cancelled")
        world.run()
        #expect(world.endpoints[0].isIdle)
    }

    // MARK: In the dialog

    @Test mutating func requestsInTheDialog() throws {
        let invite = try talk()
        send(.options, in: invite, cseq: 10)
        #expect(lastResponse?.status == 200)
        #expect(lastResponse?.allow?.contains(.invite) == true)
        send(.update, in: invite, cseq: 11)
        #expect(lastResponse?.status == 200)
        #expect(lastResponse?.body == [])
        send(.refer, in: invite, cseq: 12)
        #expect(lastResponse?.status == 403)
        send(.notify, in: invite, cseq: 13)
        #expect(lastResponse?.status == 481)
        send(SIPMethod("NONSENSE"), in: invite, cseq: 14)
        #expect(lastResponse?.status == 501)
        send(.info, in: invite, cseq: 15, type: "text/plain", body: "hello")
        #expect(lastResponse?.status == 415)
        #expect(lastResponse?.headers.contains(.accept) == true)
        send(.options, in: invite, cseq: 16, headers: [.require: "timer, join"])
        #expect(lastResponse?.status == 420)
        #expect(lastResponse?.unsupported == ["join"])
        send(.options, in: invite, cseq: 9)
        #expect(lastResponse?.status == 500)
        send(.options, in: invite, cseq: 17, tag: "other")
        #expect(lastResponse?.status == 481)
        send(.bye, in: invite, cseq: 18, headers: [.reason: "Q.850;cause=16;text=\"done\""])
        #expect(lastResponse?.status == 200)
        #expect(world.last(0)?.state == .ended)
        finish()
    }

    @Test(arguments: [
        ("application/dtmf-relay", "Signal=5\r\nDuration=160\r\n", "5", 200),
        ("application/dtmf-relay", "Signal = 5\nDuration = 160\n", "5", 200),
        ("application/dtmf-relay", "Signal=*\r\n", "*", 200),
        ("application/dtmf-relay", "Signal=11\r\nDuration=160\r\n", "#", 200),
        ("application/dtmf-relay", "signal=a\r\n", "A", 200),
        ("application/dtmf", "9\r\n", "9", 200), ("application/dtmf", "10", "*", 200),
        ("application/dtmf-relay", "Signal=hf\r\nDuration=200\r\n", "", 200),
        ("application/dtmf-relay", "Signal=123\r\nDuration=160\r\n", "", 400),
        ("application/dtmf-relay", "Signal=\r\nDuration=99999999999999\r\n", "", 400),
        ("application/dtmf-relay", "Signal=5\r\nSignal=6\r\n", "5", 200),
    ])
    mutating func digitsByInfo(type: String, body: String, digits: String, status: Int) throws {
        let invite = try talk()
        send(.info, in: invite, cseq: 10, type: type, body: body)
        #expect(lastResponse?.status == status)
        #expect(world.endpoints[0].digits == Array(digits.utf8))
        finish()
    }

    @Test mutating func reinviteWithoutDescriptionGetsAnOffer() throws {
        let invite = try talk()
        send(.invite, in: invite, cseq: 10)
        let response = try #require(lastResponse)
        #expect(response.status == 200)
        #expect(response.sessionDescription != nil)
        send(.invite, in: invite, cseq: 11, type: "application/sdp", body: Self.description)
        #expect(lastResponse?.status == 491)
        send(
            .ack, in: invite, cseq: 10, type: "application/sdp",
            body: Self.description.replacing("40000", with: "40002"))
        #expect(world.last(0)?.plan?.remote.port == 40_002)
        finish()
    }

    @Test mutating func unusableReinviteLeavesTheSession() throws {
        let invite = try talk()
        let plan = world.last(0)?.plan
        send(.invite, in: invite, cseq: 10, type: "application/sdp", body: "nonsense")
        #expect(lastResponse?.status == 488)
        send(.invite, in: invite, cseq: 11, type: "text/plain", body: "nonsense")
        #expect(lastResponse?.status == 415)
        #expect(world.last(0)?.plan == plan)
        #expect(world.last(0)?.state == .talking)
        finish()
    }

    @Test mutating func refusedHoldLeavesTheSession() throws {
        _ = try talk()
        world.do(.hold)
        let reinvite = try #require(world.requests(.invite, from: 0).last)
        answer(reinvite, 488)
        #expect(world.last(0)?.state == .talking)
        #expect(world.last(0)?.plan?.sends == true)
        #expect(world.requests(.invite, from: 0).count == 2)
        world.do(.hold)
        let again = try #require(world.requests(.invite, from: 0).last)
        #expect(again.cseq.number == reinvite.cseq.number + 1)
        answer(again, 200, sdp: true)
        #expect(world.last(0)?.state == .held)
        finish()
    }

    @Test(arguments: [(481, 0), (408, 1)])
    mutating func reinviteThatEndsTheDialog(status: Int, byes: Int) throws {
        _ = try talk()
        world.do(.hold)
        answer(try #require(world.requests(.invite, from: 0).last), status)
        #expect(world.last(0)?.state == .ended)
        #expect(world.requests(.bye, from: 0).count == byes)
        finish()
    }

    @Test mutating func targetIsRefreshed() throws {
        let invite = try talk()
        send(
            .invite, in: invite, cseq: 10, type: "application/sdp", body: Self.description,
            headers: [.contact: "<sip:moved@192.0.2.1:5066>"])
        world.do(.hangUp(.normal))
        let bye = try #require(world.requests(.bye, from: 0).last)
        #expect(bye.uri.description == "sip:moved@192.0.2.1:5066")
        finish()
    }
}
