import Primitives
import SIP

/// A subscription of an account to an event of its server (RFC 6665, rule D17): to the dialogs of a phone, or to the
/// state of the account's mailbox.
///
/// It begins when its account is registered and is renewed as long as it is wanted. A server that refuses it is asked
/// again at the next registration only: calls never depend on it.
struct Subscription {
    enum Subject: Hashable {
        case phone(SIPURI)
        case messages

        var event: String {
            switch self {
            case .phone: "dialog"
            case .messages: "message-summary"
            }
        }

        var contentType: String {
            switch self {
            case .phone: DialogInformation.contentType
            case .messages: MessageSummary.contentType
            }
        }
    }

    enum Output {
        /// Open a request to the subject, or in the dialog on this path, and say its name by `opened`.
        case open(RequestPath?)
        case submit(RequestID, Request)
        case abandon(RequestID)
        /// Send this; nobody waits for its answer.
        case compose(Request, RequestPath)
        /// nil: nothing is known any more.
        case phone(PhoneState?)
        case messages(MessageSummary)
        case note(UserAgentNote.Level, String)
    }

    /// A SUBSCRIBE on its way.
    private struct Attempt {
        var id: RequestID?
        var contact: SIPURI?
        var isRefresh: Bool
        var request: Request?
    }

    /// What is asked for, seconds (D17).
    static let wish: UInt32 = 3600
    /// Less is not believed: a server must not make us ask again and again.
    static let leastExpiry: UInt32 = 30
    /// Until the first NOTIFY: timer N of RFC 6665.
    static let firstNotify = TransactionTimers.timeout
    /// After failures: from the first to the last, doubling.
    static let firstRetry = Duration.seconds(30)
    static let lastRetry = Duration.seconds(300)
    static let longestRetryAfter = Duration.seconds(3600)
    /// A subscription that ended sooner is not begun again at once.
    static let settled = Duration.seconds(10)

    let account: String
    let subject: Subject
    private(set) var callID = ""
    private(set) var localTag = ""
    private var cseq: UInt32 = 0
    private(set) var dialog: Dialog?
    private var attempt: Attempt?
    /// When to refresh, or to try again.
    private var due: Instant?
    /// When the server forgets it.
    private var expiresAt: Instant?
    private var notifyBy: Instant?
    private var begunAt = Instant.zero
    private var failures = 0
    /// The Contact that the server has.
    private var contact: SIPURI?
    /// The account can be used: registered, or without a registrar.
    private var isReady = false
    /// Along which the server was asked last.
    private(set) var source: Flow?
    private var phone = PhoneDialogs()
    private var said: PhoneState?
    private var hasNoted = false
    /// What a 423 demanded.
    private var minExpires: UInt32 = 0

    init(account: String, _ subject: Subject) {
        self.account = account
        self.subject = subject
    }

    var deadline: Instant? {
        earliest(attempt == nil ? due : nil, notifyBy)
    }

    /// A NOTIFY is for this subscription if it has these.
    func owns(_ request: Request) -> Bool { request.callID == callID && request.to.tag == localTag }

    // MARK: The account

    /// The account became usable or unusable, or has another Contact.
    mutating func account(
        isReady: Bool, contact: SIPURI?, random: inout Randomness, at now: Instant, _ out: inout [Output]
    ) {
        let wasReady = self.isReady
        self.isReady = isReady
        guard isReady else { return }
        if !wasReady {
            failures = 0
            minExpires = 0
            hasNoted = false
        }
        if let contact, let known = self.contact, contact != known, dialog != nil {
            // NOTIFYs come to where we are now.
            abandon(&out)
            refresh(&out)
        } else if !wasReady, attempt == nil, dialog == nil {
            begin(&random, at: now, &out)
        }
    }

    /// Nobody wants it any more.
    mutating func end(_ out: inout [Output]) {
        abandon(&out)
        due = nil
        notifyBy = nil
        guard var dialog else { return }
        var request = dialog.request(.subscribe)
        complete(&request, contact: contact, expires: 0)
        self.dialog = nil
        out.append(.compose(request, RequestPath(to: dialog.nextHop)))
    }

    // MARK: Requests

    private mutating func begin(_ random: inout Randomness, at now: Instant, _ out: inout [Output]) {
        abandon(&out)
        callID = random.token(bits: 128)
        localTag = random.token(bits: 96)
        cseq = 0
        dialog = nil
        phone = PhoneDialogs()
        due = nil
        begunAt = now
        attempt = Attempt(isRefresh: false)
        out.append(.open(nil))
    }

    private mutating func refresh(_ out: inout [Output]) {
        guard let dialog else { return }
        due = nil
        attempt = Attempt(isRefresh: true)
        out.append(.open(RequestPath(to: dialog.nextHop)))
    }

