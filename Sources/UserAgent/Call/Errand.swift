import Primitives
import SDP
import SIP

extension Call {
    /// A request of ours, from the wish to send it to its last response.
    struct Errand {
        enum Purpose {
            /// The call's first INVITE.
            case invite
            /// Composed already; nothing comes back.
            case acknowledge(Request)
            // In a dialog: composed when the flow is there, so that numbers rise in the order of sending (D4).
            /// With this value of a Reason header.
            case bye(reason: String?)
            case prack(RAck)
            case change(Change)
            /// By INFO.
            case digit(UInt8)
            case refer(SIPURI)
            /// How a call that the peer asked for goes (RFC 3515 §2.4.4).
            case notify(Referral.Progress)

            var method: SIPMethod {
                switch self {
                case .invite: .invite
                case .acknowledge: .ack
                case .bye: .bye
                case .prack: .prack
                case .change(let change): change.method
                case .digit: .info
                case .refer: .refer
                case .notify: .notify
                }
            }
        }

        var purpose: Purpose
        /// The remote tag of its dialog.
        var tag: String?
        /// As last submitted.
        var request: Request?
    }

    /// A re-INVITE or UPDATE of ours.
    struct Change {
        var method: SIPMethod
        /// What its offer asks for; nil: it has none.
        var offer: Wish?
        /// It tells our new address (R8).
        var moves = false

        struct Wish: Equatable {
            var holds: Bool
            /// Nothing new: our last description as it is (D13).
            var isRepeated = false
        }
        /// What our side of the media was before.
        var before: LocalMedia?
    }
}
