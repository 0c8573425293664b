import Primitives
import SIP

/// A transfer that the peer asked for by REFER: we call somebody else, and tell how that goes (D14).
struct Referral {
    /// What a NOTIFY says: a status line, and whether it is the last.
    struct Progress {
        let status: Int
        let reason: String
        /// CSeq number of the REFER, from the second one in a dialog on (RFC 3515 §2.4.6).
        let id: UInt32?

        var isFinal: Bool { status >= 200 }
    }

    let id: UInt32?
    let target: SIPURI
    /// The peer wants to hear of it (RFC 4488).
    let isTold: Bool
    /// The call that was made.
    var call: CallKey?
    /// The other side talks with the new peer: this call is ended then, if the peer does not do that itself.
    var endsAt: Instant?
}

/// A transfer that we asked for.
struct Transfer {
    let order: TransferOrder
    /// Whether the call was on hold already.
    let wasHeld: Bool
    /// The REFER is out.
    var isAsked = false
    /// By then its outcome is known, or it has failed.
    var until: Instant
}

/// What becomes of a call that the peer asked for.
struct ReferredCall {
    let target: SIPURI
    let replaces: Replaces?
    /// The value of a Referred-By header.
    let referredBy: String?
}

extension ReferredCall {
    enum Refusal: Error { case malformed, badScheme }

    /// Reads the one Refer-To of a REFER: `sip`, `sips` or `tel`, an INVITE, Replaces and nothing else in its header
    /// part.
    init(_ request: Request) throws(Refusal) {
        let targets = request.headers.all(.referTo)
        guard targets.count == 1, let uri = request.referTo?.uri else { throw .malformed }
        guard uri.isSIP || uri.scheme == .tel else { throw .badScheme }
        if let method = uri.parameter("method"), method != SIPMethod.invite.name { throw .malformed }
        if let text = uri.header("Replaces") {
            guard let replaces = Replaces(text) else { throw .malformed }
            self.replaces = replaces
        } else {
            replaces = nil
        }
        var target = uri
        target.headers = []
        target.parameters.remove("method")
        self.target = target
        referredBy = request.headers.first(.referredBy)
    }
}

extension Request {
    /// The status line in a `message/sipfrag` body (RFC 3420); nil: there is none.
    var statusFragment: (status: Int, reason: String)? {
        guard contentType?.name == "message/sipfrag" else { return nil }
        let line = String(decoding: body.prefix { $0 != 0x0D && $0 != 0x0A }.prefix(256), as: UTF8.self)
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].uppercased() == "SIP/2.0", let status = Int(words[1]), 100..<700 ~= status
        else { return nil }
        return (status, words.count > 2 ? String(words[2]) : reasonPhrase(status))
    }
}
