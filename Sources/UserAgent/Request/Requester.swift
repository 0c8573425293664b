import Primitives
import SIP

/// Sends requests for accounts: finds the servers, gets a flow, adds what every request carries (T8), answers
/// challenges (A1–A4), and goes on to the next server when one fails (T11).
///
/// Its owner opens a request, composes it whenever a flow is ready, and submits it.
struct Requester {
    /// Silence after which a UDP server is given up while there are others (T11).
    static let silence = Duration.seconds(8)
    /// For all look-ups of a request.
    static let locateTimeout = Duration.seconds(20)
    /// Larger requests go by TCP where the server has it, and those that come nearer than this to what the path carries
    /// (T9).
    static let largest = 1300
    static let pathMargin = 200
    static let largeConnectTimeout = Duration.seconds(4)
    static let largeMemory = Duration.seconds(600)
    /// Servers remembered to have no TCP.
    static let largeMemoryLimit = 64
    /// How long further 2xx to an INVITE are waited for: longer than its transaction.
    static let afterlife = Duration.seconds(40)

    struct Entry {
        enum State {
            case locating(Locator)
            case connecting
            /// Waits for its owner to submit.
            case ready(Flow)
            case sent(Flow)
        }
        var account: Account
        var path: RequestPath
        var state: State
        /// Not tried yet.
        var targets: [Target]
        var target: Target?
        var occasion = RequestOccasion.first
        var request: Request?
        var transaction: ClientTransactionID?
        var challenges = AuthenticationAttempts()
        /// Answers to the last challenge, for the request that is composed next.
        var answers: [Headers.Field] = []
        var isCancelled = false
        /// An INVITE that got its 2xx and waits for more of them (D5).
        var isAnswered = false
        /// The UDP flow of a request that is being tried by TCP for its size.
        var smallFlow: Flow?
        /// Whether its size matters no more.
        var goesAnySize = false
        /// When the present state is given up; nil where the transaction decides.
        var until: Instant?
    }

    var entries: [RequestID: Entry] = [:]
    var byTransaction: [ClientTransactionID: RequestID] = [:]
    var lookups: [LookupID: (request: RequestID, question: DNSQuestion)] = [:]
    private var credentials: [CredentialKey: Authenticator] = [:]
    var withoutTCP: [SocketAddress: Instant] = [:]
    var avoided = AvoidedTargets()
    let hashes: Hashes
    private let pathMTU: (IPAddress) -> Int?
    /// Product and version; empty: they are not told (SEC11).
    var product: String
    var usesIPv6: Bool
    /// Before the clock is set no certificate can be judged (R10).
    var isClockSet = true

    init(hashes: Hashes, product: String, usesIPv6: Bool, pathMTU: @escaping (IPAddress) -> Int?) {
        self.pathMTU = pathMTU
        self.hashes = hashes
        self.product = product
        self.usesIPv6 = usesIPv6
    }

    var deadline: Instant? { entries.values.lazy.compactMap(\.until).min() }

    private struct CredentialKey: Hashable {
        var account: String
        var user: String
        var secret: String

        init(_ account: Account) {
            self.account = account.name
            user = account.authUser
            secret = account.password.secret
        }
    }

    /// Forgets the nonces of accounts that are gone or have other credentials.
    mutating func keepCredentials(of accounts: some Sequence<Account>) {
        let keys = Set(accounts.map { CredentialKey($0) })
        credentials = credentials.filter { keys.contains($0.key) }
    }

    /// Whether a request is on its way to this address.
    func isTalking(to address: IPAddress) -> Bool {
        entries.values.contains { entry in
            switch entry.state {
            case .sent(let flow), .ready(let flow): flow.remote.address == address
            default: false
            }
        }
    }

    private func largest(to remote: IPAddress) -> Int {
        min(Self.largest, pathMTU(remote).map { $0 - Self.pathMargin } ?? Self.largest)
    }

    /// The flow along which a request went.
    func flow(of transaction: ClientTransactionID) -> Flow? {
        guard let id = byTransaction[transaction], case .sent(let flow)? = entries[id]?.state else { return nil }
        return flow
    }

    /// Whether `final` may come again: it is an INVITE that was answered.
    func awaitsMore(of id: RequestID) -> Bool { entries[id] != nil }

    // MARK: From the owner

