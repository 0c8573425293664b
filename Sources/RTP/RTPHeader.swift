/// The fixed part of an RTP packet and where its parts lie in the datagram (RFC 3550 §5.1). Reading allocates nothing.
package struct RTPHeader: Equatable, Sendable {
    package var marker: Bool
    /// 0…127.
    package var payloadType: UInt8
    package var sequence: UInt16
    package var timestamp: UInt32
    package var ssrc: UInt32
    /// Contributing sources, four octets each from octet 12 on.
    package var contributorCount: Int
    /// The profile field of the header extension: 0xBEDE or 0x100x for RFC 8285; nil without extension.
    package var extensionProfile: UInt16?
    /// Octets of the extension after its header of four.
    package var extensionRange: Range<Int>
    /// Without padding; may be empty.
    package var payload: Range<Int>

    /// Octets of a header without contributors and extension.
    package static let size = 12

    /// Nil unless the first `count` octets are a whole packet whose contributors, extension and padding fit in.
    package init?(_ octets: [UInt8], count: Int) {
        guard count >= Self.size, count <= octets.count, octets[0] >> 6 == 2 else { return nil }
        marker = octets[1] & 0x80 != 0
        payloadType = octets[1] & 0x7F
        sequence = octets.word16(at: 2)
        timestamp = octets.word32(at: 4)
        ssrc = octets.word32(at: 8)
        contributorCount = Int(octets[0] & 0x0F)
        var start = Self.size + 4 * contributorCount
        extensionRange = start..<start
        if octets[0] & 0x10 != 0 {
            guard start + 4 <= count else { return nil }
            extensionProfile = octets.word16(at: start)
            let length = 4 * Int(octets.word16(at: start + 2))
            start += 4
            extensionRange = start..<(start + length)
            start += length
        }
        var end = count
        if octets[0] & 0x20 != 0 {
            let padding = Int(octets[count - 1])
            guard padding > 0 else { return nil }
            end -= padding
        }
        guard start <= end else { return nil }
        payload = start..<end
    }

    /// Writes a header without contributors and extension over the first 12 octets of `packet`, which has at least them.
    package static func write(
        into packet: inout [UInt8], marker: Bool, payloadType: UInt8, sequence: UInt16, timestamp: UInt32, ssrc: UInt32
    ) {
        packet[0] = 0x80
        packet[1] = (marker ? 0x80 : 0) | (payloadType & 0x7F)
        packet.set16(sequence, at: 2)
        packet.set32(timestamp, at: 4)
        packet.set32(ssrc, at: 8)
    }

    /// The contributing source at an index below `contributorCount`.
    package func contributor(_ index: Int, of octets: [UInt8]) -> UInt32 { octets.word32(at: Self.size + 4 * index) }

    /// The value of an RFC 8285 extension element; nil if it is not there or the extension is malformed.
    package func extensionElement(_ identifier: UInt8, of octets: [UInt8]) -> Range<Int>? {
        guard let extensionProfile, extensionRange.upperBound <= octets.count else { return nil }
        let isShort = extensionProfile == 0xBEDE
        guard isShort || extensionProfile & 0xFFF0 == 0x1000 else { return nil }
        var position = extensionRange.lowerBound
        while position < extensionRange.upperBound {
            let first = octets[position]
            if first == 0 {  // Padding between elements.
                position += 1
                continue
            }
            let name = isShort ? first >> 4 : first
            let length: Int
            if isShort {
                if name == 15 { return nil }
                length = Int(first & 0x0F) + 1
                position += 1
            } else {
                guard position + 1 < extensionRange.upperBound else { return nil }
                length = Int(octets[position + 1])
                position += 2
            }
            guard position + length <= extensionRange.upperBound else { return nil }
            if name == identifier { return position..<(position + length) }
            position += length
        }
        return nil
    }
}

extension [UInt8] {
    /// Two octets in network order; the caller has checked the bounds.
    @inline(__always) func word16(at index: Int) -> UInt16 { UInt16(self[index]) << 8 | UInt16(self[index + 1]) }

    @inline(__always) func word32(at index: Int) -> UInt32 {
        UInt32(word16(at: index)) << 16 | UInt32(word16(at: index + 2))
    }

    @inline(__always) mutating func set16(_ value: UInt16, at index: Int) {
        self[index] = UInt8(truncatingIfNeeded: value >> 8)
        self[index + 1] = UInt8(truncatingIfNeeded: value)
    }

    @inline(__always) mutating func set32(_ value: UInt32, at index: Int) {
        set16(UInt16(truncatingIfNeeded: value >> 16), at: index)
        set16(UInt16(truncatingIfNeeded: value), at: index + 2)
    }

    mutating func append16(_ value: UInt16) {
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    mutating func append32(_ value: UInt32) {
        append16(UInt16(truncatingIfNeeded: value >> 16))
        append16(UInt16(truncatingIfNeeded: value))
    }
}
