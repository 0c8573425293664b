import Primitives

/// An audio codec that can be negotiated.
package enum AudioCodec: String, CaseIterable, Hashable, Sendable {
    /// RFC 6716, RFC 7587.
    case opus
    /// RFC 3551 §4.5.2: sampled at 16 kHz, but its RTP clock is 8000.
    case g722
    /// G.711 A-law.
    case pcma
    /// G.711 µ-law.
    case pcmu

    /// Units of the RTP timestamp in a second; for G.722 not the sample rate.
    package var clockRate: Int { self == .opus ? 48_000 : 8_000 }

    /// Samples in a second of the decoded audio.
    package var sampleRate: Int {
        switch self {
        case .opus: 48_000
        case .g722: 16_000
        case .pcma, .pcmu: 8_000
        }
    }

    /// Channels as written in `a=rtpmap`: Opus always says 2 (RFC 7587 §7), whatever is sent.
    package var channels: Int { self == .opus ? 2 : 1 }

    /// The encoding name as written in `a=rtpmap`; comparison is case-insensitive.
    package var name: String {
        switch self {
        case .opus: "opus"
        case .g722: "G722"
        case .pcma: "PCMA"
        case .pcmu: "PCMU"
        }
    }

    /// The number of RFC 3551 that needs no `a=rtpmap`; nil where numbers are dynamic.
    package var staticPayloadType: UInt8? {
        switch self {
        case .opus: nil
        case .g722: 9
        case .pcma: 8
        case .pcmu: 0
        }
    }

    /// The codec of an RFC 3551 payload type number.
    package init?(staticPayloadType number: UInt8) {
        switch number {
        case 0: self = .pcmu
        case 8: self = .pcma
        case 9: self = .g722
        default: return nil
        }
    }

    /// RTP timestamp units in a packet of this length.
    package func timestampUnits(in time: Duration) -> Int {
        Int(truncatingIfNeeded: time.nanoseconds / 1_000_000) * clockRate / 1_000
    }
}