    /// Begins: `ready` or `failed` comes next, perhaps in the same turn.
    mutating func open(
        _ account: Account, _ path: RequestPath, at now: Instant, _ wire: inout Wire, _ connections: inout Connections,
        _ events: inout [RequestEvent]
    ) -> RequestID {
        let id = RequestID(wire.nextNumber())
        if let flow = path.flow {
            entries[id] = Entry(
                account: account, path: path, state: .ready(flow), targets: avoided.sorted(path.alternatives, at: now))
            events.append(.ready(id, flow, .first))
            return id
        }
        guard let destination = account.destination(path.nextHop) else {
            events.append(.failed(id, .notLocated(.transportNotSupported)))
            return id
        }
        let locator = Locator(destination, ipv6: usesIPv6)
        entries[id] = Entry(
            account: account, path: path, state: .locating(locator), targets: [], until: now + Self.locateTimeout)
        locate(id, locator, at: now, &wire, &connections, &events)
        return id
    }

    /// Sends the composed request. Via, Max-Forwards, User-Agent and credentials are added here.
    ///
    /// An ACK has no transaction: it is forgotten when it is sent. A CANCEL keeps the Via of its INVITE and has no
    /// credentials.
    mutating func submit(
        _ id: RequestID, _ composed: Request, at now: Instant, _ wire: inout Wire, _ connections: inout Connections,
        _ events: inout [RequestEvent]
    ) {
        guard var entry = entries[id], case .ready(let flow) = entry.state else { return }
        var request = composed
        if request.method != .cancel {
            request.vias = [
                Via(
                    transport: flow.transport.viaName, host: Host(flow.local.address), port: flow.local.port,
                    branch: Via.magicCookie + wire.random.token(bits: 100), parameters: ["rport": nil])
            ]
        }
        if !request.headers.contains(.maxForwards) { request.headers.append(.maxForwards, "70") }
        if !product.isEmpty, !request.headers.contains(.userAgent) { request.headers.append(.userAgent, product) }
        if request.method == .ack {
            wire.transactions.sendStateless(request, on: flow, &wire.said)
            entries[id] = nil
            return
        }
        if request.method == .cancel {
            // It is matched by its INVITE (A3).
        } else if entry.answers.isEmpty {
            authenticator(of: entry.account) { $0.authorize(&request, &wire.random) }
        } else {
            for answer in entry.answers { request.headers.append(answer.name, answer.value) }
        }
        entry.request = request
        if flow.transport == .udp, !entry.goesAnySize, entry.account.transport == .auto, !entry.isCancelled,
            request.serialized().count > largest(to: flow.remote.address)
        {
            entry.goesAnySize = true
            if withoutTCP[flow.remote].map({ $0 <= now }) ?? true {
                entry.smallFlow = flow
                entry.state = .connecting
                entry.until = now + Self.largeConnectTimeout
                entries[id] = entry
                let target = Target(transport: .tcp, address: flow.remote, domain: entry.target?.domain ?? "")
                if let stream = connections.connect(to: target, .request(id), at: now, &wire) {
                    answered(id, .flow(stream), at: now, &wire, &connections, &events)
                }
                return
            }
        }
        entry.answers = []
        entry.state = .sent(flow)
        let transaction = wire.transactions.send(request, on: flow, at: now, &wire.said)
        entry.transaction = transaction
        entry.until = flow.transport == .udp && !entry.targets.isEmpty ? now + Self.silence : nil
        byTransaction[transaction] = id
        entries[id] = entry
    }

    /// Gives the request up: an INVITE on its way is cancelled as soon as its server allows (D6), and its end comes as
    /// `final` or `failed`; any other just ends. `reason`: the value of a Reason header.
    mutating func cancel(
        _ id: RequestID, reason: String? = nil, at now: Instant, _ wire: inout Wire,
        _ connections: inout Connections, _ events: inout [RequestEvent]
    ) {
        guard let entry = entries[id] else { return }
        if case .sent = entry.state, let transaction = entry.transaction, transaction.method == .invite {
            entries[id]?.isCancelled = true
            entries[id]?.until = nil
            wire.transactions.cancel(transaction, reason: reason, at: now, &wire.said)
        } else {
            abandon(id, &wire, &connections)
            events.append(.failed(id, .cancelled))
        }
    }

    /// The CANCEL of an INVITE on its way, for another way than the INVITE took; nil: it is not on its way.
    func cancellation(of id: RequestID) -> Request? {
        guard let entry = entries[id], case .sent = entry.state, let request = entry.request,
            request.method == .invite
        else { return nil }
        return request.cancellation()
    }

    /// Forgets the request without a word.
    mutating func abandon(_ id: RequestID, _ wire: inout Wire, _ connections: inout Connections) {
        if let transaction = entries[id]?.transaction { wire.transactions.forget(transaction) }
        remove(id)
        connections.forget(id)
    }

