package import Primitives

/// When a network change is acted on (R7): changes close together are one, a flapping link is held back, and the last
/// change always gets its run. Pure: the time is handed in.
package struct ChangeCollector {
    /// Changes that follow one another within this are taken together…
    package static let window: Duration = .milliseconds(300)
    /// … but the first waits no longer than this.
    package static let patience: Duration = .milliseconds(600)
    /// From the fourth run within `flappingPeriod` on there is one in `flappingInterval`.
    package static let flappingRuns = 3
    package static let flappingPeriod: Duration = .seconds(10)
    package static let flappingInterval: Duration = .seconds(5)

    private var first: Instant?
    private var last = Instant.zero
    /// The runs that may still count as flapping, the latest last.
    private var runs: [Instant] = []

    package init() {}

    /// When ``isDue(at:)`` is; nil while nothing waits.
    package var deadline: Instant? {
        guard let first else { return nil }
        let due = min(last + Self.window, first + Self.patience)
        guard runs.count >= Self.flappingRuns, let latest = runs.last else { return due }
        let earlier = runs[runs.count - Self.flappingRuns]
        return earlier + Self.flappingPeriod > due ? max(due, latest + Self.flappingInterval) : due
    }

    /// The kernel told of a change.
    package mutating func change(at now: Instant) {
        first = first ?? now
        last = now
    }

    /// Whether to look now what has changed.
    package mutating func isDue(at now: Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        first = nil
        return true
    }

    /// Something had, and was acted on. A look that found nothing, as after a renewed lifetime, holds nothing back.
    package mutating func acted(at now: Instant) {
        runs.append(now)
        if runs.count > Self.flappingRuns { runs.removeFirst() }
    }
}