    private mutating func abandon(_ out: inout [Output]) {
        if let id = attempt?.id { out.append(.abandon(id)) }
        attempt = nil
    }

    mutating func opened(_ id: RequestID) { attempt?.id = id }

    /// Composes the SUBSCRIBE for a flow. `account`: whose it is, with its routes.
    mutating func ready(
        _ id: RequestID, _ flow: Flow, _ occasion: RequestOccasion, _ account: Account, routes: [NameAddress],
        _ out: inout [Output]
    ) {
        guard var attempt, attempt.id == id else { return }
        source = flow
        let contact = account.contact(on: flow)
        var request: Request
        if occasion == .again, let former = attempt.request {
            request = former
            request.headers.set(.contact, NameAddress(contact).description)
        } else if attempt.isRefresh, var dialog {
            request = dialog.request(.subscribe)
            self.dialog = dialog
            complete(&request, contact: contact, expires: max(Self.wish, minExpires))
        } else {
            cseq = cseq < 0x7FFF_FFFF ? cseq + 1 : 1
            // A NOTIFY may have made the dialog before the challenge was answered.
            dialog?.advance(to: cseq)
            request = initial(account, routes)
            complete(&request, contact: contact, expires: max(Self.wish, minExpires))
        }
        attempt.contact = contact
        attempt.request = request
        self.attempt = attempt
        out.append(.submit(id, request))
    }

    private func initial(_ account: Account, _ routes: [NameAddress]) -> Request {
        let aor = account.uri.addressOfRecord
        let target: SIPURI =
            switch subject {
            case .phone(let uri): uri
            case .messages: aor
            }
        let displayName = account.displayName.isEmpty ? nil : account.displayName
        var request = Request(
            .subscribe, target, from: NameAddress(aor, displayName: displayName, parameters: ["tag": localTag]),
            to: NameAddress(target.addressOfRecord), callID: callID, cseq: cseq)
        for route in routes { request.headers.append(.route, route.description) }
        return request
    }

    private func complete(_ request: inout Request, contact: SIPURI?, expires: UInt32) {
        if let contact { request.headers.append(.contact, NameAddress(contact).description) }
        request.headers.append(.event, subject.event)
        request.headers.append(.accept, subject.contentType)
        request.headers.append(.expires, String(expires))
        request.headers.appendAllow()
    }

    // MARK: Answers

    mutating func answered(
        _ id: RequestID, _ response: Response, to sent: Request, random: inout Randomness, at now: Instant,
        _ out: inout [Output]
    ) {
        guard let attempt, attempt.id == id else { return }
        self.attempt = nil
        switch response.status {
        case 200..<300:
            contact = attempt.contact
            if dialog == nil {
                dialog = Dialog(request: sent, response: response)
                notifyBy = now + Self.firstNotify
            } else {
                dialog?.advance(to: sent.cseq.number)
                if attempt.isRefresh { dialog?.refreshTarget(from: response) }
            }
            granted(response.expires ?? Self.wish, at: now)
        case 423:
            guard let wanted = response.minExpires, minExpires == 0, wanted > Self.wish,
                wanted <= Registration.longestMinExpires
            else { return refused(response, random: &random, at: now, &out) }
            minExpires = wanted
            if attempt.isRefresh { refresh(&out) } else { begin(&random, at: now, &out) }
        case 481 where attempt.isRefresh:
            // The server has forgotten it.
            lose(&out)
            begin(&random, at: now, &out)
        default: refused(response, random: &random, at: now, &out)
        }
    }

    private mutating func refused(
        _ response: Response, random: inout Randomness, at now: Instant, _ out: inout [Output]
    ) {
        lose(&out)
        switch response.status {
        case 400, 401, 403, 404, 405, 407, 415, 416, 420, 489, 501, 600..<700:
            note(.info, "refused: \(response.status) \(response.reason); asked again when it registers anew", &out)
        default: retry(after: response.retryAfter, random: &random, at: now)
        }
    }

    mutating func failed(
        _ id: RequestID, _ failure: RequestFailure, random: inout Randomness, at now: Instant, _ out: inout [Output]
    ) {
        guard let attempt, attempt.id == id else { return }
        self.attempt = nil
        note(.info, failure.text, &out)
        // What is known stays until it has expired.
        if !attempt.isRefresh || expiresAt.map({ $0 <= now }) ?? true { lose(&out) }
        retry(after: nil, random: &random, at: now)
    }

