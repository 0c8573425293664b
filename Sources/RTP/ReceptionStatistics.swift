package import Primitives

/// Counts what arrives from one source (RFC 3550 §6.4, A.1, A.3, A.8) and makes the report block about it.
package struct ReceptionStatistics: Sendable {
    /// What a packet was to the sequence of its source.
    package enum Verdict: Hashable, Sendable {
        /// In sequence, or late or repeated within what reordering explains.
        case counted
        /// A far jump or another source: not counted, believed if the next packet follows it.
        case doubted
        /// The second packet after a jump: all counts started anew with it.
        case restarted
    }

    private var tracker = SequenceTracker()
    /// Packets counted since the last start, with duplicates and late ones.
    package private(set) var received: Int64 = 0
    /// Nil before the first packet.
    package var source: UInt32? { tracker.source }
    private let clockRate: Int
    private var base: Int64 = 0
    private var transit: Int64?
    /// Sixteen times the jitter, in units of the RTP clock.
    private var scaledJitter: Int64 = 0
    private var reported: (expected: Int64, received: Int64) = (0, 0)
    private var lastSenderReport: (middle: UInt32, at: Instant)?

    /// `clockRate`: units of the RTP timestamp in a second.
    package init(clockRate: Int) { self.clockRate = max(clockRate, 1) }

    /// Counts a packet that arrived at `now`. `timed`: its timestamp is when it was sent, which is not so for the
    /// packets of a telephone event.
    package mutating func receive(_ header: RTPHeader, timed: Bool = true, at now: Instant) -> Verdict {
        switch tracker.place(header) {
        case .doubted: return .doubted
        case .placed:
            received += 1
            if timed { measure(header.timestamp, at: now) }
            return .counted
        case .first(let number):
            let isRestart = received > 0
            base = number
            received = 1
            transit = nil
            scaledJitter = 0
            reported = (0, 0)
            lastSenderReport = nil
            if timed { measure(header.timestamp, at: now) }
            return isRestart ? .restarted : .counted
        }
    }

    /// RFC 3550 A.8.
    private mutating func measure(_ timestamp: UInt32, at now: Instant) {
        let seconds = now.nanoseconds / 1_000_000_000
        let rest = now.nanoseconds % 1_000_000_000
        let arrival = seconds &* Int64(clockRate) &+ rest * Int64(clockRate) / 1_000_000_000
        let current = Int64(Int32(truncatingIfNeeded: arrival &- Int64(timestamp)))
        if let transit {
            let difference = abs(Int64(Int32(truncatingIfNeeded: current &- transit)))
            scaledJitter += difference - ((scaledJitter + 8) >> 4)
        }
        transit = current
    }

    /// A sender report of the source came.
    package mutating func receive(_ info: SenderInfo, from source: UInt32, at now: Instant) {
        guard source == tracker.source else { return }
        lastSenderReport = (UInt32(truncatingIfNeeded: info.ntpTime >> 16), now)
    }

    /// The highest sequence number with its roll-overs above it.
    package var extendedHighest: UInt32 { tracker.extendedHighest }

    /// Packets that should have come since the last start.
    package var expected: Int64 { received == 0 ? 0 : tracker.highest - base + 1 }

    /// Expected less received; negative with duplicates.
    package var lost: Int64 { expected - received }

    /// Mean deviation of the transit time (A.8).
    package var jitter: Duration {
        .nanoseconds((scaledJitter >> 4) * 1_000_000_000 / Int64(clockRate))
    }

    /// The block for the next report; the fraction of loss is counted from one call to the next. Nil before any packet.
    package mutating func report(at now: Instant) -> ReportBlock? {
        guard let source = tracker.source else { return nil }
        let expectedNow = expected - reported.expected
        let lostNow = expectedNow - (received - reported.received)
        reported = (expected, received)
        let fraction = expectedNow > 0 && lostNow > 0 ? min(lostNow * 256 / expectedNow, 255) : 0
        var delay: UInt32 = 0
        if let lastSenderReport {
            delay = UInt32(clamping: max((now - lastSenderReport.at).nanoseconds, 0) / 1_000 * 65_536 / 1_000_000)
        }
        return ReportBlock(
            source: source, fractionLost: UInt8(clamping: fraction),
            cumulativeLost: Int32(clamping: min(max(lost, -0x80_0000), 0x7F_FFFF)), extendedHighest: extendedHighest,
            jitter: UInt32(clamping: scaledJitter >> 4), lastReport: lastSenderReport?.middle ?? 0,
            delaySinceLastReport: delay)
    }
}
