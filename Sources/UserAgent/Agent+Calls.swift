import Primitives
import SIP

/// Calls of both directions: they are made here, found for what comes in, and their wishes carried out.
extension Agent {
    /// Names a dialog from its first message on.
    struct DialogKey: Hashable {
        var callID: String
        var localTag: String
    }

    /// A request of a call, by the number that the call gave it.
    struct CallRequest: Hashable {
        var call: CallKey
        var number: Int
    }

    /// Calls in all, those that are over but not yet said good-bye to among them (SEC12).
    static let callLimit = 1024

    // MARK: Out

    mutating func dial(_ order: DialOrder, at now: Instant) {
        guard let registration = current[order.account].flatMap({ registrations[$0] }), calls[order.call] == nil,
            calls.count < Self.callLimit
        else {
            var status = CallStatus(
                call: order.call, direction: .outgoing, state: .ended, account: order.account,
                remote: order.uri.addressOfRecord, remoteName: "", since: now, sipCallID: "")
            status.cause = CallCause.failed.rawValue
            status.reason = "no such account, or too many calls"
            return wire.out.append(.event(.call(status)))
        }
        var outputs: [Call.Output] = []
        let call = Call(
            dialling: order, for: registration.dialogAccount, routes: registration.routes,
            flow: registration.leads(to: order.uri) ? registration.flow : nil, capabilities: callCapabilities(),
            at: now, &outputs)
        add(call)
        for output in outputs { carryOut(output, of: order.call, at: now) }
    }

    /// With a source of randomness of its own.
    private mutating func callCapabilities() -> UserAgentCapabilities {
        var own = capabilities
        own.random = wire.random.forked()
        return own
    }

    private mutating func add(_ call: Call) {
        calls[call.key] = call
        callDeadlines[call.key] = call.deadline
        dialogs[DialogKey(callID: call.callID, localTag: call.localTag)] = call.key
    }

    // MARK: In

    /// A new call that passed every check but trust, description and limits (D1).
    mutating func invited(
        _ request: Request, _ transaction: ServerTransactionID, _ flow: Flow, _ choice: AccountChoice,
        at now: Instant
    ) {
        let account = choice.account
        let caller = AssertedCaller(request, standing: choice.standing)
        let (decision, why) = account.answer(request, caller: caller, standing: choice.standing)
        let key = capabilities.numbering.next()
        let call: Call
        let answer: IncomingCall.Answer
        let replaced: CallKey?
        do throws(Call.Refusal) {
            guard let decision else { throw Call.Refusal(status: 403, text: why) }
            answer = decision
            replaced = try replacedCall(by: request, for: account)
            call = try Call(
                answering: request, transaction, on: flow, as: key, for: account, caller: caller.uri,
                callerName: caller.name, capabilities: callCapabilities(), at: now)
            guard calls.values.lazy.filter({ !$0.isOver && $0.key != replaced }).count < settings.maxCalls,
                calls.count < Self.callLimit
            else {
                capabilities.releasePort(key)
                throw Call.Refusal(status: 486, text: "there are \(settings.maxCalls) calls already")
            }
        } catch {
            var response = request.response(error.status)
            response.headers = error.headers
            tellRefused(request, flow, account: account.name, code: error.status, error.text)
            return respond(transaction, response, at: now)
        }
        add(call)
        invites[transaction] = key
        callFlows[key] = flow
        wire.note(.info, account: account.name, call: key, replaced == nil ? why : "takes the place of another call")
        var incoming = IncomingCall(
            call: key, account: account.name, why: choice.why, caller: caller.uri, callerName: caller.name,
            answer: answer)
        incoming.replaces = replaced
        wire.out.append(.event(.incoming(incoming)))
        if let replaced { replace(replaced, by: key, at: now) }
    }

    /// A request in a dialog; an ACK has no transaction.
    mutating func dispatch(
        _ request: Request, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) {
        let dialog = DialogKey(callID: request.callID, localTag: request.to.tag ?? "")
        if let key = dialogs[dialog] {
            let registration = calls[key].flatMap { current[$0.account.name] }
            let isServer = registration.map { trust.serves($0, flow) } ?? false
            tell(key, .request(request, transaction, flow, isServer: isServer), at: now)
        } else if let transaction {
            respond(transaction, request.response(481), at: now)
        }
    }

    mutating func lookedUpForCall(_ id: LookupID, _ answer: DNSAnswer, at now: Instant) {
        guard let key = callLookups.removeValue(forKey: id) else { return }
        var address: IPAddress?
        if case .records(let records) = answer {
            for case .address(let found) in records where address == nil { address = found }
        }
        tell(key, .resolved(address), at: now)
    }

    // MARK: Work

