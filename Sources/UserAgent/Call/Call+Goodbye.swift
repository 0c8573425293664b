import Primitives
import SIP

/// ACK and BYE: how an INVITE gets its last word, and a dialog its end.
extension Call {
    /// An INVITE of ours that got a 2xx.
    struct AnsweredInvite {
        var acknowledgement: Request
        /// Until when repeats may come.
        var until: Instant
    }

    /// How long a 2xx may be repeated: longer than its sender does.
    private static let repeatLimit = Duration.seconds(40)

    /// Acknowledges the 2xx of an INVITE of ours, and each repeat of it to come (T4).
    mutating func acknowledge(
        _ number: Int, in dialog: Dialog, to sent: Request, at now: Instant, _ out: inout [Output]
    ) {
        let request = acknowledgement(in: dialog, to: sent)
        answered = answered.filter { $0.value.until > now }
        answered[number] = AnsweredInvite(acknowledgement: request, until: now + Self.repeatLimit)
        open(.acknowledge(request), in: nil, RequestPath(to: dialog.nextHop), &out)
    }

    /// With the credentials of the INVITE (RFC 3261 §22.1).
    private func acknowledgement(in dialog: Dialog, to sent: Request) -> Request {
        var request = dialog.acknowledgement(cseq: sent.cseq.number)
        for name in [HeaderName.authorization, .proxyAuthorization] {
            for value in sent.headers.all(name) { request.headers.append(name, value) }
        }
        return request
    }

    /// A 2xx came again: ACK. Or another leg of a forked INVITE answered too: ACK and BYE, and the media stays (D5).
    mutating func repeated(_ number: Int, _ response: Response, to sent: Request, _ out: inout [Output]) {
        guard let first = answered[number], errands.count < Self.errandLimit else { return }
        let tag = response.to.tag ?? ""
        if tag == first.acknowledgement.to.tag ?? "" {
            guard let leg = legs[tag] else { return }
            open(.acknowledge(first.acknowledgement), in: nil, RequestPath(to: leg.dialog.nextHop), &out)
            return
        }
        guard let negotiation, let dialog = legs[tag]?.dialog ?? Dialog(request: sent, response: response) else {
            return
        }
        let path = RequestPath(to: dialog.nextHop)
        open(.acknowledge(acknowledgement(in: dialog, to: sent)), in: nil, path, &out)
        guard legs[tag] == nil, legs.count <= Self.legLimit else { return }
        let leg = Leg(dialog, negotiation)
        legs[tag] = leg
        out.append(.note(.info, "another leg answered too: it gets BYE"))
        open(.bye(reason: nil), in: leg, &out)
    }

    /// A 2xx to a re-INVITE that was given up: the peer must hear of it, or it ends the call.
    mutating func acknowledge(stray response: Response, _ out: inout [Output]) {
        guard let dialog, response.to.tag == dialog.id.remoteTag, errands.count < Self.errandLimit else { return }
        let request = dialog.acknowledgement(cseq: response.cseq.number)
        open(.acknowledge(request), in: nil, RequestPath(to: dialog.nextHop), &out)
    }

    /// Says BYE in the dialog, as soon as that may be (D7). `reason`: the value of a Reason header.
    mutating func sayBye(_ reason: String?, _ out: inout [Output]) {
        guard isAcknowledged else {
            lateBye = .some(reason)
            return
        }
        if let leg { open(.bye(reason: reason), in: leg, &out) }
    }

    /// Nobody can use what the peer described.
    mutating func endForDescription(_ error: any Error, at now: Instant, _ out: inout [Output]) {
        out.append(.note(.warning, "\(error)"))
        sayBye(Reason(cause: 488, text: "no usable session description").description, &out)
        end(488, "\(error)", .failed, at: now, &out)
    }

    /// Why the peer ended something, for the log (RFC 3326).
    func note(_ reasons: [Reason], _ out: inout [Output]) {
        for reason in reasons.prefix(2) {
            out.append(.note(.info, reason.isAnsweredElsewhere ? "answered elsewhere" : "the peer's reason: \(reason)"))
        }
    }
}
