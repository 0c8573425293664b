import Primitives
import SDP
import SIP
import Testing

@testable import UserAgent

/// Session timers in calls, and UPDATE (D13, RFC 3311, RFC 4028).
@Suite struct RefreshTests: ScriptedPeer {
    var world = CallWorld()

    private static let allow: Headers = [.allow: "INVITE, ACK, BYE, CANCEL, UPDATE"]

    private mutating func talk(_ agreed: String?, _ more: Headers = Self.allow) throws -> Request {
        let invite = try dial()
        var headers = more
        if let agreed { headers.append(.sessionExpires, agreed) }
        answer(invite, 200, sdp: true, headers: headers)
        #expect(world.last(0)?.state == .talking)
        return invite
    }

    // MARK: Our INVITE

    @Test mutating func timerIsOffered() throws {
        let invite = try dial()
        #expect(invite.supported == ["100rel", "timer", "replaces", "norefersub"])
        #expect(invite.sessionExpires == SessionExpires(seconds: 1800))
        finish()
    }

    @Test mutating func timerOfZeroIsNotOffered() throws {
        setUp { $0.sessionTimer = 0 }
        let invite = try dial()
        #expect(invite.sessionExpires == nil)
        finish()
    }

    /// The refresher sends UPDATE at half the interval, without a description where the peer takes that.
    @Test mutating func weRefreshByUpdate() throws {
        _ = try talk("200;refresher=uac")
        world.run(for: .seconds(99))
        #expect(sent(.update).isEmpty)
        world.run(for: .seconds(2))
        let update = try #require(sent(.update).last)
        #expect(update.body.isEmpty)
        #expect(update.sessionExpires == SessionExpires(seconds: 200, refresher: .uac))
        #expect(update.contacts.count == 1)
        answer(update, 200, headers: [.sessionExpires: "200;refresher=uac"])
        world.run(for: .seconds(101))
        #expect(sent(.update).count == 2)
        finish()
    }

    /// Otherwise re-INVITE with the description as it was: the version stays.
    @Test mutating func weRefreshByReinvite() throws {
        let invite = try talk("200;refresher=uac", [:])
        world.run(for: .seconds(101))
        let reinvite = try #require(sent(.invite).last)
        #expect(reinvite.to.tag == "t")
        #expect(reinvite.body == invite.body)
        let plan = world.last(0)?.plan
        answer(reinvite, 200, sdp: true, headers: [.sessionExpires: "200;refresher=uac"])
        #expect(world.last(0)?.plan == plan)
        #expect(world.last(0)?.state == .talking)
        finish()
    }

    /// A peer that says it takes UPDATE and refuses it gets a re-INVITE.
    @Test mutating func refusedUpdateBecomesAReinvite() throws {
        _ = try talk("200;refresher=uac")
        world.run(for: .seconds(101))
        answer(sent(.update)[0], 405)
        #expect(sent(.invite).count == 2)
        answer(sent(.invite)[1], 200, sdp: true)
        world.run(for: .seconds(101))
        #expect(sent(.invite).count == 3)
        finish()
    }

    /// Without the parameter the refreshes are ours: better one too many than a call that ends.
    @Test mutating func answerWithoutRefresher() throws {
        _ = try talk("200")
        world.run(for: .seconds(101))
        #expect(sent(.update).count == 1)
        finish()
    }

    /// BYE at interval - min(32 s, interval/3) without the peer's refresh.
    @Test mutating func peerThatDoesNotRefresh() throws {
        _ = try talk("200;refresher=uas")
        world.run(for: .seconds(167))
        #expect(world.last(0)?.state == .talking)
        world.run(for: .seconds(2))
        #expect(world.last(0)?.state == .ended)
        #expect(world.last(0)?.reason == "session timer expired")
        #expect(sent(.bye).last?.reasons.first?.cause == 408)
        finish()
    }

    @Test(arguments: [SIPMethod.update, .invite])
    mutating func peerThatRefreshes(method: SIPMethod) throws {
        let invite = try talk("200;refresher=uas")
        for number in 0..<4 {
            world.run(for: .seconds(100))
            let plan = world.last(0)?.plan
            let cseq = UInt32(10 + number)
            let headers: Headers = [.supported: "timer", .sessionExpires: "200;refresher=uac"]
            if method == .update {
                send(.update, in: invite, cseq: cseq, headers: headers)
            } else {
                send(.invite, in: invite, cseq: cseq, type: "application/sdp", body: Self.description, headers: headers)
                send(.ack, in: invite, cseq: cseq)
            }
            let response = try #require(lastResponse)
            #expect(response.status == 200)
            #expect(response.sessionExpires == SessionExpires(seconds: 200, refresher: .uac))
            #expect(response.require == ["timer"])
            #expect(response.body.isEmpty == (method == .update))
            #expect(world.last(0)?.plan == plan)
        }
        #expect(world.last(0)?.state == .talking)
        finish()
    }

    @Test mutating func peerWithoutTimers() throws {
        _ = try talk(nil)
        world.run(for: .seconds(4000))
        #expect(world.last(0)?.state == .talking)
        #expect(sent(.update).isEmpty)
        finish()
    }

