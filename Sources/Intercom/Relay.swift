internal import Primitives

/// A relay: at rest, or energised for a time that its limit bounds, whatever is asked for meanwhile.
struct Relay: Sendable {
    private(set) var since: Instant?
    /// It goes to rest then, whatever a call does meanwhile.
    private(set) var until: Instant?

    var isOn: Bool { since != nil }

    /// Energises it, or keeps it so for longer.
    /// - Parameter limit: from the first moment on; no later order goes beyond it.
    /// - Returns: whether it was at rest.
    mutating func energise(for time: Duration, limit: Duration, at now: Instant) -> Bool {
        let wasAtRest = since == nil
        let start = since ?? now
        since = start
        until = min(max(until ?? now, now + time), start + limit)
        return wasAtRest
    }

    /// - Returns: whether it was energised.
    mutating func rest() -> Bool {
        defer { (since, until) = (nil, nil) }
        return since != nil
    }
}