    /// The server says how long it lasts (D17: renewed at nine tenths of it).
    private mutating func granted(_ seconds: UInt32, at now: Instant) {
        let time = Duration.seconds(Int64(max(seconds, Self.leastExpiry)))
        expiresAt = now + time
        due = now + time * 9 / 10
    }

    private mutating func retry(after seconds: UInt32?, random: inout Randomness, at now: Instant) {
        let full = min(Self.lastRetry, Self.firstRetry * (1 << min(failures, 8)))
        failures += 1
        let wait = random.duration(in: full...min(Self.lastRetry, full * 3 / 2))
        due = now + (seconds.map { min(.seconds(Int64($0)), Self.longestRetryAfter) } ?? wait)
    }

    /// Nothing is subscribed to, and nothing is known, any more.
    private mutating func lose(_ out: inout [Output]) {
        dialog = nil
        due = nil
        notifyBy = nil
        expiresAt = nil
        say(nil, &out)
    }

    private mutating func note(_ level: UserAgentNote.Level, _ text: String, _ out: inout [Output]) {
        guard !hasNoted else { return }
        hasNoted = true
        let what =
            switch subject {
            case .phone(let uri): "watching \(uri)"
            case .messages: "subscription to the mailbox"
            }
        out.append(.note(level, "\(what): \(text)"))
    }

    private mutating func say(_ state: PhoneState?, _ out: inout [Output]) {
        guard case .phone = subject, state != said else { return }
        said = state
        out.append(.phone(state))
    }

    // MARK: The server

    /// A NOTIFY that `owns` accepted.
    /// - Returns: the status of its response.
    mutating func notified(
        _ request: Request, random: inout Randomness, at now: Instant, _ out: inout [Output]
    ) -> Int {
        guard request.event?.hasToken(subject.event) ?? false else { return 489 }
        let tag = request.from.tag ?? ""
        if let dialog {
            guard dialog.id.remoteTag == tag else { return 481 }
        } else {
            // It may be here before the 2xx, and makes the dialog then.
            guard attempt != nil else { return 481 }
            dialog = Dialog(answering: request, localTag: localTag)
            dialog?.advance(to: cseq)
            return take(request, isFirst: true, random: &random, at: now, &out)
        }
        return take(request, isFirst: false, random: &random, at: now, &out)
    }

    private mutating func take(
        _ request: Request, isFirst: Bool, random: inout Randomness, at now: Instant, _ out: inout [Output]
    ) -> Int {
        if !isFirst, dialog?.accepts(request) == false { return 500 }
        if !request.body.isEmpty {
            guard request.contentType?.name == subject.contentType else { return 415 }
            guard read(request.body, &out) else { return 400 }
        }
        dialog?.refreshTarget(from: request)
        notifyBy = nil
        failures = 0
        hasNoted = false
        guard let state = request.subscriptionState else { return 400 }
        if state.hasToken("terminated") {
            terminated(state, random: &random, at: now, &out)
        } else if let seconds = state.parameters["expires"].flatMap({ deltaSeconds($0) }) {
            granted(seconds, at: now)
        }
        return 200
    }

    private mutating func read(_ body: [UInt8], _ out: inout [Output]) -> Bool {
        switch subject {
        case .phone:
            guard let information = try? DialogInformation(body) else { return false }
            phone.take(information)
            say(phone.state, &out)
        case .messages:
            guard let summary = try? MessageSummary(body) else { return false }
            out.append(.messages(summary))
        }
        return true
    }

    private mutating func terminated(
        _ state: ParameterizedToken, random: inout Randomness, at now: Instant, _ out: inout [Output]
    ) {
        abandon(&out)
        lose(&out)
        let after = state.parameters["retry-after"].flatMap { deltaSeconds($0) }
        switch state.parameters["reason"]?.lowercased() {
        case "rejected", "noresource", "invariant":
            note(.info, "ended by its server; asked again when it registers anew", &out)
        case "probation", "giveup": retry(after: after, random: &random, at: now)
        default:
            // `deactivated`, `timeout` or no reason: at once, unless that would go on and on.
            if now - begunAt < Self.settled { return retry(after: after, random: &random, at: now) }
            if isReady { begin(&random, at: now, &out) }
        }
    }

    mutating func deadlineReached(random: inout Randomness, at now: Instant, _ out: inout [Output]) {
        if let notifyBy, now >= notifyBy {
            abandon(&out)
            lose(&out)
            note(.info, "its server does not say anything", &out)
            return retry(after: nil, random: &random, at: now)
        }
        guard attempt == nil, let due, now >= due else { return }
        self.due = nil
        // Without its account it rests until that is back.
        guard isReady else { return lose(&out) }
        if dialog != nil { refresh(&out) } else { begin(&random, at: now, &out) }
    }
}
