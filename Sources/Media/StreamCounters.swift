package import Primitives
package import SDP
import Synchronization

/// How a call's sound fares, for status and the media watchdog.
package struct StreamStatistics: Equatable, Sendable {
    /// RTP packets.
    package var sent = 0
    package var received = 0
    /// Packets of the peer that never came.
    package var lost = 0
    /// Packets dropped because they came from another source than the call's (SEC7).
    package var foreign = 0
    /// Interarrival jitter of what we receive (RFC 3550 §6.4.1).
    package var jitter = Duration.zero
    /// Nil until the peer's reports tell it.
    package var roundTrip: Duration?
    /// Estimate of the listening quality, 1…4.5 (ITU-T G.107); nil until something was received.
    package var meanOpinionScore: Double?
    package var codec: AudioCodec
    /// When RTP or RTCP last came from the peer; nil: never.
    package var lastReceived: Instant?
    /// Level of the last tenth of a second relative to a full-scale sine wave, dB: what came and what was sent.
    package var receivedLevel = -96.0
    package var sentLevel = -96.0

    package init(codec: AudioCodec) { self.codec = codec }
}

/// The same as the media thread counts it: each value for itself, read by the loop at any time.
final class StreamCounters: Sendable {
    let sent = Atomic<Int>(0)
    let received = Atomic<Int>(0)
    let lost = Atomic<Int>(0)
    let foreign = Atomic<Int>(0)
    /// Nanoseconds.
    let jitter = Atomic<Int64>(0)
    /// Nanoseconds; -1: unknown.
    let roundTrip = Atomic<Int64>(-1)
    /// Hundredths; 0: unknown.
    let meanOpinionScore = Atomic<Int>(0)
    /// Nanoseconds of the loop's clock; Int64.min: never.
    let lastReceived = Atomic<Int64>(.min)
    let receivedPower = Atomic<UInt32>(0)
    let sentPower = Atomic<UInt32>(0)
    /// Set by the loop: the microphone is not sent.
    let isMuted = Atomic<Bool>(false)
}
