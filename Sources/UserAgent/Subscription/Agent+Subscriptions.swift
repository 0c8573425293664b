import Configuration
import Primitives
package import SIP

/// Events: what accounts subscribe to, and what their servers tell unasked (D17).
extension Agent {
    struct SubscriptionKey: Hashable {
        var account: String
        var subject: Subscription.Subject
    }

    /// Subscriptions that the accounts are to have from now on.
    mutating func wantSubscriptions(at now: Instant) {
        var wanted = Set(
            settings.watchedPhones.map { SubscriptionKey(account: $0.account, subject: .phone($0.uri)) })
        for account in settings.accounts where account.mwi == .subscribe {
            wanted.insert(SubscriptionKey(account: account.name, subject: .messages))
        }
        let known = Set(settings.accounts.map(\.name))
        for key in Array(subscriptions.keys) where !wanted.contains(key) || !known.contains(key.account) {
            update(key, at: now) { subscription, _, out in subscription.end(&out) }
            subscriptions[key] = nil
        }
        for key in wanted where subscriptions[key] == nil && known.contains(key.account) {
            subscriptions[key] = Subscription(account: key.account, key.subject)
        }
        followAccounts(at: now)
    }

    /// Tells the subscriptions how their accounts stand.
    mutating func followAccounts(at now: Instant) {
        guard stopBy == nil else { return }
        for key in Array(subscriptions.keys) {
            guard let registration = current[key.account].flatMap({ registrations[$0] }) else { continue }
            let isReady = registration.isRegistered || !registration.account.registers
            let contact = registration.flow.map { registration.dialogAccount.contact(on: $0) }
            update(key, at: now) { subscription, random, out in
                subscription.account(isReady: isReady, contact: contact, random: &random, at: now, &out)
            }
        }
    }

    mutating func endSubscriptions(at now: Instant) {
        for key in Array(subscriptions.keys) {
            update(key, at: now) { subscription, _, out in subscription.end(&out) }
            subscriptions[key] = nil
        }
    }

    /// Lets a subscription work, and carries out what it wants.
    mutating func update(
        _ key: SubscriptionKey, at now: Instant,
        _ work: (inout Subscription, inout Randomness, inout [Subscription.Output]) -> Void
    ) {
        guard var subscription = subscriptions[key] else { return }
        var outputs: [Subscription.Output] = []
        work(&subscription, &wire.random, &outputs)
        subscriptions[key] = subscription
        for output in outputs { carryOut(output, of: key, at: now) }
    }

    private mutating func carryOut(_ output: Subscription.Output, of key: SubscriptionKey, at now: Instant) {
        guard let registration = current[key.account].flatMap({ registrations[$0] }) else { return }
        let account = registration.account
        switch output {
        case .open(let path):
            let way = path ?? self.path(of: key.subject, registration)
            let id = requester.open(account, way, at: now, &wire, &connections, &requestEvents)
            owners[id] = .subscription(key)
            subscriptions[key]?.opened(id)
        case .submit(let id, let request):
            requester.submit(id, request, at: now, &wire, &connections, &requestEvents)
        case .abandon(let id):
            owners[id] = nil
            requester.abandon(id, &wire, &connections)
        case .compose(let request, let path): send(request, for: account, path, at: now)
        case .phone(let state):
            guard case .phone(let uri) = key.subject else { return }
            wire.out.append(.event(.phone(WatchedPhone(account: key.account, uri: uri), state)))
        case .messages(let summary): wire.out.append(.event(.messages(account: key.account, summary)))
        case .note(let level, let text): wire.note(level, account: key.account, text)
        }
    }

    private func path(of subject: Subscription.Subject, _ registration: Registration) -> RequestPath {
        let target: SIPURI =
            switch subject {
            case .phone(let uri): uri
            case .messages: registration.account.uri
            }
        let flow = registration.leads(to: target) ? registration.flow : nil
        return completed(
            RequestPath(to: target, routes: registration.routes, flow: flow), for: registration.account)
    }

