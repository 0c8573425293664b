package import Primitives
import SIP

/// The SIP user agent: accounts, their registrations and calls, over the flows that the edge gives it.
///
/// Everything comes in by `handle` and goes out by its last argument; `deadline` says when it wants to be called
/// though nothing happened.
package struct Agent {
    /// Who waits for the end of a request.
    enum RequestOwner {
        case registration(RegistrationKey)
        /// A call's request of this number.
        case call(CallKey, Int)
        case subscription(SubscriptionKey)
        /// Composed beforehand; nobody asks what becomes of it.
        case composed(Request)
    }

    /// Names a registration; an account that is set up anew gets another one.
    typealias RegistrationKey = UInt64

    /// How long `stop` waits for answers (R9).
    static let stopLimit = Duration.seconds(2)
    /// How much of it the calls may take before the registrations go too.
    static let goodbyeLimit = Duration.milliseconds(500)
    /// Between the first REGISTERs of accounts (R5).
    static let stagger = Duration.milliseconds(50)...Duration.milliseconds(250)

    /// Whether `heard` tells each message of a stream, which the edge sees in portions only.
    package var tellsMessages = false
    var settings: UserAgentSettings
    let capabilities: UserAgentCapabilities
    var wire: Wire
    var connections = Connections()
    var requester: Requester
    var registrations: [RegistrationKey: Registration] = [:]
    /// The registration of each account by its name.
    var current: [String: RegistrationKey] = [:]
    /// Registrations of accounts that are gone or changed, until they are taken away.
    var leaving: [RegistrationKey: Instant] = [:]
    /// Accounts that register when their predecessor is taken away.
    var succeeding: [RegistrationKey: RegistrationKey] = [:]
    var owners: [RequestID: RequestOwner] = [:]
    var calls: [CallKey: Call] = [:]
    /// Calls by their dialogs, early ones too.
    var dialogs: [DialogKey: CallKey] = [:]
    /// Calls by their peer's first INVITE, for its CANCEL.
    var invites: [ServerTransactionID: CallKey] = [:]
    var callRequests: [CallRequest: RequestID] = [:]
    var callLookups: [LookupID: CallKey] = [:]
    /// Calls that were made by a REFER, and the call that it came in (D14).
    var referrals: [CallKey: CallKey] = [:]
    /// The flow that each call spoke along last.
    var callFlows: [CallKey: Flow] = [:]
    var subscriptions: [SubscriptionKey: Subscription] = [:]
    var keepAlives = KeepAlives()
    var probes = FlowProbes()
    var rates = RateLimits()
    var sources = SourceDirectory()
    /// Of accounts that challenge, by name (A5).
    var challengers: [String: Challenger] = [:]
    /// Octets of the datagram that is being worked on: no refusal to a stranger is larger (SEC5).
    var heardOctets = Int.max
    var trust = TrustTable()
    /// What `trust` is made of is another since it was made.
    var isTrustStale = true
    /// Of those that have one.
    var registrationDeadlines: [RegistrationKey: Instant] = [:]
    var callDeadlines: [CallKey: Instant] = [:]
    var stopBy: Instant?
    /// While calls are being ended: by then the registrations are taken away too.
    var unregisterAt: Instant?
    var isStopped = false

    var connectionEvents: [Connections.Event] = []
    var requestEvents: [RequestEvent] = []
    /// Registrations that have another status than was said.
    var changed: Set<RegistrationKey> = []
    var said: [RegistrationKey: AccountStatus] = [:]

    /// Begins; the first outputs come with the first input.
    package init(settings: UserAgentSettings, capabilities: UserAgentCapabilities, at now: Instant) {
        self.settings = settings
        self.capabilities = capabilities
        wire = Wire(random: capabilities.random)
        requester = Requester(
            hashes: capabilities.hashes, product: settings.product, usesIPv6: settings.ipv6,
            pathMTU: capabilities.pathMTU)
        addAccounts(settings.accounts, at: now)
        wantSources(at: now)
        renewTrust()
        wantSubscriptions(at: now)
    }

    /// When `deadlineReached` is next due; nil while nothing is pending.
    package var deadline: Instant? {
        if isStopped { return nil }
        return earliest(
            stopBy, unregisterAt, keepAlives.deadline, probes.deadline, sources.deadline, requester.deadline,
            connections.deadline,
            wire.transactions.deadline, registrationDeadlines.values.min(), callDeadlines.values.min(),
            leaving.values.min(), subscriptions.values.lazy.compactMap(\.deadline).min())
    }

    /// In the order of the configuration.
    package var accountStatuses: [AccountStatus] {
        settings.accounts.compactMap { account in
            current[account.name].flatMap { registrations[$0]?.status }
        }
    }

    /// In the order in which they began.
    package var callStatuses: [CallStatus] {
        calls.keys.sorted().compactMap { key in calls[key].flatMap { $0.isOver ? nil : $0.status } }
    }

    package mutating func handle(_ input: UserAgentInput, at now: Instant, _ out: inout [UserAgentOutput]) {
        if !isStopped { take(input, at: now) }
        settle(at: now)
        if isTrustStale { renewTrust() }
        out += wire.out
        wire.out = []
    }

    private mutating func take(_ input: UserAgentInput, at now: Instant) {
        switch input {
        case .received(let octets, let flow): received(octets, flow, at: now)
        case .connected(let id, let flow): connections.connected(id, flow, at: now, &wire, &connectionEvents)
        case .connectFailed(let id, let failure):
            connections.connectFailed(id, failure, at: now, &wire, &connectionEvents)
        case .flowFailed(let flow, let failure): connections.failed(flow, failure, &connectionEvents)
        case .lookedUp(let id, let answer):
            if requester.lookedUp(id, answer, at: now, &wire, &connections, &requestEvents) { break }
            if sources.lookedUp(id, answer, at: now, &wire) {
                isTrustStale = true
            } else {
                lookedUpForCall(id, answer, at: now)
            }
        case .networkChanged: lookAtRoutes(at: now)
        case .resolverChanged: resolverChanged(at: now)
        case .clockChanged(let isSet): clockChanged(isSet: isSet, at: now)
        case .configure(let settings): configure(settings, at: now)
        case .register(let account): register(account, at: now)
        case .unregister(let account): unregister(account, at: now)
        case .stop: stop(at: now)
        case .deadlineReached: deadlineReached(at: now)
        case .dial(let order): dial(order, at: now)
        case .ring(let key): tell(key, .ring, at: now)
        case .answer(let key): tell(key, .answer, at: now)
        case .reject(let key, let code): tell(key, .reject(code: code), at: now)
        case .redirect(let key, let uri): tell(key, .redirect(uri), at: now)
        case .hangUp(let key, let reason): tell(key, .hangUp(reason), at: now)
        case .hold(let key): tell(key, .hold, at: now)
        case .resume(let key): tell(key, .resume, at: now)
        case .transfer(let key, let target): transfer(key, to: target, at: now)
        case .sendDigit(let key, let digit): tell(key, .sendDigit(digit), at: now)
        }
    }

    private mutating func deadlineReached(at now: Instant) {
        wire.transactions.deadlineReached(at: now, &wire.said)
        requester.deadlineReached(at: now, &wire, &connections, &requestEvents)
        connections.deadlineReached(at: now, &wire, &connectionEvents)
        sources.deadlineReached(at: now, usesIPv6: settings.ipv6, &wire)
        for flow in keepAlives.takeDue(at: now, random: &wire.random) {
            if probes.uses(flow) {
                probes.ask(flow, at: now, &wire)
            } else {
                wire.send([0x0D, 0x0A, 0x0D, 0x0A], flow)
            }
        }
        for flow in probes.deadlineReached(at: now, &wire) { connectionEvents.append(.ended(flow, .timedOut)) }
        for key in registrationDeadlines.filter({ $0.value <= now }).keys.sorted() {
            update(key, at: now) { registration, _, out in registration.deadlineReached(at: now, &out) }
        }
        for key in callDeadlines.filter({ $0.value <= now }).keys.sorted() {
            tell(key, .deadlineReached, at: now)
        }
        for (key, subscription) in subscriptions where subscription.deadline.map({ $0 <= now }) ?? false {
            update(key, at: now) { subscription, random, out in
                subscription.deadlineReached(random: &random, at: now, &out)
            }
        }
        for (key, until) in leaving where until <= now { removed(key, at: now) }
        goOnStopping(at: now)
        if let stopBy, stopBy <= now { stopped() }
    }

    /// Carries out what the parts said until none of them has anything left to say.
    private mutating func settle(at now: Instant) {
        while true {
            if !wire.said.isEmpty {
                let said = wire.said
                wire.said = []
                for output in said { carryOut(output, at: now) }
            } else if !connectionEvents.isEmpty {
                let events = connectionEvents
                connectionEvents = []
                for event in events { carryOut(event, at: now) }
            } else if !requestEvents.isEmpty {
                let events = requestEvents
                requestEvents = []
                for event in events { carryOut(event, at: now) }
            } else if !changed.isEmpty {
                let keys = changed
                changed = []
                sayStatuses(of: keys, at: now)
                followAccounts(at: now)
            } else {
                return
            }
        }
    }

    private mutating func carryOut(_ output: TransactionLayer.Output, at now: Instant) {
        switch output {
        case .send(let octets, let flow):
            connections.sent(along: flow, at: now)
            wire.send(octets, flow)
        case .sendAnew(let octets, let target):
            if let flow = connections.connect(to: target, .response(octets), at: now, &wire) {
                wire.send(octets, flow)
            }
        case .request(let request, let transaction, let flow): incoming(request, transaction, flow, at: now)
        case .cancelled(let transaction, let request):
            if let key = invites[transaction] { tell(key, .cancelled(by: request), at: now) }
        case .response(let transaction, let response, _):
            _ = requester.received(transaction, response, at: now, &wire, &connections, &requestEvents)
        case .failed(let transaction, let failure):
            if failure == .timeout, let flow = requester.flow(of: transaction) {
                // Not one octet came while the request waited: the flow is dead, whatever the kernel thinks (R6).
                connections.closeIfSilent(flow, since: now - TransactionTimers.timeout, &wire, &connectionEvents)
            }
            _ = requester.failed(transaction, failure, at: now, &wire, &connections, &requestEvents)
        case .stray2xx(let response, _): endStray(response, at: now)
        }
    }

    private mutating func carryOut(_ event: Connections.Event, at now: Instant) {
        switch event {
        case .message(let message, let flow): received(message, flow, at: now)
        case .malformed(let error, let flow):
            rates.chargeMalformed(flow.remote.address, isKnown: isKnown(flow.remote.address), at: now)
            wire.note(.debug, "from \(flow.remote): \(error.reason)")
        case .ended(let flow, let failure):
            wire.transactions.flowFailed(flow, failure, at: now, &wire.said)
            for key in registrations.keys.sorted() {
                update(key, at: now) { registration, random, out in
                    registration.flowFailed(flow, random: &random, at: now, &out)
                }
            }
        case .answered(_, let waiters, let result):
            for waiter in waiters {
                switch waiter {
                case .request(let id):
                    requester.answered(id, result, at: now, &wire, &connections, &requestEvents)
                case .route(let remote): answeredRoute(to: remote, result, at: now)
                case .response(let octets):
                    if case .flow(let flow) = result { wire.send(octets, flow) }
                }
            }
        }
    }

    private mutating func carryOut(_ event: RequestEvent, at now: Instant) {
        switch event {
        case .located(let id, let targets):
            if case .registration(let key) = owners[id] { registrations[key]?.located(targets) }
            isTrustStale = true
        case .ready(let id, let flow, let occasion):
            switch owners[id] {
            case .registration(let key):
                update(key, at: now) { registration, _, out in registration.ready(id, flow, occasion, &out) }
            case .call(let key, let number):
                callFlows[key] = flow
                tell(key, .ready(number, flow, occasion), at: now)
            case .subscription(let key): ready(key, id, flow, occasion, at: now)
            case .composed(let request):
                requester.submit(id, request, at: now, &wire, &connections, &requestEvents)
            case nil: requester.abandon(id, &wire, &connections)
            }
        case .provisional(let id, let response):
            if case .call(let key, let number) = owners[id] { tell(key, .provisional(number, response), at: now) }
        case .final(let id, let response, let sent, let flow):
            switch owners[id] {
            case .registration(let key):
                owners[id] = nil
                update(key, at: now) { registration, random, out in
                    registration.answered(id, response, random: &random, at: now, &out)
                }
            case .call(let key, let number):
                // More of a 2xx may come.
                if !requester.awaitsMore(of: id) { forget(id, CallRequest(call: key, number: number)) }
                tell(key, .final(number, response, sent: sent, flow), at: now)
            case .subscription(let key):
                owners[id] = nil
                update(key, at: now) { subscription, random, out in
                    subscription.answered(id, response, to: sent, random: &random, at: now, &out)
                }
            case .composed, nil: owners[id] = nil
            }
        case .failed(let id, let failure):
            switch owners.removeValue(forKey: id) {
            case .registration(let key):
                update(key, at: now) { registration, random, out in
                    registration.failed(id, failure, random: &random, at: now, &out)
                }
            case .call(let key, let number):
                callRequests[CallRequest(call: key, number: number)] = nil
                tell(key, .failed(number, failure), at: now)
            case .subscription(let key):
                update(key, at: now) { subscription, random, out in
                    subscription.failed(id, failure, random: &random, at: now, &out)
                }
            case .composed, nil: break
            }
        }
    }
}
