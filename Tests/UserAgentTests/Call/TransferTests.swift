import Configuration
import Primitives
import SDP
import SIP
import Testing

@testable import UserAgent

/// REFER in both directions, as one side of it sees it (D14).
@Suite struct TransferTests: ScriptedPeer {
    var world = CallWorld()

    private var transfers: [TransferStatus] { world.endpoints[0].transfers }

    // MARK: Asked by us

    /// The peer is put on hold first, and knows by Referred-By who asks.
    private mutating func refer(to order: TransferOrder) throws -> (invite: Request, refer: Request) {
        let invite = try talk()
        world.do(.transfer(order))
        #expect(sent(.refer).isEmpty)
        answer(try #require(sent(.invite).last), 200, sdp: true)
        #expect(world.last(0)?.state == .held)
        return (invite, try #require(sent(.refer).last))
    }

    private mutating func notify(
        _ invite: Request, cseq: UInt32, _ line: String, _ state: String = "active;expires=60", event: String = "refer"
    ) {
        send(
            .notify, in: invite, cseq: cseq, type: "message/sipfrag;version=2.0", body: line + "\r\n",
            headers: [.event: event, .subscriptionState: state])
    }

    @Test mutating func blindTransfer() throws {
        let (invite, refer) = try refer(to: TransferOrder(target: try SIPURI("sip:200@192.0.2.1")))
        #expect(refer.referTo?.uri.description == "sip:200@192.0.2.1")
        #expect(refer.referredBy?.uri.user == "door")
        #expect(refer.contacts.count == 1)
        answer(refer, 202)
        notify(invite, cseq: 1, "SIP/2.0 100 Trying")
        #expect(lastResponse?.status == 200)
        #expect(world.last(0)?.state == .held)
        notify(invite, cseq: 2, "SIP/2.0 200 OK", "terminated;reason=noresource")
        #expect(lastResponse?.status == 200)
        #expect(world.last(0)?.cause == "transferred")
        #expect(sent(.bye).count == 1)
        #expect(transfers.map(\.state) == [.started, .done])
        finish()
    }

    /// The call is resumed when NOTIFY reports failure.
    @Test mutating func failedTransferResumes() throws {
        let (invite, refer) = try refer(to: TransferOrder(target: try SIPURI("sip:200@192.0.2.1")))
        answer(refer, 202)
        notify(invite, cseq: 1, "SIP/2.0 486 Busy Here", "terminated;reason=noresource")
        answer(try #require(sent(.invite).last), 200, sdp: true)
        #expect(sent(.invite).count == 3)
        #expect(world.last(0)?.state == .talking)
        #expect(transfers.last?.state == .failed)
        #expect(transfers.last?.code == 486)
        #expect(transfers.last?.reason == "Busy Here")
        notify(invite, cseq: 2, "SIP/2.0 200 OK")
        #expect(lastResponse?.status == 481, "nobody waits for that any more")
        finish()
    }

    @Test(arguments: [403, 405, 603]) mutating func refusedREFERResumes(status: Int) throws {
        let (_, refer) = try refer(to: TransferOrder(target: try SIPURI("sip:200@192.0.2.1")))
        answer(refer, status)
        #expect(transfers.last?.code == status)
        answer(try #require(sent(.invite).last), 200, sdp: true)
        #expect(world.last(0)?.state == .talking)
        finish()
    }

    /// A call that was held before stays so.
    @Test mutating func heldCallStaysHeld() throws {
        _ = try talk()
        world.do(.hold)
        answer(try #require(sent(.invite).last), 200, sdp: true)
        world.do(.transfer(TransferOrder(target: try SIPURI("sip:200@192.0.2.1"))))
        answer(try #require(sent(.refer).last), 603)
        #expect(sent(.invite).count == 2)
        #expect(world.last(0)?.state == .held)
        finish()
    }

    @Test mutating func outcomeThatNobodyTells() throws {
        let (_, refer) = try refer(to: TransferOrder(target: try SIPURI("sip:200@192.0.2.1")))
        answer(refer, 202)
        world.run(for: .seconds(181))
        #expect(transfers.last?.state == .failed)
        answer(try #require(sent(.invite).last), 200, sdp: true)
        #expect(world.last(0)?.state == .talking)
        finish()
    }

    /// Many a phone says BYE instead of telling how it went.
    @Test mutating func peerThatLeavesAtOnce() throws {
        let (invite, refer) = try refer(to: TransferOrder(target: try SIPURI("sip:200@192.0.2.1")))
        answer(refer, 202)
        send(.bye, in: invite, cseq: 5)
        #expect(world.last(0)?.cause == "transferred")
        #expect(transfers.last?.state == .done)
        finish()
    }

    /// Attended: the target replaces its dialog with us; tags are named from its view (RFC 3891).
    @Test mutating func attendedTransferNamesTheDialog() throws {
        var answered = try dial()
        answered.to.tag = "b"
        var response = answered.response(200, toTag: "b")
        response.headers = [.contact: "<sip:b@192.0.2.99>"]
        let dialog = try #require(Dialog(request: answered, response: response))
        finish()
        world = CallWorld()
        let (_, refer) = try refer(to: TransferOrder(to: dialog, of: CallKey(2)))
        let target = try #require(refer.referTo?.uri)
        #expect(target.user == "100")
        #expect(target.host?.text == "192.0.2.1")
        let replaces = try #require(target.header("Replaces").flatMap { Replaces($0) })
        #expect(replaces == Replaces(callID: answered.callID, toTag: "b", fromTag: answered.from.tag ?? ""))
        finish()
    }

    // MARK: Asked by the peer

    private mutating func referred(_ permission: TransferPermission, _ headers: Headers) throws -> Request {
        setUp { $0.acceptTransfer = permission }
        let invite = try talk()
        send(.refer, in: invite, cseq: 10, headers: headers)
        return invite
    }

    private static let target: Headers = [
        .referTo: "<sip:200@192.0.2.1;method=INVITE?Replaces=x%40y%3Bto-tag%3D1%3Bfrom-tag%3D2>",
        .referredBy: "<sip:100@192.0.2.1>;cid=1",
    ]

    @Test mutating func whoMayRefer() throws {
        _ = try referred(.nobody, Self.target)
        #expect(lastResponse?.status == 403)
        finish()
        world = CallWorld()
        _ = try referred(.callers([try #require(CallerPattern("sip:2*@192.0.2.1"))]), Self.target)
        #expect(lastResponse?.status == 403)
        finish()
        world = CallWorld()
        _ = try referred(.callers([try #require(CallerPattern("sip:1*@192.0.2.1"))]), Self.target)
        #expect(lastResponse?.status == 202 || sent(.notify).count == 1)
        finish()
    }

    @Test(arguments: [
        ("<mailto:a@example.org>", 416), ("<http://example.org>", 416), ("<sip:200@x;method=BYE>", 400),
        ("<sip:200@x?Replaces=nonsense>", 400),
    ])
    mutating func unusableTargets(target: String, status: Int) throws {
        _ = try referred(.everybody, [.referTo: target])
        #expect(lastResponse?.status == status)
        #expect(world.endpoints[0].referred.isEmpty)
        finish()
    }

    @Test mutating func twoTargetsAreNone() throws {
        _ = try referred(.everybody, [.referTo: "<sip:1@x>", HeaderName("refer-to"): "<sip:2@x>"])
        #expect(lastResponse?.status == 400)
        finish()
    }

    private func progress(_ state: CallStatus.State, code: Int? = nil) throws -> CallStatus {
        var status = CallStatus(
            call: CallKey(7), direction: .outgoing, state: state, account: "door",
            remote: try SIPURI("sip:200@192.0.2.1"), remoteName: "", since: world.now, sipCallID: "")
        status.code = code
        status.reason = code.map { reasonPhrase($0) }
        return status
    }

    /// 202, NOTIFY 100, NOTIFY of the end; then the transferor ends the call, or we do.
    @Test mutating func wholeTransfer() throws {
        let invite = try referred(.everybody, Self.target)
        #expect(world.responses(202, from: 0).count == 1)
        let wanted = try #require(world.endpoints[0].referred.first)
        #expect(wanted.target.description == "sip:200@192.0.2.1")
        #expect(wanted.replaces == Replaces(callID: "x@y", toTag: "1", fromTag: "2"))
        #expect(wanted.referredBy == "<sip:100@192.0.2.1>;cid=1")
        let first = try #require(sent(.notify).first)
        #expect(String(decoding: first.body, as: UTF8.self) == "SIP/2.0 100 Trying\r\n")
        #expect(first.event?.description == "refer")
        #expect(first.subscriptionState?.token == "active")
        world.do(.referral(try progress(.dialing)))
        world.do(.referral(try progress(.ringing)))
        world.do(.referral(try progress(.talking)))
        #expect(sent(.notify).count == 1, "one request after the other")
        answer(first, 200)
        let last = try #require(sent(.notify).last)
        #expect(String(decoding: last.body, as: UTF8.self) == "SIP/2.0 200 OK\r\n")
        #expect(last.subscriptionState?.token == "terminated")
        answer(last, 200)
        #expect(sent(.bye).isEmpty)
        world.run(for: .seconds(3))
        #expect(sent(.bye).count == 1)
        #expect(world.last(0)?.cause == "transferred")
        #expect(invite.callID == first.callID)
        finish()
    }

    @Test mutating func failedCallIsToldAndTheOldOneGoesOn() throws {
        let invite = try referred(.everybody, Self.target)
        answer(sent(.notify)[0], 200)
        world.do(.referral(try progress(.dialing)))
        send(.refer, in: invite, cseq: 11, headers: Self.target)
        #expect(lastResponse?.status == 491, "one at a time")
        world.do(.referral(try progress(.ended, code: 486)))
        let last = try #require(sent(.notify).last)
        #expect(String(decoding: last.body, as: UTF8.self) == "SIP/2.0 486 Busy Here\r\n")
        answer(last, 200)
        world.run(for: .seconds(20))
        #expect(world.last(0)?.state == .talking)
        send(.refer, in: invite, cseq: 12, headers: Self.target)
        #expect(sent(.notify).last?.event?.description == "refer;id=12")
        finish()
    }

    /// RFC 4488: who does not want to hear of it does not.
    @Test mutating func withoutSubscription() throws {
        var headers = Self.target
        headers.append(.referSub, "false")
        _ = try referred(.everybody, headers)
        #expect(lastResponse?.headers.first(.referSub) == "false")
        world.do(.referral(try progress(.talking)))
        world.run(for: .seconds(3))
        #expect(sent(.notify).isEmpty)
        #expect(world.last(0)?.cause == "transferred")
        finish()
    }

    @Test mutating func transferorLeavesFirst() throws {
        let invite = try referred(.everybody, Self.target)
        answer(sent(.notify)[0], 200)
        world.do(.referral(try progress(.dialing)))
        send(.bye, in: invite, cseq: 11)
        #expect(world.last(0)?.cause == "transferred")
        world.do(.referral(try progress(.talking)))
        finish()
    }
}
