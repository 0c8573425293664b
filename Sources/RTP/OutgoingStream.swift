package import Primitives

/// What we send on one RTP session: its source, numbering, and counts for sender reports (MED1).
package struct OutgoingStream: Sendable {
    package private(set) var ssrc: UInt32
    private var sequence: UInt16
    private var timestampOffset: UInt32
    /// Packets sent, as sender reports count them: with wrapping.
    package private(set) var packets: UInt32 = 0
    /// Payload octets sent, with wrapping.
    package private(set) var octets: UInt32 = 0
    /// RTP timestamp of the last packet as sent, and when it was sent.
    package private(set) var lastTimestamp: (timestamp: UInt32, at: Instant)?
    private var collisions = 0

    /// Random source and timestamp start; the sequence starts below 2^15 so that its roll-over is far.
    package init(randomness: inout Randomness) {
        ssrc = UInt32(truncatingIfNeeded: randomness.next())
        sequence = UInt16(truncatingIfNeeded: randomness.next() & 0x7FFF)
        timestampOffset = UInt32(truncatingIfNeeded: randomness.next())
    }

    /// Writes the header of the next packet over the first 12 octets of `packet`, which has at least them; the payload
    /// of `payloadCount` octets follows. `timestamp` counts units of the RTP clock from any start of the caller's.
    /// `marker`: the first packet of a talk spurt or event.
    package mutating func writeHeader(
        into packet: inout [UInt8], payloadType: UInt8, marker: Bool, timestamp: UInt32, payloadCount: Int,
        at now: Instant
    ) {
        let shifted = timestamp &+ timestampOffset
        RTPHeader.write(
            into: &packet, marker: marker, payloadType: payloadType, sequence: sequence, timestamp: shifted, ssrc: ssrc)
        sequence &+= 1
        packets &+= 1
        octets &+= UInt32(truncatingIfNeeded: payloadCount)
        lastTimestamp = (shifted, now)
    }

    /// Another sender was heard with our source. Takes a new one and returns the old, for which a BYE is due
    /// (RFC 3550 §8.2). After two times it is a mirror that sends our own packets back, and nothing is changed.
    package mutating func resolveCollision(randomness: inout Randomness) -> UInt32? {
        guard collisions < 2 else { return nil }
        collisions += 1
        let old = ssrc
        while ssrc == old { ssrc = UInt32(truncatingIfNeeded: randomness.next()) }
        packets = 0
        octets = 0
        return old
    }
}
