/// Learns how much later than the fastest packets come, and from that how long to hold them back (MED2). Times are
/// nanoseconds; storage is fixed.
struct DelayEstimator: Sendable {
    private static let cellWidth: Int64 = 5_000_000
    private static let cellCount = 48
    /// The histogram fades over about this many packets.
    private static let memory: Int64 = 300
    private static let share: Int64 = 1 << 16
    /// The fastest transit is that of the last 5 to 10 s, so that it follows drifting clocks.
    private static let window: Int64 = 5_000_000_000

    private var histogram = ContiguousArray<Int64>(repeating: 0, count: cellCount)
    private var weight: Int64 = 0
    private var fastest: (current: Int64, previous: Int64) = (.max, .max)
    private var windowStart: Int64?
    /// The worst delay lately; half of it is forgotten in about 140 packets.
    private var peak: Int64 = 0
    /// What covers nearly every packet: the 97th percentile of the extra delay, or a worse one seen lately.
    private(set) var spread: Int64 = 0

    /// The least transit time lately (arrival less sending time, from any zero point); nil before the first packet.
    var base: Int64? {
        let least = min(fastest.current, fastest.previous)
        return least == .max ? nil : least
    }

    mutating func note(transit: Int64, at now: Int64) {
        if let start = windowStart, now - start <= Self.window {
            fastest.current = min(fastest.current, transit)
        } else {
            let isStale = windowStart.map { now - $0 > 2 * Self.window } ?? true
            fastest = (transit, isStale ? .max : fastest.current)
            windowStart = now
        }
        let extra = transit - (base ?? transit)
        if weight >= Self.memory * Self.share {
            weight = 0
            for cell in histogram.indices {
                histogram[cell] -= histogram[cell] / Self.memory
                weight += histogram[cell]
            }
        }
        histogram[Int(min(extra / Self.cellWidth, Int64(Self.cellCount - 1)))] += Self.share
        weight += Self.share
        peak = max(extra, peak - peak / 200)
        spread = max(percentile, peak)
    }

    private var percentile: Int64 {
        let wanted = weight - weight * 3 / 100
        var sum: Int64 = 0
        for cell in histogram.indices {
            sum += histogram[cell]
            if sum >= wanted { return Int64(cell) * Self.cellWidth }
        }
        return Int64(Self.cellCount) * Self.cellWidth
    }

    /// The timestamps start anew: what is known of the delays stays, the zero point goes.
    mutating func forgetBase() {
        fastest = (.max, .max)
        windowStart = nil
    }
}
