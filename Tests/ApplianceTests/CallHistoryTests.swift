import Appliance
import Primitives
import SIP
import Testing
import UserAgent

/// The last calls and why they went as they did (C14), within limits.
@Suite struct CallHistoryTests {
    private func status(_ number: Int, _ state: CallStatus.State, answered: Bool = false) -> CallStatus {
        var status = CallStatus(
            call: CallKey(number), direction: .incoming, state: state, account: "house",
            remote: SIPURI(telephone: "1"), remoteName: "", since: .zero, sipCallID: "")
        if answered { status.answeredAt = .zero }
        return status
    }

    private func time(_ seconds: Int64) -> UTCTime { UTCTime(milliseconds: seconds * 1000) }

    @Test func aCallHasItsDecisionsAndTimes() {
        var history = CallHistory()
        history.decided("calling", about: CallKey(1), at: time(1))
        history.changed(status(1, .dialing), group: "family", at: time(1))
        history.changed(status(1, .talking, answered: true), group: nil, at: time(5))
        history.decided("hung up here", about: CallKey(1), at: time(9))
        history.changed(status(1, .ended, answered: true), group: nil, at: time(9))
        #expect(history.entries.count == 1)
        #expect(history.entries[0].steps == ["calling", "hung up here"])
        #expect(history.entries[0].since == time(1))
        #expect(history.entries[0].answeredAt == time(5))
        #expect(history.entries[0].endedAt == time(9))
        #expect(history.entries[0].group == "family")
    }

    @Test func itForgetsTheOldest() {
        var history = CallHistory()
        for number in 1...(CallHistory.limit + 10) {
            for _ in 0..<100 { history.decided("x", about: CallKey(number), at: time(1)) }
        }
        #expect(history.entries.count == CallHistory.limit)
        #expect(history.entries.first?.call == CallKey(11))
        #expect(history.entries.allSatisfy { $0.steps.count == CallHistory.stepLimit })
    }

    @Test func scannersTakeLittleRoom() {
        var history = CallHistory()
        func refused(_ address: UInt32, _ code: Int?) -> RefusedCall {
            RefusedCall(
                account: nil, caller: SIPURI(telephone: "1"), uri: SIPURI(telephone: "2"),
                source: SocketAddress(.v4(address), 5060), code: code, why: "")
        }
        history.refused(refused(1, 486), at: time(1))
        for second in 2..<1000 { history.refused(refused(2, nil), at: time(Int64(second))) }
        #expect(history.refused.map(\.call.code) == [486, nil])
        #expect(history.refused.last?.at == time(999))
        #expect(history.dropped == 998)
        for address in 3..<1000 { history.refused(refused(UInt32(address), nil), at: time(1)) }
        #expect(history.refused.count == CallHistory.refusedLimit)
    }
}