    mutating func remove(_ id: RequestID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        if let transaction = entry.transaction { byTransaction[transaction] = nil }
        lookups = lookups.filter { $0.value.request != id }
    }

    private mutating func authenticator<Value>(
        of account: Account, _ use: (inout Authenticator) -> Value
    ) -> Value {
        let key = CredentialKey(account)
        var authenticator =
            credentials[key]
            ?? Authenticator(
                AccountSecret(username: account.authUser, key: .password(account.password.secret)), hashes: hashes)
        defer { credentials[key] = authenticator }
        return use(&authenticator)
    }

    // MARK: From the transactions

    /// Whether the transaction was one of ours.
    mutating func received(
        _ transaction: ClientTransactionID, _ response: Response, at now: Instant, _ wire: inout Wire,
        _ connections: inout Connections, _ events: inout [RequestEvent]
    ) -> Bool {
        guard let id = byTransaction[transaction], let entry = entries[id], let request = entry.request,
            case .sent(let flow) = entry.state
        else { return false }
        if let target = entry.target, response.status != 503 { avoided.worked(target) }
        if response.isProvisional {
            entries[id]?.until = nil
            events.append(.provisional(id, response))
            return true
        }
        switch response.status {
        case 401, 407:
            if !entry.isCancelled, answerChallenge(id, response, to: request, &wire) {
                byTransaction[transaction] = nil
                entries[id]?.transaction = nil
                entries[id]?.state = .ready(flow)
                entries[id]?.until = nil
                events.append(.ready(id, flow, .authorized))
                return true
            }
        case 503:
            if let target = entry.target {
                avoided.failed(target, retryAfter: response.retryAfter.map { .seconds(Int64($0)) }, at: now)
            }
            if !entry.isCancelled, !entry.targets.isEmpty {
                tryNext(id, .unreachable, at: now, &wire, &connections, &events)
                return true
            }
        default: break
        }
        if request.method == .invite, response.isSuccess {
            if !entry.isAnswered { entries[id]?.until = now + Self.afterlife }
            entries[id]?.isAnswered = true
        } else {
            remove(id)
        }
        authenticator(of: entry.account) { $0.succeeded(response) }
        events.append(.final(id, response, sent: request, flow))
        return true
    }

    /// Whether the request may be sent again with credentials.
    private mutating func answerChallenge(
        _ id: RequestID, _ response: Response, to request: Request, _ wire: inout Wire
    ) -> Bool {
        guard let entry = entries[id] else { return false }
        var challenges = entry.challenges
        let result = authenticator(of: entry.account) { authenticator in
            Swift.Result { () throws(Authenticator.Failure) in
                try authenticator.retry(request, after: response, &challenges, &wire.random)
            }
        }
        entries[id]?.challenges = challenges
        switch result {
        case .success(let retry):
            entries[id]?.answers = retry.headers.fields.filter {
                $0.name == .authorization || $0.name == .proxyAuthorization
            }
            return true
        case .failure(.credentialsRejected): return false
        case .failure(let failure):
            wire.note(.warning, account: entry.account.name, failure.text)
            return false
        }
    }

    /// Whether the transaction was one of ours.
    mutating func failed(
        _ transaction: ClientTransactionID, _ failure: TransactionFailure, at now: Instant, _ wire: inout Wire,
        _ connections: inout Connections, _ events: inout [RequestEvent]
    ) -> Bool {
        guard let id = byTransaction[transaction], let entry = entries[id] else { return false }
        guard !entry.isAnswered else {
            remove(id)
            return true
        }
        if let target = entry.target { avoided.failed(target, at: now) }
        if !entry.isCancelled, !entry.targets.isEmpty {
            tryNext(id, .unreachable, at: now, &wire, &connections, &events)
            return true
        }
        remove(id)
        switch failure {
        case .timeout: events.append(.failed(id, .timeout))
        case .transport(let failure): events.append(.failed(id, .transport(failure)))
        }
        return true
    }
}

extension Authenticator.Failure {
    fileprivate var text: String {
        switch self {
        case .credentialsRejected(let realm): "realm \(realm) refused the password"
        case .noSupportedChallenge: "the server asks for a kind of authentication that is not supported"
        case .malformedChallenge: "the server's challenge is malformed"
        case .downgraded(let realm): "realm \(realm) offers only MD5 now: not answered"
        case .tooManyChallenges: "the server challenges again and again"
        }
    }
}
