import Primitives
import SDP
import SIP

/// Requests of the peer in the dialog.
extension Call {
    /// `isServer`: one of the account's own servers sends it.
    mutating func received(
        _ request: Request, _ id: ServerTransactionID?, _ flow: Flow, _ isServer: Bool, at now: Instant,
        _ out: inout [Output]
    ) {
        guard isTrusted(flow) else {
            if let id { out.append(.ignore(id)) }
            return out.append(.note(.warning, "\(request.method) in the dialog from \(flow.remote): not its peer"))
        }
        let tag = request.from.tag ?? ""
        let isPeer = legs[tag] != nil && (self.tag == nil || self.tag == tag)
        guard let id else {
            if request.method == .ack, isPeer { acknowledged(request, at: now, &out) }
            return
        }
        guard isPeer, phase != .finished else { return respond(481, to: request, id, &out) }
        guard legs[tag]?.dialog.accepts(request) ?? true else { return respond(500, to: request, id, &out) }
        if request.method == .bye { return bye(request, id, at: now, &out) }
        guard !isOver else { return respond(481, to: request, id, &out) }
        let unknown = request.require.filter { !Extensions.supported.contains($0) }
        guard unknown.isEmpty else {
            return respond(420, to: request, id, headers: [.unsupported: unknown.joined(separator: ", ")], &out)
        }
        switch request.method {
        case .invite, .update:
            renegotiated(request, id, flow, in: tag, at: now, &out)
            if isServer { identify(request) }
        case .prack: acknowledgedReliably(request, id, in: tag, at: now, &out)
        case .info: info(request, id, &out)
        case .refer: referred(request, id, flow, at: now, &out)
        case .notify: notified(request, id, at: now, &out)
        case .options:
            var response = dialogResponse(200, to: request, on: flow)
            response.headers.appendAccept()
            response.headers.append(.acceptEncoding, "identity")
            out.append(.respond(id, response))
        default: respond(request.method.isDefined ? 405 : 501, to: request, id, &out)
        }
    }

    func respond(
        _ status: Int, to request: Request, _ id: ServerTransactionID, headers: Headers = [:], _ out: inout [Output]
    ) {
        var response = request.response(status, toTag: localTag)
        response.headers = headers
        if status == 405 || status == 501 { response.headers.appendAllow() }
        if status == 415 { response.headers.appendAccept() }
        out.append(.respond(id, response))
    }

    /// Who the peer is may change, as after a transfer at its server; only the account's own servers are believed (I7).
    private mutating func identify(_ request: Request) {
        guard !request.assertedIdentities.isEmpty, !isOver else { return }
        let asserted = AssertedCaller(request, standing: .flow)
        status.remote = asserted.uri
        status.remoteName = asserted.name
    }

    /// BYE is answered whatever else is pending; a pending INVITE of the peer gets 487 (D7).
    private mutating func bye(
        _ request: Request, _ id: ServerTransactionID, at now: Instant, _ out: inout [Output]
    ) {
        respond(200, to: request, id, &out)
        note(request.reasons, &out)
        if phase == .inviting { return legEnded(request.from.tag ?? "", at: now, &out) }
        accepted = nil
        lateBye = nil
        isAcknowledged = true
        if phase == .incoming { return refuse(487, cause: CallCause(givenUp: request.reasons), at: now, &out) }
        if let number = leg?.current, case .change? = errands[number]?.purpose { abandon(number, &out) }
        peerLeft(&out)
        end(200, nil, isBeingTransferred ? .transferred : .normal, at: now, &out)
    }
}
