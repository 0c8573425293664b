internal import Primitives

/// Tells when an input has been on for longer than any finger holds it.
struct StuckWatch: Sendable {
    /// Zero: never.
    var after: Duration
    private var since: Instant?
    private(set) var isStuck = false

    init(after: Duration) { self.after = after }

    var deadline: Instant? { isStuck || after == .zero ? nil : since.map { $0 + after } }

    /// The input is on, or off again, since `time`.
    /// - Returns: whether it had been stuck until now.
    mutating func change(to on: Bool, at time: Instant) -> Bool {
        defer { if !on { isStuck = false } }
        since = on ? since ?? time : nil
        return isStuck && !on
    }

    /// - Returns: whether it is stuck since now.
    mutating func passed(_ now: Instant) -> Bool {
        guard let deadline, now >= deadline else { return false }
        isStuck = true
        return true
    }
}
