/// A point on the loop's monotonic clock (`CLOCK_BOOTTIME`, which counts suspend), in nanoseconds.
///
/// Cores never read a clock: each input comes with the instant at which it happened.
package struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since an arbitrary start.
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The start of the clock; tests begin here.
    package static let zero = Instant(nanoseconds: 0)

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Saturates at the ends of the clock.
    package static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return Instant(nanoseconds: overflow ? (duration.nanoseconds > 0 ? .max : .min) : sum)
    }

    package static func - (instant: Instant, duration: Duration) -> Instant {
        let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(duration.nanoseconds)
        return Instant(nanoseconds: overflow ? (duration.nanoseconds > 0 ? .min : .max) : difference)
    }

    package static func - (later: Instant, earlier: Instant) -> Duration {
        let (difference, overflow) = later.nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        return .nanoseconds(overflow ? (later > earlier ? Int64.max : .min) : difference)
    }

    package static func += (instant: inout Instant, duration: Duration) { instant = instant + duration }
}

extension Duration {
    /// Whole nanoseconds, saturating at ±292 years.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds > 0 ? .max : .min }
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds > 0 ? .max : .min) : sum
    }

    /// Seconds as a floating-point number, for status documents and logs.
    package var inSeconds: Double { Double(nanoseconds) / 1e9 }

    /// Milliseconds as a floating-point number.
    package var inMilliseconds: Double { Double(nanoseconds) / 1e6 }
}

/// The earliest of several deadlines; nil if none is set.
package func earliest(_ deadlines: Instant?...) -> Instant? {
    var least: Instant?
    for case let deadline? in deadlines where least.map({ deadline < $0 }) ?? true { least = deadline }
    return least
}

extension Sequence where Element == Instant {
    /// The least element; nil for an empty sequence.
    package var earliest: Instant? { self.min() }
}
