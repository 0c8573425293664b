package import Primitives

/// Takes a level for real only after it has held for a while: what a contact and a long wire do in between is nothing.
///
/// Works on the kernel's time stamps, so presses that are read late are still all counted.
package struct Debouncer: Sendable {
    /// How long a level must hold.
    package var period: Duration
    /// The level that counts now.
    package private(set) var level: Bool
    private var candidate: (level: Bool, since: Instant)?

    package init(period: Duration, level: Bool) {
        self.period = period
        self.level = level
    }

    /// When the level that shows now will count; nil while it does already.
    package var deadline: Instant? { candidate.map { $0.since + period } }

    /// An edge to `level` at `time`. Whatever held until then long enough has counted first.
    /// - Returns: the levels that came to count, in order: none, one or two.
    package mutating func edge(to level: Bool, at time: Instant) -> [(level: Bool, at: Instant)] {
        var changes = settle(at: time)
        if let candidate {
            // The level went back before its time: a spike. A repeated edge to the candidate changes nothing.
            if candidate.level != level { self.candidate = nil }
        } else if level != self.level {
            candidate = (level, time)
            changes += settle(at: time)
        }
        return changes
    }

    /// What has come to count by `now`.
    package mutating func settle(at now: Instant) -> [(level: Bool, at: Instant)] {
        guard let (level, since) = candidate, now - since >= period else { return [] }
        self.level = level
        candidate = nil
        return [(level, since + period)]
    }
}
