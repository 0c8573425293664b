import Primitives
import SDP
import SIP

extension Call {
    enum Input {
        // Intents.
        /// Their side hears that ours rings (180).
        case ring
        case answer
        /// Refuses an incoming call with this final response.
        case reject(code: Int)
        /// Sends the caller of an incoming call elsewhere.
        case redirect(SIPURI)
        case hangUp(HangUpReason)
        case hold
        case resume
        /// One digit by SIP INFO.
        case sendDigit(UInt8)
        /// Brings the peer together with somebody else.
        case transfer(TransferOrder)
        /// The way to the peer begins at another address of ours, and works again (R8).
        case addressChanged(AddressChange)
        /// How the call goes that the peer's REFER asked for.
        case referral(CallStatus)

        // What became of a request of ours, named by the number it was opened with.
        case ready(Int, Flow, RequestOccasion)
        case provisional(Int, Response)
        case final(Int, Response, sent: Request, Flow)
        case failed(Int, RequestFailure)
        /// A 2xx to an INVITE of ours that nobody waits for any more, in our dialog: it is acknowledged.
        case stray2xx(Response)

        // From the peer.
        /// A request in the dialog, and whether one of the account's own servers sends it. An ACK has no transaction.
        case request(Request, ServerTransactionID?, Flow, isServer: Bool)
        /// The caller gave up; the CANCEL is answered already.
        case cancelled(by: Request)
        /// The address of the name that `lookUp` asked for; nil: there is none.
        case resolved(IPAddress?)

        case deadlineReached
    }

    enum Output {
        /// Open a request of this number on this way: `ready` or `failed` comes back.
        case open(Int, RequestPath)
        case submit(Int, Request)
        /// Give the request up; of an INVITE `final` or `failed` still comes. `reason`: the value of a Reason header.
        case cancel(Int, reason: String?)
        /// Forget the request.
        case abandon(Int)
        /// Forget an INVITE whose way back is gone; its CANCEL goes by another way.
        case withdraw(Int)
        case respond(ServerTransactionID, Response)
        /// Drop the request without a response.
        case ignore(ServerTransactionID)
        /// Start or change the media; nil: stop.
        case media(MediaPlan?)
        case status(CallStatus)
        case digit(UInt8)
        /// Call somebody by the peer's wish: `referral` tells how that goes.
        case callReferred(ReferredCall)
        case transfer(TransferStatus)
        /// Look up the address of a name in the peer's session description.
        case lookUp(name: String, isV6: Bool)
        case note(UserAgentNote.Level, String)
        /// Nothing is left to do: the call can be forgotten.
        case finished
    }

    /// Why an INVITE is refused before anybody hears of it.
    struct Refusal: Error, Equatable {
        var status: Int
        var headers: Headers = [:]
        /// For the log.
        var text: String
    }
}
