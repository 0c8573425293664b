import Primitives
import SIP

/// Requests of peers, checked in the order of rule D1.
extension Agent {
    private static let allowed = Set(SIPMethod.allowed)

    mutating func incoming(
        _ request: Request, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) {
        guard let transaction else { return dispatch(request, nil, flow, at: now) }
        if let refusal = refusal(of: request) { return respond(transaction, refusal, at: now) }
        if request.to.tag != nil {
            if request.method == .notify, notified(request, transaction, flow, at: now) { return }
            return dispatch(request, transaction, flow, at: now)
        }
        switch request.method {
        case .invite, .options, .message: break
        case .notify: return notifiedUnasked(request, transaction, flow, at: now)
        case .subscribe:
            var response = request.response(489)
            response.headers.appendAllowEvents()
            return respond(transaction, response, at: now)
        // Only in a call does anybody have us call (D14).
        case .refer: return respond(transaction, request.response(403), at: now)
        default: return respond(transaction, request.response(481), at: now)
        }
        guard request.uri.scheme == .sip || request.uri.scheme == .tel || request.uri.isSecured(by: flow) else {
            return respond(transaction, request.response(416), at: now)
        }
        guard var choice = account(for: request, from: flow) else {
            wire.note(.info, "\(request.method) for \(request.uri) from \(flow.remote): no account")
            tellRefused(request, flow, account: nil, code: 404, "\(request.uri) names no account")
            return respond(transaction, request.response(404), at: now)
        }
        if let refusal = contentRefusal(of: request) {
            tellRefused(request, flow, account: choice.account.name, code: refusal.status, refusal.reason)
            return respond(transaction, refusal, at: now)
        }
        guard authenticate(request, transaction, flow, &choice, at: now) else { return }
        switch request.method {
        case .invite: invited(request, transaction, flow, choice, at: now)
        case .message: texted(request, transaction, choice, at: now)
        default: respond(transaction, capabilities(request, choice.account, flow), at: now)
        }
    }

    /// Refusals of unknown sources by UDP are sent once, and only if they are no larger than what came (SEC5).
    mutating func respond(_ transaction: ServerTransactionID, _ response: Response, at now: Instant) {
        if response.status >= 300, let flow = wire.transactions.flow(of: transaction), flow.transport == .udp,
            !isKnown(flow.remote.address)
        {
            wire.transactions.respondOnce(transaction, response, limit: heardOctets, &wire.said)
        } else {
            wire.transactions.respond(transaction, response, at: now, &wire.said)
        }
    }

    /// Says why a call never rang; of another request nothing.
    mutating func tellRefused(_ request: Request, _ flow: Flow, account: String?, code: Int?, _ why: String) {
        guard request.method == .invite else { return }
        let call = RefusedCall(
            account: account, caller: request.from.uri.addressOfRecord, uri: request.uri, source: flow.remote,
            code: code, why: why)
        wire.out.append(.event(.refused(call)))
    }

    // MARK: Checks

    /// Method first (405, 501).
    private func refusal(of request: Request) -> Response? {
        // SUBSCRIBE is not built in, but answered better than by 405: 489.
        if Self.allowed.contains(request.method) || request.method == .subscribe { return nil }
        var response = request.response(request.method.isDefined ? 405 : 501)
        response.headers.appendAllow()
        return response
    }

    /// Extensions, body and mandatory headers (420, 415, 406, 400).
    private func contentRefusal(of request: Request) -> Response? {
        let unknown = request.require.filter { !Extensions.supported.contains($0) }
        if !unknown.isEmpty {
            var response = request.response(420)
            response.headers.append(.unsupported, unknown.joined(separator: ", "))
            return response
        }
        let encodings = request.headers.tokens(.contentEncoding)
        if !request.body.isEmpty, encodings.contains(where: { $0 != "identity" }) {
            var response = request.response(415)
            response.headers.append(.acceptEncoding, "identity")
            return response
        }
        guard request.method == .invite else { return nil }
        if !request.hasReadableBody {
            var response = request.response(415)
            response.headers.appendAccept()
            return response
        }
        if request.headers.contains(.accept), !request.headers.tokens(.accept).contains(where: Self.isSDP) {
            return request.response(406)
        }
        if request.contacts.isEmpty { return request.response(400, reason: "Contact is missing") }
        if request.headers.all(.replaces).count > 1 { return request.response(400, reason: "Replaces is doubled") }
        return nil
    }

    private static func isSDP(_ accepted: String) -> Bool {
        let type = accepted.prefix { $0 != ";" && $0 != " " }
        return type == "application/sdp" || type == "application/*" || type == "*/*"
    }

    /// The answer to OPTIONS: also while busy, for registrars use it as a probe (D2).
    private func capabilities(_ request: Request, _ account: Account, _ flow: Flow) -> Response {
        var response = request.response(200)
        response.headers.append(.contact, NameAddress(account.contact(on: flow, for: request.uri)).description)
        response.headers.appendAllow()
        response.headers.appendAccept()
        response.headers.append(.acceptEncoding, "identity")
        response.headers.appendAllowEvents()
        response.headers.appendSupported()
        return response
    }

    // MARK: Whose it is

    struct AccountChoice {
        var account: Account
        var standing: Standing
        /// For the log.
        var why: String
    }

    /// The account that a request is for (SEC2); nil: none.
    func account(for request: Request, from flow: Flow) -> AccountChoice? {
        guard let choice = trust.account(for: request, from: flow),
            let account = registrations[choice.key]?.dialogAccount
        else { return nil }
        return AccountChoice(account: account, standing: choice.standing, why: choice.why)
    }

    // MARK: Strays

    /// A 2xx that no transaction waits for any more: a call of ours knows it, or its peer gets ACK and BYE (D5).
    mutating func endStray(_ response: Response, at now: Instant) {
        if let key = dialogs[DialogKey(callID: response.callID, localTag: response.from.tag ?? "")],
            calls[key]?.dialog?.id.remoteTag == response.to.tag
        {
            return tell(key, .stray2xx(response), at: now)
        }
        guard
            let account = settings.accounts.first(where: { $0.uri.isEquivalent(to: response.from.uri) })
                ?? settings.accounts.first
        else { return }
        let invite = Request(
            .invite, response.to.uri, from: response.from, to: response.to, callID: response.callID,
            cseq: response.cseq.number)
        guard var dialog = Dialog(request: invite, response: response) else { return }
        for request in [dialog.acknowledgement(cseq: response.cseq.number), dialog.request(.bye)] {
            send(request, for: account, RequestPath(to: dialog.remoteTarget, routes: dialog.routeSet), at: now)
        }
    }

    /// Sends a request whose outcome nobody needs.
    mutating func send(_ request: Request, for account: Account, _ path: RequestPath, at now: Instant) {
        let id = requester.open(account, path, at: now, &wire, &connections, &requestEvents)
        owners[id] = .composed(request)
    }
}

extension SIPURI {
    /// A `sips` URI that came along a way that keeps its promise.
    fileprivate func isSecured(by flow: Flow) -> Bool { scheme == .sips && flow.transport == .tls }
}

extension Request {
    /// A body that an INVITE may have: a description, parts with one among them, or one that may be ignored.
    fileprivate var hasReadableBody: Bool {
        guard !body.isEmpty else { return true }
        guard let type = contentType else { return !headers.contains(.contentType) }
        if type.name == "application/sdp" || type.name.hasPrefix("multipart/") { return true }
        return contentDisposition?.parameters["handling"]?.lowercased() == "optional"
    }
}