    /// A flow is there for a SUBSCRIBE.
    mutating func ready(
        _ key: SubscriptionKey, _ id: RequestID, _ flow: Flow, _ occasion: RequestOccasion, at now: Instant
    ) {
        guard let registration = current[key.account].flatMap({ registrations[$0] }) else {
            return requester.abandon(id, &wire, &connections)
        }
        update(key, at: now) { subscription, _, out in
            subscription.ready(id, flow, occasion, registration.dialogAccount, routes: registration.routes, &out)
        }
    }

    // MARK: NOTIFY

    /// A NOTIFY in the dialog of a subscription.
    /// - Returns: whether it was one.
    mutating func notified(
        _ request: Request, _ transaction: ServerTransactionID, _ flow: Flow, at now: Instant
    ) -> Bool {
        guard let key = subscriptions.first(where: { $0.value.owns(request) })?.key,
            let registration = current[key.account]
        else { return false }
        // Of the server itself or nobody (SEC14).
        let source = subscriptions[key]?.source
        let isWhereWeAsked =
            source?.remote.address == flow.remote.address && source?.transport == flow.transport
        guard isWhereWeAsked || trust.serves(registration, flow) else {
            wire.transactions.ignore(transaction)
            wire.note(.warning, account: key.account, "NOTIFY from \(flow.remote): not its server")
            return true
        }
        var status = 481
        update(key, at: now) { subscription, random, out in
            status = subscription.notified(request, random: &random, at: now, &out)
        }
        var response = request.response(status)
        if status == 415 { response.headers.append(.accept, key.subject.contentType) }
        if status == 489 { response.headers.appendAllowEvents() }
        respond(transaction, response, at: now)
        return true
    }

    /// A NOTIFY out of every dialog: some servers tell of the mailbox without being asked.
    mutating func notifiedUnasked(
        _ request: Request, _ transaction: ServerTransactionID, _ flow: Flow, at now: Instant
    ) {
        guard let event = request.event,
            ["message-summary", "dialog"].contains(where: { event.hasToken($0) })
        else {
            // `check-sync` among them.
            var response = request.response(489)
            response.headers.appendAllowEvents()
            return respond(transaction, response, at: now)
        }
        guard event.hasToken("message-summary"), let choice = account(for: request, from: flow),
            choice.standing == .flow, choice.account.mwi != .no
        else { return respond(transaction, request.response(481), at: now) }
        guard request.contentType?.name == MessageSummary.contentType else {
            var response = request.response(415)
            response.headers.append(.accept, MessageSummary.contentType)
            return respond(transaction, response, at: now)
        }
        guard let summary = try? MessageSummary(request.body) else {
            return respond(transaction, request.response(400), at: now)
        }
        respond(transaction, request.response(200), at: now)
        wire.out.append(.event(.messages(account: choice.account.name, summary)))
    }

    // MARK: MESSAGE

    /// A text from a peer that may send one (D18): an event and nothing else. It makes no dialog.
    mutating func texted(
        _ request: Request, _ transaction: ServerTransactionID, _ choice: AccountChoice, at now: Instant
    ) {
        guard request.body.count <= TextMessage.limit else {
            return respond(transaction, request.response(413), at: now)
        }
        let charset = request.contentType?.parameters["charset"]?.lowercased() ?? "utf-8"
        guard request.contentType?.name == "text/plain", ["utf-8", "us-ascii"].contains(charset),
            let text = String(validating: request.body, as: UTF8.self)
        else {
            var response = request.response(415)
            response.headers.append(.accept, "text/plain")
            return respond(transaction, response, at: now)
        }
        respond(transaction, request.response(200), at: now)
        let caller = AssertedCaller(request, standing: choice.standing)
        let message = TextMessage(account: choice.account.name, from: caller.uri, fromName: caller.name, text: text)
        wire.out.append(.event(.message(message)))
    }
}

/// A text that a peer sent (RFC 3428).
package struct TextMessage: Equatable, Sendable {
    /// Octets; a longer one is refused (D18).
    package static let limit = 8 * 1024

    package var account: String
    /// The asserted sender (I7).
    package var from: SIPURI
    package var fromName: String
    /// As sent: control characters are for the shower to escape.
    package var text: String
}
