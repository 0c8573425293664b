import Primitives
import SIP

/// A 2xx to an INVITE, sent again until its ACK comes, on every transport (T3).
struct AcceptedInvite {
    let id: ServerTransactionID
    let response: Response
    /// Our offer is in the 2xx: the answer comes in the ACK (D12).
    let awaitsAnswer: Bool
    private var interval = TransactionTimers.t1
    private var resendAt: Instant
    private let giveUpAt: Instant

    init(_ id: ServerTransactionID, _ response: Response, awaitsAnswer: Bool, at now: Instant) {
        self.id = id
        self.response = response
        self.awaitsAnswer = awaitsAnswer
        resendAt = now + interval
        giveUpAt = now + TransactionTimers.timeout
    }

    var deadline: Instant { min(resendAt, giveUpAt) }

    enum Step { case wait, resend, giveUp }

    mutating func deadlineReached(at now: Instant) -> Step {
        if now >= giveUpAt { return .giveUp }
        if now < resendAt { return .wait }
        interval = min(interval * 2, TransactionTimers.t2)
        resendAt = now + interval
        return .resend
    }
}
