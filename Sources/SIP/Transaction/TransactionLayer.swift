package import Primitives

/// All transactions: the table between the transport and their users (RFC 3261 §17, rules T1–T7, T14).
package struct TransactionLayer {
    package enum Output: Sendable {
        /// Along this flow: for UDP one datagram.
        case send([UInt8], Flow)
        /// A response whose connection is gone: it goes by a new one (T7).
        case sendAnew([UInt8], Target)
        /// A new request. An ACK that belongs to a 2xx has no transaction and gets no response.
        case request(Request, ServerTransactionID?, Flow)
        /// The peer gave up an INVITE that has no final response yet. The CANCEL is answered already; the INVITE is to
        /// be answered with 487.
        case cancelled(ServerTransactionID, by: Request)
        /// For an INVITE each 2xx is handed up, repeats too (D5, T4); everything else once.
        case response(ClientTransactionID, Response, Flow)
        /// The transaction ended without a final response.
        case failed(ClientTransactionID, TransactionFailure)
        /// A 2xx to an INVITE that no transaction knows any more: it wants ACK and BYE (D5).
        case stray2xx(Response, Flow)
    }

    /// Transactions of each side at once, more than which are refused (SEC12).
    package static let limit = 8192

    var clients: [ClientTransactionID: ClientEntry] = [:]
    var servers: [ServerTransactionID: ServerEntry] = [:]
    var merges: [MergeKey: ServerTransactionID] = [:]
    /// When a merge key may be forgotten, in the order of time.
    var mergeEnds: [(until: Instant, key: MergeKey)] = []
    private var deadlines = DeadlineQueue<TransactionID>()
    var random: Randomness

    package init(random: Randomness) { self.random = random }

    /// When `deadlineReached` is next due; nil while nothing is pending. May be early, never late.
    package var deadline: Instant? { deadlines.first?.instant }

    /// Transactions that are not over.
    package var count: Int { clients.count + servers.count }

    /// Runs every timer that is due.
    package mutating func deadlineReached(at now: Instant, _ out: inout [Output]) {
        while let (instant, id) = deadlines.first, instant <= now {
            deadlines.removeFirst()
            switch id {
            case .client(let id) where clients[id]?.scheduled == instant:
                clients[id]?.scheduled = nil
                step(id, .deadlineReached, at: now, &out)
            case .server(let id) where servers[id]?.scheduled == instant:
                servers[id]?.scheduled = nil
                step(id, .deadlineReached, at: now, &out)
            default: break
            }
        }
        dropOutdatedDeadlines()
    }

    /// A message came along the flow. Malformed ones never come here.
    package mutating func received(
        _ message: Message, on flow: Flow, at now: Instant, _ out: inout [Output]
    ) {
        switch message {
        case .request(let request): received(request, on: flow, at: now, &out)
        case .response(let response): received(response, on: flow, at: now, &out)
        }
        dropOutdatedDeadlines()
    }

    /// The flow is gone, or for UDP nobody listens at its end: what waits on it ends at once (D19).
    package mutating func flowFailed(
        _ flow: Flow, _ failure: TransportFailure, at now: Instant, _ out: inout [Output]
    ) {
        for (id, entry) in clients where entry.flow == flow { step(id, .transportFailed(failure), at: now, &out) }
        if flow.transport.isStream {
            for (id, entry) in servers where entry.flow == flow { servers[id]?.isFlowGone = true }
        }
        dropOutdatedDeadlines()
    }

    /// Our address on UDP is another one: what is still to be answered is answered from there.
    package mutating func rehome(from former: SocketAddress, to local: SocketAddress) {
        for (id, entry) in servers where entry.flow.transport == .udp && entry.flow.local == former {
            servers[id]?.flow.local = local
        }
    }

    // MARK: Timers

    enum TransactionID {
        case client(ClientTransactionID)
        case server(ServerTransactionID)
    }

    /// Notes when a transaction is next due; it remembers the same instant as `scheduled`.
    mutating func schedule(_ id: TransactionID, at instant: Instant) { deadlines.insert(id, at: instant) }

    private mutating func dropOutdatedDeadlines() {
        while let (instant, id) = deadlines.first {
            switch id {
            case .client(let id): if clients[id]?.scheduled == instant { return }
            case .server(let id): if servers[id]?.scheduled == instant { return }
            }
            deadlines.removeFirst()
        }
    }
}
