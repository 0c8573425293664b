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

/// A response to an INVITE that is sent again until the peer confirms it: a 2xx until its ACK comes, on every transport
/// (T3), a reliable 18x until its PRACK does (RFC 3262 §3, D11).
struct RepeatedResponse {
    let id: ServerTransactionID
    let response: Response
    /// Our offer is in it: the answer comes in the ACK or the PRACK (D12).
    let awaitsAnswer: Bool
    var repetition: Repetition

    private init(
        _ id: ServerTransactionID, _ response: Response, awaitsAnswer: Bool, ceiling: Duration, at now: Instant
    ) {
        self.id = id
        self.response = response
        self.awaitsAnswer = awaitsAnswer
        repetition = Repetition(ceiling: ceiling, at: now)
    }

    static func success(
        _ id: ServerTransactionID, _ response: Response, awaitsAnswer: Bool, at now: Instant
    ) -> RepeatedResponse {
        RepeatedResponse(id, response, awaitsAnswer: awaitsAnswer, ceiling: TransactionTimers.t2, at: now)
    }

    static func provisional(
        _ id: ServerTransactionID, _ response: Response, awaitsAnswer: Bool, at now: Instant
    ) -> RepeatedResponse {
        RepeatedResponse(id, response, awaitsAnswer: awaitsAnswer, ceiling: TransactionTimers.timeout, at: now)
    }

    func isConfirmed(by rack: RAck) -> Bool { rack.rseq == response.rseq && rack.cseq == response.cseq }
}
