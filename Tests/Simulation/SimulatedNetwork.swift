package import Primitives
package import SIP

/// How badly a simulated network behaves.
package struct NetworkConditions: Sendable {
    /// Time that each datagram takes, uniformly: a wide range reorders.
    package var latency: ClosedRange<Duration> = .milliseconds(1)...(.milliseconds(20))
    /// Share of datagrams lost, 0…1.
    package var loss = 0.0
    /// Share of datagrams that come twice, 0…1.
    package var duplication = 0.0
    /// Octets of a datagram, more than which is lost.
    package var mtu = 65_507

    package init() {}

    package static let ideal = NetworkConditions()

    /// Loss, duplication and reordering up to 500 ms, different for each seed (D20).
    package static func random(_ random: inout Randomness) -> NetworkConditions {
        var conditions = NetworkConditions()
        conditions.loss = Double.random(in: 0...0.3, using: &random)
        conditions.duplication = Double.random(in: 0...0.2, using: &random)
        conditions.latency = .milliseconds(1)...(.milliseconds(Int64.random(in: 5...500, using: &random)))
        return conditions
    }
}

/// Carries octets between addresses. Datagrams may be lost, doubled and reordered; streams keep their order and lose
/// nothing as long as both ends are up.
package struct SimulatedNetwork {
    package struct Arrival {
        package var at: Instant
        package var octets: [UInt8]
        /// As the receiver sees it.
        package var flow: Flow
        fileprivate var order: Int
    }

    package var conditions: NetworkConditions
    /// Addresses that nothing reaches and nothing leaves.
    package var down: Set<IPAddress> = []
    private var random: Randomness
    private var underway: [Arrival] = []
    private var sent = 0
    private var lastOnStream: [Flow: Instant] = [:]

    package init(seed: UInt64, conditions: NetworkConditions = .ideal) {
        random = .seeded(seed)
        self.conditions = conditions
    }

    /// When something arrives next.
    package var deadline: Instant? { underway.first?.at }

    /// `flow` as the sender sees it.
    package mutating func send(_ octets: [UInt8], _ flow: Flow, at now: Instant) {
        guard !down.contains(flow.local.address) else { return }
        var mirrored = flow
        swap(&mirrored.local, &mirrored.remote)
        if flow.transport.isStream {
            let at = max(now + random.duration(in: conditions.latency), lastOnStream[mirrored] ?? now)
            lastOnStream[mirrored] = at
            return insert(octets, mirrored, at: at)
        }
        guard octets.count <= conditions.mtu, !happens(conditions.loss) else { return }
        insert(octets, mirrored, at: now + random.duration(in: conditions.latency))
        if happens(conditions.duplication) {
            insert(octets, mirrored, at: now + random.duration(in: conditions.latency))
        }
    }

    /// What has arrived by now, in order.
    package mutating func arrivals(at now: Instant) -> [Arrival] {
        let count = underway.prefix { $0.at <= now }.count
        defer { underway.removeFirst(count) }
        return underway.prefix(count).filter { !down.contains($0.flow.local.address) }
    }

    private mutating func happens(_ share: Double) -> Bool {
        share > 0 && Double.random(in: 0..<1, using: &random) < share
    }

    private mutating func insert(_ octets: [UInt8], _ flow: Flow, at instant: Instant) {
        sent += 1
        let arrival = Arrival(at: instant, octets: octets, flow: flow, order: sent)
        let index = underway.firstIndex { ($0.at, $0.order) > (instant, sent) } ?? underway.endIndex
        underway.insert(arrival, at: index)
    }
}