    /// D7: nobody answers the refresh, so nobody is there.
    @Test mutating func refreshWithoutAnswer() throws {
        _ = try talk("200;refresher=uac")
        world.run(for: .seconds(133))
        #expect(world.last(0)?.state == .ended)
        #expect(world.last(0)?.cause == "unreachable")
        #expect(sent(.bye).count == 1)
        finish()
    }

    /// A refusal is no end: another refresh follows, and at last BYE.
    @Test mutating func refusedRefreshIsTriedAgain() throws {
        _ = try talk("200;refresher=uac")
        world.run(for: .seconds(101))
        answer(sent(.update)[0], 503)
        #expect(world.last(0)?.state == .talking)
        world.run(for: .seconds(40))
        #expect(sent(.update).count == 2)
        answer(sent(.update)[1], 200)
        world.run(for: .seconds(101))
        #expect(sent(.update).count == 3)
        #expect(world.last(0)?.state == .talking)
        finish()
    }

    /// D9: 422 says what would do.
    @Test mutating func tooShortAnInterval() throws {
        setUp { $0.sessionTimer = 90 }
        let invite = try dial()
        answer(invite, 422, headers: [.minSE: "300"])
        let second = try #require(sent(.invite).last)
        #expect(second.cseq.number == invite.cseq.number + 1)
        #expect(second.sessionExpires?.seconds == 300)
        #expect(second.minSE == 300)
        answer(second, 422, headers: [.minSE: "300"])
        #expect(world.last(0)?.code == 422)
        #expect(sent(.invite).count == 2)
        finish()
    }

    // MARK: The peer's INVITE

    @Test(arguments: [
        ("1800", "timer", "1800;refresher=uac", true), ("1800;refresher=uas", "timer", "1800;refresher=uas", true),
        ("3600", "timer", "1800;refresher=uac", true), ("120;refresher=uac", "timer", "120;refresher=uac", true),
        (nil, "timer", "1800;refresher=uac", true), ("600", "replaces", "600;refresher=uas", false),
        (nil, "replaces", nil, false),
    ])
    mutating func answersToATimer(wish: String?, supported: String, agreed: String?, required: Bool) throws {
        var headers: Headers = [.supported: supported]
        if let wish { headers.append(.sessionExpires, wish) }
        let invite = try receiveInvite(headers: headers)
        world.do(.answer)
        #expect(lastResponse?.headers.first(.sessionExpires) == agreed)
        #expect(lastResponse?.require == (required ? ["timer"] : []))
        try acknowledge(invite)
        finish()
    }

    /// 422 before anything rings (D1).
    @Test mutating func intervalBelowTheLeast() throws {
        _ = try receiveInvite(headers: [.supported: "timer", .sessionExpires: "89"])
        #expect(lastResponse?.status == 422)
        #expect(world.states(0).isEmpty)
        #expect(world.endpoints[0].reservedPorts == 0)
    }

    @Test mutating func weRefreshAsCalledSide() throws {
        let invite = try receiveInvite(
            headers: [.supported: "timer", .sessionExpires: "200;refresher=uas", .allow: "INVITE, UPDATE"])
        world.do(.answer)
        try acknowledge(invite)
        world.run(for: .seconds(101))
        #expect(sent(.update).last?.sessionExpires == SessionExpires(seconds: 200, refresher: .uac))
        finish()
    }

    /// The description of our answer stays as it is too, with its version.
    @Test mutating func weRefreshAsCalledSideByReinvite() throws {
        let invite = try receiveInvite(headers: [.supported: "timer", .sessionExpires: "200;refresher=uas"])
        world.do(.answer)
        let body = try #require(lastResponse?.body)
        try acknowledge(invite)
        world.run(for: .seconds(101))
        #expect(sent(.invite).last?.body == body)
        finish()
    }

    /// A hold of ours in between refreshes too, and leaves the roles as they are.
    @Test mutating func holdRefreshes() throws {
        _ = try talk("200;refresher=uas")
        world.run(for: .seconds(100))
        world.do(.hold)
        let hold = try #require(sent(.invite).last)
        #expect(hold.sessionExpires == SessionExpires(seconds: 200, refresher: .uas))
        answer(hold, 200, sdp: true, headers: [.sessionExpires: "200;refresher=uas"])
        world.run(for: .seconds(100))
        #expect(world.last(0)?.state == .held)
        finish()
    }

    // MARK: UPDATE

    @Test mutating func updateWithAnOffer() throws {
        let invite = try talk(nil)
        send(
            .update, in: invite, cseq: 10, type: "application/sdp",
            body: Self.description.replacing("40000", with: "40002"), headers: [.contact: "<sip:moved@192.0.2.1>"])
        #expect(lastResponse?.status == 200)
        #expect(lastResponse?.sessionDescription != nil)
        #expect(world.last(0)?.plan?.remote.port == 40_002)
        send(.update, in: invite, cseq: 11, type: "application/sdp", body: "nonsense")
        #expect(lastResponse?.status == 488)
        #expect(world.last(0)?.plan?.remote.port == 40_002)
        world.do(.hold)
        send(.update, in: invite, cseq: 12, type: "application/sdp", body: Self.description)
        #expect(lastResponse?.status == 491)
        send(.update, in: invite, cseq: 13)
        #expect(lastResponse?.status == 200, "glare is about offers only")
        finish()
    }
}
