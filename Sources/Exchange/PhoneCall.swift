import Primitives
import SDP
import SIP

/// A call of a phone, from the INVITE to its end.
struct PhoneCall {
    enum Stage: Equatable {
        /// We called.
        case dialing
        /// We called and gave up: the end is still to come.
        case cancelling
        /// They called.
        case ringing
        case talking
    }

    var stage: Stage
    /// As received, or as sent last.
    var invite: Request
    var negotiation: OfferAnswer
    /// There from the 2xx on.
    var dialog: Dialog?
    /// The server transaction of an incoming INVITE.
    var transaction: ServerTransactionID?
    /// Our tag of an incoming call.
    var localTag = ""
    /// When it is answered by itself.
    var answerAt: Instant?
    /// The client transaction of an outgoing INVITE.
    var branch: ClientTransactionID?
    /// The ACK of our INVITE, for every repeated 2xx (T4).
    var acknowledgement: Request?
    /// A 2xx of ours that waits for its ACK.
    var unacknowledged: Unacknowledged?

    /// Repeats of a 2xx until its ACK comes (T3).
    struct Unacknowledged {
        let response: Response
        let transaction: ServerTransactionID
        var interval = TransactionTimers.t1
        var repeatAt: Instant
        let until: Instant
        /// The 2xx carried our offer, so the ACK has the answer (D12).
        let awaitsAnswer: Bool

        init(_ response: Response, _ transaction: ServerTransactionID, awaitsAnswer: Bool, at now: Instant) {
            self.response = response
            self.transaction = transaction
            self.awaitsAnswer = awaitsAnswer
            repeatAt = now + TransactionTimers.t1
            until = now + TransactionTimers.timeout
        }
    }

    var deadline: Instant? {
        earliest(answerAt, unacknowledged.map { min($0.repeatAt, $0.until) })
    }
}
