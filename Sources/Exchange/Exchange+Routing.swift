import Primitives
import SIP

/// The stateful proxy (RFC 3261 §16). The next hop sees the exchange's own Via alone; those of the way before stay with
/// the server transaction, which the responses go back by.
extension Exchange {
    /// Requests on their way at once, beyond which further ones get 503 (SEC12).
    static let forwardingLimit = 1024

    /// Decides where a new request goes, or answers it.
    mutating func route(
        _ request: Request, _ id: ServerTransactionID, _ flow: Flow, at now: Instant,
        _ steps: inout [TransactionLayer.Output], _ out: inout [Output]
    ) {
        func answer(_ response: Response) { layer.respond(id, response, at: now, &steps) }
        guard request.uri.scheme == .sip else { return answer(request.response(416)) }
        if request.uri.user == nil, isHere(request.uri), request.routes.allSatisfy({ isOwn($0.uri) }) {
            return answer(answerForItself(request))
        }
        guard request.maxForwards != 0 else { return answer(request.response(483)) }
        let demanded = request.headers.tokens(.proxyRequire)
        guard demanded.isEmpty else {
            var response = request.response(420)
            for option in demanded { response.headers.append(.unsupported, option) }
            return answer(response)
        }
        guard forwardings.count < Self.forwardingLimit else { return answer(request.response(503)) }
        guard request.to.tag == nil else {
            guard let way = wayInDialog(request, flow) else { return answer(request.response(481)) }
            return forward(request, id, to: [(request.uri, way)], at: now, &steps)
        }
        guard let caller = authenticate(request, id, .proxy, at: now, &steps, &out) else { return }
        guard request.from.uri.user == caller, request.from.uri.host == settings.domain else {
            return answer(request.response(403))
        }
        guard isHere(request.uri), let called = request.uri.user, passwords[called] != nil else {
            return answer(request.response(404))
        }
        let bindings = registrar.bindings(of: called)
        guard !bindings.isEmpty else { return answer(request.response(480)) }
        var asserted = request
        asserted.headers.set(
            .pAssertedIdentity, NameAddress(SIPURI(user: caller, host: settings.domain)).description)
        if request.method == .invite {
            out.append(.event(.calling(from: caller, to: called, bindings: bindings.count)))
        }
        forward(asserted, id, to: bindings.map { ($0.contact.uri, $0.flow) }, at: now, &steps)
    }

    private func answerForItself(_ request: Request) -> Response {
        var response = request.response(request.method == .options ? 200 : request.method.isDefined ? 405 : 501)
        if request.method == .invite || request.method == .bye { response = request.response(404) }
        response.headers.append(.allow, Self.allowed)
        if request.method == .options { response.headers.append(.accept, "application/sdp") }
        return response
    }

    /// The way of a request of a dialog: only with our own Route for it on top, and only to an address or a binding.
    private func wayInDialog(_ request: Request, _ flow: Flow) -> Flow? {
        let routes = request.routes
        guard let own = routes.first?.uri, isOwn(own), passes.isValid(own.user, for: request.callID) else { return nil }
        return way(to: routes.dropFirst().first?.uri ?? request.uri, flow)
    }

    /// A user's phone is reached by the way that it registered along, which a translator lets through.
    private func way(to uri: SIPURI, _ flow: Flow) -> Flow? {
        if let binding = registrar.binding(withContact: uri) { return binding.flow }
        guard let address = uri.host?.address else { return nil }
        return Flow(
            transport: .udp, local: flow.local,
            remote: SocketAddress(address, uri.port ?? Transport.udp.defaultPort))
    }

    // MARK: Passing on

    private mutating func forward(
        _ request: Request, _ id: ServerTransactionID, to ways: [(uri: SIPURI, flow: Flow)], at now: Instant,
        _ steps: inout [TransactionLayer.Output]
    ) {
        var forwarding = Forwarding(request)
        for (uri, flow) in ways {
            let branch = layer.send(copy(of: request, to: uri, flow), on: flow, at: now, &steps)
            forwarding.pending.insert(branch)
            branches[branch] = id
        }
        forwardings[id] = forwarding
    }

    private mutating func copy(of request: Request, to uri: SIPURI, _ flow: Flow) -> Request {
        var copy = request
        copy.uri = uri
        copy.vias = [Via(leavingBy: flow, random: &random)]
        copy.headers.set(.maxForwards, "\((request.maxForwards ?? 71) - 1)")
        copy.headers.remove(.proxyAuthorization)
        let routes = request.routes
        copy.headers.remove(.route)
        for route in routes.drop(while: { isOwn($0.uri) }) { copy.headers.append(.route, route.description) }
        if request.to.tag == nil, request.method == .invite || request.method == .subscribe {
            var own = SIPURI(
                user: passes.word(for: request.callID), host: Host(settings.address.address),
                port: settings.address.port)
            own.parameters.setFlag("lr")
            copy.headers.prepend(.recordRoute, NameAddress(own).description)
        }
        return copy
    }

