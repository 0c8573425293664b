import Primitives
import SIP
import Testing

/// Figure 7 of RFC 3261, with RFC 6026.
@Suite struct InviteServerTransactionTests {
    typealias Output = InviteServerTransaction.Output

    private func started(reliable: Bool = false) -> InviteServerTransaction {
        var transaction = InviteServerTransaction(isReliable: reliable)
        #expect(feed(&transaction, .start) == [])
        return transaction
    }

    private func feed(
        _ transaction: inout InviteServerTransaction, _ input: InviteServerTransaction.Input, at now: Instant = .zero
    ) -> [Output] {
        var out: [Output] = []
        transaction.handle(input, at: now, &out)
        return out
    }

    @Test func tryingAfter200Milliseconds() {
        var transaction = started()
        #expect(transaction.deadline == .zero + .milliseconds(200))
        #expect(feed(&transaction, .deadlineReached, at: .zero + .milliseconds(200)) == [.sendTrying])
        #expect(feed(&transaction, .repeated) == [.sendTrying])
        #expect(transaction.deadline == Instant.zero + TransactionTimers.undecided)
        #expect(feed(&transaction, .deadlineReached, at: Instant.zero + TransactionTimers.undecided) == [])
        #expect(transaction.state == .terminated)
    }

    @Test func noTryingAfterAnotherResponse() {
        var transaction = started()
        #expect(feed(&transaction, .respond(status: 180)) == [.send])
        #expect(feed(&transaction, .deadlineReached, at: .zero + .milliseconds(200)) == [])
        #expect(feed(&transaction, .repeated) == [.send])
    }

    @Test func timerGAndHWithoutAck() {
        var transaction = started()
        #expect(feed(&transaction, .respond(status: 486)) == [.send])
        var sends: [Double] = [0]
        while let deadline = transaction.deadline {
            if feed(&transaction, .deadlineReached, at: deadline) == [.send] {
                sends.append((deadline - .zero).inSeconds)
            }
        }
        #expect(sends == [0, 0.5, 1.5, 3.5, 7.5, 11.5, 15.5, 19.5, 23.5, 27.5, 31.5])
        #expect(transaction.state == .terminated)
    }

    @Test(arguments: [false, true]) func ackConfirms(reliable: Bool) {
        var transaction = started(reliable: reliable)
        #expect(feed(&transaction, .respond(status: 603)) == [.send])
        #expect(feed(&transaction, .repeated) == [.send])
        #expect(feed(&transaction, .acknowledged) == [])
        #expect(transaction.state == (reliable ? .terminated : .confirmed))
        #expect(feed(&transaction, .repeated) == [])
        _ = feed(&transaction, .deadlineReached, at: .zero + .seconds(5))
        #expect(transaction.state == .terminated)
    }

    @Test(arguments: [false, true]) func acceptedAbsorbsRepeatsFor64T1(reliable: Bool) {
        var transaction = started(reliable: reliable)
        #expect(feed(&transaction, .respond(status: 200)) == [.send])
        #expect(feed(&transaction, .repeated) == [])
        #expect(feed(&transaction, .respond(status: 200)) == [.send])
        #expect(feed(&transaction, .respond(status: 500)) == [])
        #expect(feed(&transaction, .acknowledged) == [.deliver])
        #expect(transaction.deadline == .zero + .seconds(32))
        _ = feed(&transaction, .deadlineReached, at: .zero + .seconds(32))
        #expect(transaction.state == .terminated)
    }
}

/// Figure 8 of RFC 3261, with RFC 4320.
@Suite struct NonInviteServerTransactionTests {
    private func feed(
        _ transaction: inout NonInviteServerTransaction, _ input: NonInviteServerTransaction.Input,
        at now: Instant = .zero
    ) -> [NonInviteServerTransaction.Output] {
        var out: [NonInviteServerTransaction.Output] = []
        transaction.handle(input, at: now, &out)
        return out
    }

    @Test(arguments: [false, true]) func repeatsGetTheSameAnswer(reliable: Bool) {
        var transaction = NonInviteServerTransaction(isReliable: reliable)
        #expect(feed(&transaction, .start) == [])
        #expect(feed(&transaction, .repeated) == [])
        #expect(feed(&transaction, .respond) == [.send])
        #expect(feed(&transaction, .repeated) == (reliable ? [] : [.send]))
        #expect(feed(&transaction, .respond) == [])
        #expect(transaction.deadline == (reliable ? nil : .zero + .seconds(32)))
    }

    @Test func nobodyAnswersInTime() {
        var transaction = NonInviteServerTransaction(isReliable: false)
        #expect(feed(&transaction, .start) == [])
        #expect(feed(&transaction, .deadlineReached, at: .zero + .seconds(32)) == [])
        #expect(transaction.state == .terminated)
    }
}
