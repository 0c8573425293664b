import Primitives

/// How long to wait after a registration failed on every target (R4).
struct BackOff {
    static let first = Duration.seconds(2)
    static let ceiling = Duration.seconds(60)
    /// After `longOutage` without success.
    static let lateCeiling = Duration.seconds(300)
    static let longOutage = Duration.seconds(3600)
    /// A success that held so long makes the next failure the first one.
    static let settled = Duration.seconds(600)

    private var failures = 0
    private var failingSince: Instant?
    private var succeededAt: Instant?

    /// The wait until the next attempt; half of it at least is certain, the rest is random.
    mutating func failed(at now: Instant, random: inout Randomness) -> Duration {
        if let succeededAt, now - succeededAt >= Self.settled { failures = 0 }
        succeededAt = nil
        let since = failingSince ?? now
        failingSince = since
        let ceiling = now - since >= Self.longOutage ? Self.lateCeiling : Self.ceiling
        let full = min(ceiling, Self.first * (1 << min(failures, 20)))
        failures += 1
        return random.duration(in: (full / 2)...full)
    }

    mutating func succeeded(at now: Instant) {
        if succeededAt == nil { succeededAt = now }
        failingSince = nil
    }

    /// A link, address, route or resolver event: what failed before says nothing now.
    mutating func reset() { self = BackOff() }
}