    /// The ACK of a 2xx has no transaction and gets no answer: it goes on, or nowhere.
    mutating func passOn(acknowledgement ack: Request, _ flow: Flow, _ steps: inout [TransactionLayer.Output]) {
        guard ack.maxForwards != 0, let way = wayInDialog(ack, flow) else { return }
        layer.sendStateless(copy(of: ack, to: ack.uri, way), on: way, &steps)
    }

    mutating func cancel(
        _ id: ServerTransactionID, by cancel: Request, at now: Instant, _ steps: inout [TransactionLayer.Output]
    ) {
        forwardings[id]?.isDecided = true
        cancelBranches(of: id, reason: cancel.headers.first(.reason), at: now, &steps)
    }

    private mutating func cancelBranches(
        of id: ServerTransactionID, reason: String?, at now: Instant, _ steps: inout [TransactionLayer.Output]
    ) {
        for branch in forwardings[id]?.pending ?? [] where branch.method == .invite {
            layer.cancel(branch, reason: reason, at: now, &steps)
        }
    }

    // MARK: Responses

    mutating func answered(
        _ branch: ClientTransactionID, _ response: Response, at now: Instant,
        _ steps: inout [TransactionLayer.Output], _ out: inout [Output]
    ) {
        guard let id = branches[branch], var forwarding = forwardings[id] else { return }
        if response.isProvisional {
            if response.status > 100, !forwarding.isDecided {
                layer.respond(id, forwarding.back(response), at: now, &steps)
            }
            return
        }
        let isFirst = forwarding.pending.remove(branch) != nil
        if response.isSuccess {
            forwardings[id] = forwarding
            return succeeded(id, response, isFirst: isFirst, at: now, &steps, &out)
        }
        forwarding.consider(response)
        let ends = response.status >= 600 && !forwarding.isDecided
        if ends { forwarding.isDecided = true }
        forwardings[id] = forwarding
        branches[branch] = nil
        if ends { cancelBranches(of: id, reason: nil, at: now, &steps) }
        if forwarding.pending.isEmpty { conclude(id, at: now, &steps, &out) }
    }

    /// A 2xx goes back at once, each of them and each time that it comes; the other phones stop ringing.
    private mutating func succeeded(
        _ id: ServerTransactionID, _ response: Response, isFirst: Bool, at now: Instant,
        _ steps: inout [TransactionLayer.Output], _ out: inout [Output]
    ) {
        guard let forwarding = forwardings[id] else { return }
        layer.respond(id, forwarding.back(response), at: now, &steps)
        guard isFirst else { return }
        guard forwarding.request.method == .invite else { return forget(id) }
        if !forwarding.isAnswered {
            endings.append((now + TransactionTimers.timeout, id))
            report(forwarding, response.status, &out)
        }
        forwardings[id]?.isDecided = true
        forwardings[id]?.isAnswered = true
        cancelBranches(
            of: id, reason: Reason(cause: 200, text: "Call completed elsewhere").description, at: now, &steps)
    }

    mutating func failed(
        _ branch: ClientTransactionID, _ failure: TransactionFailure, at now: Instant,
        _ steps: inout [TransactionLayer.Output], _ out: inout [Output]
    ) {
        guard let id = branches.removeValue(forKey: branch), forwardings[id] != nil else { return }
        forwardings[id]?.pending.remove(branch)
        // Nobody at that address any more: for the caller as if the phone had not registered.
        let status = failure == .timeout ? 408 : 480
        if let request = forwardings[id]?.request { forwardings[id]?.consider(request.response(status)) }
        if forwardings[id]?.pending.isEmpty == true { conclude(id, at: now, &steps, &out) }
    }

    /// All branches have ended: the best failure goes back, unless somebody answered.
    private mutating func conclude(
        _ id: ServerTransactionID, at now: Instant, _ steps: inout [TransactionLayer.Output], _ out: inout [Output]
    ) {
        guard let forwarding = forwardings[id], !forwarding.isAnswered else { return }
        if let best = forwarding.best, best.status != 408 || forwarding.request.method == .invite {
            layer.respond(id, forwarding.back(best), at: now, &steps)
            report(forwarding, best.status, &out)
        }
        forget(id)
    }

    private func report(_ forwarding: Forwarding, _ status: Int, _ out: inout [Output]) {
        guard forwarding.request.method == .invite, forwarding.request.to.tag == nil else { return }
        out.append(.event(.answered(to: forwarding.request.uri.user ?? "", status: status)))
    }

    private mutating func forget(_ id: ServerTransactionID) {
        forwardings[id] = nil
        branches = branches.filter { $0.value != id }
    }

    mutating func forgetEnded(at now: Instant) {
        let past = endings.prefix { $0.at <= now }
        endings.removeFirst(past.count)
        for ending in past { forget(ending.id) }
    }
}
