import Primitives
import SIP

/// When a response is sent again until the peer confirms it: after T1, twice as long each time, for 64*T1 in all.
struct Repetition {
    private var interval = TransactionTimers.t1
    private let ceiling: Duration
    private var resendAt: Instant
    private let giveUpAt: Instant

    /// `ceiling`: of the time between two of them.
    init(ceiling: Duration, at now: Instant) {
        self.ceiling = ceiling
        resendAt = now + interval
        giveUpAt = now + TransactionTimers.timeout
    }

    var deadline: Instant { min(resendAt, giveUpAt) }

    enum Step { case wait, resend, giveUp }

    mutating func deadlineReached(at now: Instant) -> Step {
        if now >= giveUpAt { return .giveUp }
        if now < resendAt { return .wait }
        interval = min(interval * 2, ceiling)
        resendAt = now + interval
        return .resend
    }
}

/// A 2xx to an INVITE, sent again until its ACK comes, on every transport (T3).
struct AcceptedInvite {
    let id: ServerTransactionID
    let response: Response
    /// Our offer is in the 2xx: the answer comes in the ACK (D12).
    let awaitsAnswer: Bool
    var repetition: Repetition

    init(_ id: ServerTransactionID, _ response: Response, awaitsAnswer: Bool, at now: Instant) {
        self.id = id
        self.response = response
        self.awaitsAnswer = awaitsAnswer
        repetition = Repetition(ceiling: TransactionTimers.t2, at: now)
    }
}

/// A reliable 18x, sent again until its PRACK comes (RFC 3262 §3, D11).
struct ReliableResponse {
    let id: ServerTransactionID
    let response: Response
    /// Our offer is in it: the answer comes in the PRACK (D12).
    let awaitsAnswer: Bool
    var repetition: Repetition

    init(_ id: ServerTransactionID, _ response: Response, awaitsAnswer: Bool, at now: Instant) {
        self.id = id
        self.response = response
        self.awaitsAnswer = awaitsAnswer
        repetition = Repetition(ceiling: TransactionTimers.timeout, at: now)
    }

    func isConfirmed(by rack: RAck) -> Bool { rack.rseq == response.rseq && rack.cseq == response.cseq }
}
