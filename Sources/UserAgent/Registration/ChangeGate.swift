import Primitives

/// Takes changes of the network that come close together as one, and keeps a flapping link from causing a storm (R7).
struct ChangeGate {
    /// Further changes within this time join the first.
    static let gathering = Duration.milliseconds(300)
    /// But no change waits longer than this for others.
    static let longestWait = Duration.milliseconds(600)
    /// From the fourth run within `window` on, runs are `pause` apart.
    static let runsInWindow = 3
    static let window = Duration.seconds(10)
    static let pause = Duration.seconds(5)

    private var firstChange: Instant?
    private var runs: [Instant] = []
    /// When the accounts are to be looked at; nil: nothing changed.
    private(set) var deadline: Instant?

    mutating func changed(at now: Instant) {
        let first = firstChange ?? now
        firstChange = first
        var due = min(now + Self.gathering, first + Self.longestWait)
        runs.removeAll { now - $0 >= Self.window }
        if runs.count >= Self.runsInWindow, let last = runs.last { due = max(due, last + Self.pause) }
        deadline = due
    }

    /// Whether the run is due; then it counts as done.
    mutating func takeRun(at now: Instant) -> Bool {
        guard let deadline, now >= deadline else { return false }
        self.deadline = nil
        firstChange = nil
        runs.append(now)
        if runs.count > Self.runsInWindow { runs.removeFirst() }
        return true
    }
}
