package import Primitives
package import SDP

/// Time in the form of sender reports. It is the loop's clock, which no step of the wall clock disturbs (RFC 3550 §4
/// allows elapsed time), moved so that it is never 0, which would mean "none".
package func ntpTime(_ now: Instant) -> UInt64 {
    let nanoseconds = UInt64(clamping: now.nanoseconds)
    let seconds = nanoseconds / 1_000_000_000 + 0x8000_0000
    return (seconds << 32) | ((nanoseconds % 1_000_000_000) << 32 / 1_000_000_000)
}

/// How good a call is, from the reports of both sides.
package enum CallQuality {
    /// The way to the peer and back, from its report about us (RFC 3550 §6.4.1); nil if it had no report of ours or the
    /// numbers are absurd (more than a minute).
    package static func roundTrip(_ block: ReportBlock, at now: Instant) -> Duration? {
        guard block.lastReport != 0 else { return nil }
        let middle = UInt32(truncatingIfNeeded: ntpTime(now) >> 16)
        let units = Int32(bitPattern: middle &- block.lastReport &- block.delaySinceLastReport)
        guard units >= -655, units < 60 * 65_536 else { return nil }  // 10 ms below nothing is rounding.
        return .nanoseconds(Int64(max(units, 0)) * 1_000_000_000 / 65_536)
    }

    /// Mean opinion score 1…4.5 by the E-model (ITU-T G.107) with default values. `loss` 0…1 after the jitter buffer;
    /// `delay` one way, mouth to ear.
    package static func meanOpinionScore(codec: AudioCodec, loss: Double, delay: Duration) -> Double {
        let milliseconds = max(delay.inMilliseconds, 0)
        let delayImpairment = 0.024 * milliseconds + (milliseconds > 177.3 ? 0.11 * (milliseconds - 177.3) : 0)
        // G.113: robustness against loss with concealment.
        let robustness = codec == .opus ? 20.0 : codec == .g722 ? 15.0 : 25.1
        let percent = loss > 0 ? min(loss, 1) * 100 : 0
        let rating = min(max(93.2 - delayImpairment - 95 * percent / (percent + robustness), 0), 100)
        return min(max(1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6, 1), 4.5)
    }
}
