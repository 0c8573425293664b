package import Primitives

/// Targets that failed lately and are passed over while others exist (T11).
package struct AvoidedTargets: Sendable {
    /// More are not remembered; the one that is free soonest goes first.
    package static let limit = 256
    /// First and last length of the avoidance after a failure; it doubles between them.
    package static let shortest = Duration.seconds(30)
    package static let longest = Duration.seconds(300)

    private struct Place: Hashable {
        var transport: Transport
        var address: SocketAddress
    }
    private struct Avoidance {
        var until: Instant
        var length: Duration
        /// The server itself named the time (Retry-After): it is not tried before.
        var isStrict: Bool
        /// No TLS connection there could be trusted.
        var isInsecure: Bool
    }
    private var avoided: [Place: Avoidance] = [:]

    package init() {}

    /// - Parameters:
    ///   - retryAfter: what the server's 503 asked for; at most five minutes count.
    ///   - isInsecure: no TLS connection there could be trusted.
    package mutating func failed(
        _ target: Target, retryAfter: Duration? = nil, isInsecure: Bool = false, at now: Instant
    ) {
        let place = Place(transport: target.transport, address: target.address)
        if avoided.count >= Self.limit, avoided[place] == nil,
            let oldest = avoided.min(by: { $0.value.until < $1.value.until })
        {
            avoided[oldest.key] = nil
        }
        let former = avoided[place]?.length
        let length = min(retryAfter ?? former.map { $0 * 2 } ?? Self.shortest, Self.longest)
        avoided[place] = Avoidance(
            until: now + length, length: length, isStrict: retryAfter != nil, isInsecure: isInsecure)
    }

    /// It answered: it is as good as any other.
    package mutating func worked(_ target: Target) {
        avoided[Place(transport: target.transport, address: target.address)] = nil
    }

    /// The network changed: what failed before says nothing now.
    package mutating func forget() { avoided = [:] }

    /// The same targets, those to be avoided last; those that named a time not at all while there are others. Beside a
    /// target whose TLS could not be trusted none without TLS counts: whoever spoiled it must not gain by it (SEC8).
    package func sorted(_ targets: [Target], at now: Instant) -> [Target] {
        func avoidance(_ target: Target) -> Avoidance? {
            let entry = avoided[Place(transport: target.transport, address: target.address)]
            return entry.flatMap { $0.until > now ? $0 : nil }
        }
        let isSpoiled = targets.contains { avoidance($0)?.isInsecure == true }
        let targets = isSpoiled ? targets.filter { $0.transport == .tls } : targets
        let good = targets.filter { avoidance($0) == nil }
        let doubtful = targets.filter { avoidance($0)?.isStrict == false }
        return good.isEmpty && doubtful.isEmpty ? targets : good + doubtful
    }
}
