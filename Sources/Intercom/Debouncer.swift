package import Configuration
package import Primitives

/// Takes a level for real only when it may count: what a contact and a long wire do in between is nothing.
///
/// Works on the kernel's time stamps, so presses that are read late are still all counted.
package struct Debouncer: Sendable {
    /// How long a level must hold, or, with `edge`, how long nothing counts after one that did.
    package var period: Duration
    package var filter: InputFilter
    /// The level that counts now.
    package private(set) var level: Bool
    private var candidate: (level: Bool, since: Instant)?
    private var changedAt: Instant?

    package init(period: Duration, filter: InputFilter = .stable, level: Bool) {
        self.period = period
        self.filter = filter
        self.level = level
    }

    /// When the level that shows now will count; nil while it does already.
    package var deadline: Instant? {
        candidate.map { candidate in
            switch filter {
            case .stable: candidate.since + period
            case .edge: changedAt.map { max(candidate.since, $0 + period) } ?? candidate.since
            }
        }
    }

    /// An edge to `level` at `time`. Whatever counted until then has counted first.
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
        guard let candidate, let time = deadline, now >= time else { return [] }
        level = candidate.level
        changedAt = time
        self.candidate = nil
        return [(level, time)]
    }
}