    mutating func tell(_ key: CallKey, _ input: Call.Input, at now: Instant) {
        var outputs: [Call.Output] = []
        calls[key]?.handle(input, at: now, &outputs)
        callDeadlines[key] = calls[key]?.deadline
        for output in outputs { carryOut(output, of: key, at: now) }
    }

    private mutating func carryOut(_ output: Call.Output, of key: CallKey, at now: Instant) {
        switch output {
        case .open(let number, let path):
            guard let call = calls[key] else { return }
            var path = completed(path, for: call.account)
            path.isNamedByServer = path.isNamedByServer || call.dialog != nil
            let id = requester.open(
                call.account, path, at: now, &wire, &connections, &requestEvents)
            owners[id] = .call(key, number)
            callRequests[CallRequest(call: key, number: number)] = id
        case .submit(let number, let request):
            guard let id = callRequests[CallRequest(call: key, number: number)] else { return }
            requester.submit(id, request, at: now, &wire, &connections, &requestEvents)
            if request.method == .ack { forget(id, CallRequest(call: key, number: number)) }
        case .cancel(let number, let reason):
            guard let id = callRequests[CallRequest(call: key, number: number)] else { return }
            requester.cancel(id, reason: reason, at: now, &wire, &connections, &requestEvents)
        case .abandon(let number):
            guard let id = callRequests[CallRequest(call: key, number: number)] else { return }
            forget(id, CallRequest(call: key, number: number))
            requester.abandon(id, &wire, &connections)
        case .withdraw(let number):
            guard let call = calls[key], let id = callRequests[CallRequest(call: key, number: number)] else { return }
            let cancellation = requester.cancellation(of: id)
            forget(id, CallRequest(call: key, number: number))
            requester.abandon(id, &wire, &connections)
            guard let cancellation else { return }
            let path = RequestPath(to: cancellation.uri, routes: cancellation.routes)
            send(cancellation, for: call.account, completed(path, for: call.account), at: now)
        case .respond(let transaction, let response): respond(transaction, response, at: now)
        case .ignore(let transaction): wire.transactions.ignore(transaction)
        case .media(let plan): wire.out.append(.media(key, plan))
        case .status(let status):
            wire.out.append(.event(.call(status)))
            referralChanged(status, at: now)
        case .callReferred(let wanted): dial(wanted, for: key, at: now)
        case .transfer(let status):
            wire.out.append(.event(.transfer(status)))
            // A BYE instead of a NOTIFY says nothing of the other call: it is left to be replaced.
            if status.state == .done, status.code != nil, let other = status.other {
                tell(other, .hangUp(.transferred), at: now)
            }
        case .digit(let digit): wire.out.append(.event(.digit(key, digit: digit)))
        case .lookUp(let name, let isV6):
            let id = LookupID(wire.nextNumber())
            callLookups[id] = key
            wire.out.append(.lookUp(id, DNSQuestion(name, isV6 ? .aaaa : .a)))
        case .note(let level, let text):
            wire.note(level, account: calls[key]?.account.name, call: key, text)
        case .finished: finished(key, at: now)
        }
    }

    /// The first INVITE goes on to the account's other servers where the first does not answer; a domain whose
    /// registrar is set goes there.
    func completed(_ path: RequestPath, for account: Account) -> RequestPath {
        var path = path
        guard let registration = current[account.name].flatMap({ registrations[$0] }) else { return path }
        if let flow = path.flow {
            path.alternatives = registration.targets.filter {
                flow.transport.isStream || $0.address != flow.remote || $0.transport != flow.transport
            }
        } else if path.nextHop.host == account.uri.host, path.nextHop.port == nil {
            path.nextHop = account.registrar
        }
        return path
    }

    mutating func forget(_ id: RequestID, _ request: CallRequest) {
        owners[id] = nil
        callRequests[request] = nil
    }

    private mutating func finished(_ key: CallKey, at now: Instant) {
        guard let call = calls.removeValue(forKey: key) else { return }
        dialogs[DialogKey(callID: call.callID, localTag: call.localTag)] = nil
        callFlows[key] = nil
        callDeadlines[key] = nil
        referrals[key] = nil
        invites = invites.filter { $0.value != key }
        callLookups = callLookups.filter { $0.value != key }
        for (request, id) in callRequests where request.call == key {
            forget(id, request)
            requester.abandon(id, &wire, &connections)
        }
        goOnStopping(at: now)
    }
}

extension Registration {
    /// Proxies that requests out of a dialog pass: those that the registrar named, else the account's (T10).
    var routes: [NameAddress] {
        serviceRoutes.isEmpty ? account.outboundProxy.map { [.looseRoute($0)] } ?? [] : serviceRoutes
    }

    /// Whether requests for this URI go to the account's own servers.
    func leads(to uri: SIPURI) -> Bool {
        !routes.isEmpty || uri.scheme == .tel || uri.host == account.uri.host && uri.port == nil
            || uri.host == account.registrar.host && uri.port == account.registrar.port
    }
}
