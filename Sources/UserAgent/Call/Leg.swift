import Primitives
import SDP
import SIP

extension Call {
    /// One dialog of a call, with offers and answers of its own: the one that was answered, or an early one of a forked
    /// INVITE (D5).
    struct Leg {
        var dialog: Dialog
        var negotiation: OfferAnswer
        /// The answer in an unreliable 18x: what the final one will be (D12).
        var preview: OfferAnswer?
        /// RSeq of the last reliable response that was taken (D11).
        private(set) var lastReliable: UInt32?
        /// Methods that the peer takes; nil: it did not say.
        private var allowed: Set<SIPMethod>?
        /// When it began, among the legs of its call.
        let order: Int
        /// Requests of ours that wait for the one before them.
        var waiting: [Errand.Purpose] = []
        /// The request of ours that is under way.
        var current: Int?
        /// Nothing is asked before then, for the peer said so.
        var pausedUntil: Instant?
        /// The early dialog is to hear of our new address (R8).
        var owesMove = false

        init(_ dialog: Dialog, _ negotiation: OfferAnswer, order: Int = 0) {
            self.dialog = dialog
            self.negotiation = negotiation
            self.order = order
        }

        /// What is played before the answer.
        var earlyPlan: MediaPlan? { negotiation.state == .agreed ? negotiation.plan : preview?.plan }

        /// Whether the peer said that it takes UPDATE.
        var takesUpdate: Bool { allowed?.contains(.update) ?? false }

        mutating func note(allowed methods: [SIPMethod]?) { if let methods { allowed = Set(methods) } }

        /// It refused one.
        mutating func forgetUpdate() { allowed?.remove(.update) }

        /// Whether a reliable response is the next one in order: repeats and such that overtook another are not (D11).
        mutating func takes(reliable number: UInt32) -> Bool {
            if let lastReliable { guard lastReliable < .max, number == lastReliable + 1 else { return false } }
            lastReliable = number
            return true
        }
    }

    /// The leg that was answered, or that answers.
    var leg: Leg? {
        get { tag.flatMap { legs[$0] } }
        set { if let tag { legs[tag] = newValue } }
    }

    var dialog: Dialog? { leg?.dialog }
    var negotiation: OfferAnswer? { leg?.negotiation }
}
