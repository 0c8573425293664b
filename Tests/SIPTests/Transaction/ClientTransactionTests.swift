import Primitives
import SIP
import Testing

/// Figure 5 of RFC 3261, with RFC 6026.
@Suite struct InviteClientTransactionTests {
    typealias Output = InviteClientTransaction.Output

    private func started(reliable: Bool = false) -> InviteClientTransaction {
        var transaction = InviteClientTransaction(isReliable: reliable)
        var out: [Output] = []
        transaction.handle(.start, at: .zero, &out)
        #expect(out == [.send])
        return transaction
    }

    private func feed(
        _ transaction: inout InviteClientTransaction, _ input: InviteClientTransaction.Input, at now: Instant = .zero
    ) -> [Output] {
        var out: [Output] = []
        transaction.handle(input, at: now, &out)
        return out
    }

    @Test func timerAAndBGiveUpAfterSevenSends() {
        var transaction = started()
        var sends: [Duration] = [.zero]
        while let deadline = transaction.deadline {
            switch feed(&transaction, .deadlineReached, at: deadline) {
            case [.send]: sends.append(deadline - .zero)
            case [.failed(.timeout)]: #expect(deadline == .zero + .seconds(32))
            case let other: Issue.record("unexpected \(other)")
            }
        }
        #expect(sends.map(\.inSeconds) == [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5])
        #expect(transaction.state == .terminated)
    }

    @Test func streamsDoNotRetransmit() {
        var transaction = started(reliable: true)
        #expect(transaction.deadline == .zero + .seconds(32))
        #expect(feed(&transaction, .deadlineReached, at: .zero + .seconds(32)) == [.failed(.timeout)])
    }

    @Test func provisionalStopsRetransmission() {
        var transaction = started()
        #expect(feed(&transaction, .response(status: 100)) == [.deliver])
        #expect(transaction.deadline == Instant.zero + TransactionTimers.ringing)
        #expect(feed(&transaction, .response(status: 180)) == [.deliver])
        #expect(transaction.state == .proceeding)
    }

    @Test func failureIsAcknowledgedForEachRepeat() {
        var transaction = started()
        #expect(feed(&transaction, .response(status: 486)) == [.acknowledge, .deliver])
        #expect(feed(&transaction, .response(status: 486)) == [.acknowledge])
        #expect(feed(&transaction, .response(status: 200)) == [])
        #expect(transaction.deadline == .zero + .seconds(32))
        #expect(feed(&transaction, .deadlineReached, at: .zero + .seconds(32)) == [])
        #expect(transaction.state == .terminated)
    }

    @Test func timerDIsZeroOnStreams() {
        var transaction = started(reliable: true)
        #expect(feed(&transaction, .response(status: 404)) == [.acknowledge, .deliver])
        #expect(transaction.state == .terminated)
    }

    @Test func acceptedPassesEach2xxUp() {
        var transaction = started()
        #expect(feed(&transaction, .response(status: 200)) == [.deliver])
        #expect(feed(&transaction, .response(status: 200)) == [.deliver])
        #expect(feed(&transaction, .response(status: 180)) == [])
        #expect(feed(&transaction, .response(status: 500)) == [])
        #expect(feed(&transaction, .deadlineReached, at: .zero + .seconds(32)) == [])
        #expect(transaction.state == .terminated)
    }

    @Test func cancelWaitsForAProvisionalResponse() {
        var transaction = started()
        #expect(feed(&transaction, .cancel) == [])
        #expect(feed(&transaction, .response(status: 100)) == [.cancel, .deliver])
        #expect(feed(&transaction, .cancel) == [])
        #expect(feed(&transaction, .response(status: 180)) == [.deliver])
        #expect(feed(&transaction, .deadlineReached, at: .zero + .seconds(32)) == [.failed(.timeout)])
    }

    @Test func cancelledIsForgottenAfter64T1() {
        var transaction = started()
        #expect(feed(&transaction, .response(status: 180)) == [.deliver])
        #expect(feed(&transaction, .cancel, at: .zero + .seconds(60)) == [.cancel])
        #expect(transaction.deadline == .zero + .seconds(92))
        #expect(feed(&transaction, .response(status: 487), at: .zero + .seconds(61)) == [.acknowledge, .deliver])
    }

    @Test func endlessRingingIsCancelled() {
        var transaction = started()
        #expect(feed(&transaction, .response(status: 180)) == [.deliver])
        #expect(feed(&transaction, .deadlineReached, at: Instant.zero + TransactionTimers.ringing) == [.cancel])
        #expect(feed(&transaction, .deadlineReached, at: .zero + .seconds(632)) == [.failed(.timeout)])
        #expect(transaction.state == .terminated)
    }

    @Test func transportErrorEndsAtOnce() {
        var transaction = started()
        #expect(feed(&transaction, .transportFailed(.refused)) == [.failed(.transport(.refused))])
        #expect(transaction.deadline == nil)
        #expect(feed(&transaction, .response(status: 200)) == [])
    }
}

/// Figure 6 of RFC 3261.
@Suite struct NonInviteClientTransactionTests {
    typealias Output = NonInviteClientTransaction.Output

    private func feed(
        _ transaction: inout NonInviteClientTransaction, _ input: NonInviteClientTransaction.Input,
        at now: Instant = .zero
    ) -> [Output] {
        var out: [Output] = []
        transaction.handle(input, at: now, &out)
        return out
    }

    @Test func timerEAndFGiveUpAfterElevenSends() {
        var transaction = NonInviteClientTransaction(isReliable: false)
        #expect(feed(&transaction, .start) == [.send])
        var sends: [Double] = [0]
        while let deadline = transaction.deadline {
            switch feed(&transaction, .deadlineReached, at: deadline) {
            case [.send]: sends.append((deadline - .zero).inSeconds)
            case [.failed(.timeout)]: #expect(deadline == .zero + .seconds(32))
            case let other: Issue.record("unexpected \(other)")
            }
        }
        #expect(sends == [0, 0.5, 1.5, 3.5, 7.5, 11.5, 15.5, 19.5, 23.5, 27.5, 31.5])
    }

    @Test func provisionalSlowsRetransmissionToT2() {
        var transaction = NonInviteClientTransaction(isReliable: false)
        #expect(feed(&transaction, .start) == [.send])
        #expect(feed(&transaction, .response(status: 100)) == [.deliver])
        #expect(feed(&transaction, .deadlineReached, at: .zero + .milliseconds(500)) == [.send])
        #expect(transaction.deadline == .zero + .milliseconds(4500))
    }

    @Test(arguments: [false, true]) func repeatsOfTheAnswerAreAbsorbed(reliable: Bool) {
        var transaction = NonInviteClientTransaction(isReliable: reliable)
        #expect(feed(&transaction, .start) == [.send])
        #expect(feed(&transaction, .response(status: 200)) == [.deliver])
        #expect(feed(&transaction, .response(status: 200)) == [])
        #expect(transaction.state == (reliable ? .terminated : .completed))
        #expect(transaction.deadline == (reliable ? nil : .zero + .seconds(5)))
        _ = feed(&transaction, .deadlineReached, at: .zero + .seconds(5))
        #expect(transaction.state == .terminated)
    }

    @Test func transportErrorEndsAtOnce() {
        var transaction = NonInviteClientTransaction(isReliable: true)
        #expect(feed(&transaction, .start) == [.send])
        #expect(feed(&transaction, .transportFailed(.noRoute)) == [.failed(.transport(.noRoute))])
        #expect(feed(&transaction, .transportFailed(.noRoute)) == [])
        #expect(transaction.deadline == nil)
    }
}
