import Primitives
import SDP
import SIP

/// Requests of the peer in the dialog.
extension Call {
    mutating func received(
        _ request: Request, _ id: ServerTransactionID?, _ flow: Flow, at now: Instant, _ out: inout [Output]
    ) {
        guard isTrusted(flow) else {
            if let id { out.append(.ignore(id)) }
            return out.append(.note(.warning, "\(request.method) in the dialog from \(flow.remote): not its peer"))
        }
        guard let id else {
            if request.method == .ack, isPeer(request) { acknowledged(request, at: now, &out) }
            return
        }
        guard isPeer(request), phase != .finished else { return respond(481, to: request, id, &out) }
        guard dialog?.accepts(request) ?? true else { return respond(500, to: request, id, &out) }
        if request.method == .bye { return bye(request, id, at: now, &out) }
        guard !isOver else { return respond(481, to: request, id, &out) }
        // No extension is built in that a request could require (D2).
        guard request.require.isEmpty else { return respond(420, to: request, id, &out) }
        switch request.method {
        case .invite: reinvited(request, id, flow, at: now, &out)
        case .info: info(request, id, &out)
        case .options:
            var response = dialogResponse(200, to: request, on: flow)
            response.headers.appendAccept()
            response.headers.append(.acceptEncoding, "identity")
            out.append(.respond(id, response))
        // Neither a subscription nor a reliable response is ever ours (D11, D17).
        case .notify, .prack: respond(481, to: request, id, &out)
        default: respond(request.method.isDefined ? 405 : 501, to: request, id, &out)
        }
    }

    /// Whether the tags are those of our dialog; a leg of a forked INVITE counts until one wins.
    private func isPeer(_ request: Request) -> Bool {
        let tag = request.from.tag ?? ""
        return dialog.map { $0.id.remoteTag == tag } ?? (outgoing?.legs[tag] != nil)
    }

    func respond(_ status: Int, to request: Request, _ id: ServerTransactionID, _ out: inout [Output]) {
        var response = request.response(status, toTag: localTag)
        if status == 405 || status == 501 { response.headers.appendAllow() }
        if status == 420 { response.headers.append(.unsupported, request.require.joined(separator: ", ")) }
        if status == 415 { response.headers.appendAccept() }
        out.append(.respond(id, response))
    }

    /// BYE is answered whatever else is pending; a pending INVITE of the peer gets 487 (D7).
    private mutating func bye(
        _ request: Request, _ id: ServerTransactionID, at now: Instant, _ out: inout [Output]
    ) {
        respond(200, to: request, id, &out)
        note(request.reasons, &out)
        if let tag = request.from.tag, phase == .inviting {
            outgoing?.legs[tag] = nil
            return
        }
        accepted = nil
        lateBye = nil
        isAcknowledged = true
        if phase == .incoming { return refuse(487, cause: CallCause(givenUp: request.reasons), at: now, &out) }
        if let number = reinvite?.number {
            reinvite = nil
            errands[number] = nil
            out.append(.abandon(number))
        }
        end(200, nil, .normal, at: now, &out)
    }

    /// DTMF (I3); digits count in a confirmed dialog only (I5).
    private func info(_ request: Request, _ id: ServerTransactionID, _ out: inout [Output]) {
        switch DigitInfo(request) {
        case .digit(let digit):
            respond(200, to: request, id, &out)
            if phase == .established { out.append(.digit(digit)) }
        case .nothing: respond(200, to: request, id, &out)
        case .malformed: respond(400, to: request, id, &out)
        case .unsupported: respond(415, to: request, id, &out)
        }
    }
}
