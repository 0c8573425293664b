/// One packet of a compound RTCP packet; ranges point into the datagram. Reading allocates nothing.
package enum RTCPPacket: Equatable, Sendable {
    case senderReport(source: UInt32, SenderInfo, blocks: Range<Int>)
    case receiverReport(source: UInt32, blocks: Range<Int>)
    /// Chunks as they are: `cname(in:of:)` reads them.
    case sourceDescription(chunks: Range<Int>)
    /// `sources`: four octets each. The reason is nil if it is absent or does not fit. A BYE never ends a call (MED1).
    case goodbye(sources: Range<Int>, reason: Range<Int>?)
    /// RFC 4585: type 205 (transport) or 206 (payload), format, and control information.
    case feedback(type: UInt8, format: UInt8, source: UInt32, media: UInt32, information: Range<Int>)
    case other(type: UInt8)

    package var type: UInt8 {
        switch self {
        case .senderReport: 200
        case .receiverReport: 201
        case .sourceDescription: 202
        case .goodbye: 203
        case .feedback(let type, _, _, _, _), .other(let type): type
        }
    }
}

/// The sender part of a sender report (RFC 3550 §6.4.1).
package struct SenderInfo: Equatable, Sendable {
    /// NTP format: 32 bits of seconds, 32 of fractions.
    package var ntpTime: UInt64
    package var rtpTimestamp: UInt32
    package var packets: UInt32
    package var octets: UInt32

    package init(ntpTime: UInt64, rtpTimestamp: UInt32, packets: UInt32, octets: UInt32) {
        self.ntpTime = ntpTime
        self.rtpTimestamp = rtpTimestamp
        self.packets = packets
        self.octets = octets
    }
}

/// What a receiver reports about one source.
package struct ReportBlock: Equatable, Sendable {
    package static let size = 24

    package var source: UInt32
    /// Lost since the last report, in 1/256.
    package var fractionLost: UInt8
    /// 24 bits with sign: duplicates can make it negative.
    package var cumulativeLost: Int32
    package var extendedHighest: UInt32
    /// Units of the RTP clock.
    package var jitter: UInt32
    /// Middle 32 bits of the NTP time of the last sender report; 0: none came.
    package var lastReport: UInt32
    /// 1/65536 s between that report and this.
    package var delaySinceLastReport: UInt32

    package init(
        source: UInt32, fractionLost: UInt8, cumulativeLost: Int32, extendedHighest: UInt32, jitter: UInt32,
        lastReport: UInt32, delaySinceLastReport: UInt32
    ) {
        self.source = source
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.extendedHighest = extendedHighest
        self.jitter = jitter
        self.lastReport = lastReport
        self.delaySinceLastReport = delaySinceLastReport
    }

    /// Reads the 24 octets at `index`; nil if they are not there.
    package init?(_ octets: [UInt8], at index: Int) {
        guard index >= 0, index <= octets.count - Self.size else { return nil }
        source = octets.word32(at: index)
        let loss = octets.word32(at: index + 4)
        fractionLost = UInt8(truncatingIfNeeded: loss >> 24)
        cumulativeLost = Int32(bitPattern: loss << 8) >> 8
        extendedHighest = octets.word32(at: index + 8)
        jitter = octets.word32(at: index + 12)
        lastReport = octets.word32(at: index + 16)
        delaySinceLastReport = octets.word32(at: index + 20)
    }
}

/// Walks the packets of a compound RTCP packet.
package struct RTCPReader: Sendable {
    private let count: Int
    private var position = 0

    /// Nil unless the first `count` octets are well-formed as a whole: lengths fit and padding is at the end only. A
    /// compound packet begins with a report, unless it is one of reduced size (RFC 5506).
    package init?(_ octets: [UInt8], count: Int, reducedSize: Bool = false) {
        guard count >= 4, count <= octets.count, reducedSize || octets[1] == 200 || octets[1] == 201 else { return nil }
        var position = 0
        while position < count {
            guard position + 4 <= count, octets[position] >> 6 == 2, (192...223).contains(octets[position + 1]) else {
                return nil
            }
            let end = position + 4 + 4 * Int(octets.word16(at: position + 2))
            guard end <= count else { return nil }
            if octets[position] & 0x20 != 0 {
                let padding = Int(octets[end - 1])
                guard end == count, padding > 0, padding % 4 == 0, padding <= end - position - 4 else { return nil }
            }
            position = end
        }
        self.count = count
    }

    /// The next packet; nil at the end. `octets` is the same datagram. One that is too short for its type is `other`.
    package mutating func next(of octets: [UInt8]) -> RTCPPacket? {
        guard position + 4 <= count, count <= octets.count else { return nil }
        let start = position
        let type = octets[start + 1]
        let items = Int(octets[start] & 0x1F)
        position = start + 4 + 4 * Int(octets.word16(at: start + 2))
        let end = position - (octets[start] & 0x20 != 0 ? Int(octets[position - 1]) : 0)
        let body = start + 4
        switch type {
        case 200 where body + 24 + items * ReportBlock.size <= end:
            let info = SenderInfo(
                ntpTime: UInt64(octets.word32(at: body + 4)) << 32 | UInt64(octets.word32(at: body + 8)),
                rtpTimestamp: octets.word32(at: body + 12), packets: octets.word32(at: body + 16),
                octets: octets.word32(at: body + 20))
            let blocks = body + 24
            return .senderReport(
                source: octets.word32(at: body), info, blocks: blocks..<(blocks + items * ReportBlock.size))
        case 201 where body + 4 + items * ReportBlock.size <= end:
            let blocks = body + 4
            return .receiverReport(
                source: octets.word32(at: body), blocks: blocks..<(blocks + items * ReportBlock.size))
        case 202: return .sourceDescription(chunks: body..<end)
        case 203 where body + 4 * items <= end:
            let sources = body..<(body + 4 * items)
            var reason: Range<Int>?
            if sources.upperBound < end {
                let text = sources.upperBound + 1
                let length = Int(octets[sources.upperBound])
                if text + length <= end { reason = text..<(text + length) }
            }
            return .goodbye(sources: sources, reason: reason)
        case 205 where body + 8 <= end, 206 where body + 8 <= end:
            return .feedback(
                type: type, format: UInt8(items), source: octets.word32(at: body), media: octets.word32(at: body + 4),
                information: (body + 8)..<end)
        default: return .other(type: type)
        }
    }

    /// The CNAME of the first chunk that has one.
    package static func cname(in chunks: Range<Int>, of octets: [UInt8]) -> Range<Int>? {
        guard chunks.upperBound <= octets.count else { return nil }
        var position = chunks.lowerBound
        while position + 4 <= chunks.upperBound {
            position += 4
            while position < chunks.upperBound, octets[position] != 0 {
                guard position + 2 <= chunks.upperBound else { return nil }
                let text = position + 2
                let end = text + Int(octets[position + 1])
                guard end <= chunks.upperBound else { return nil }
                if octets[position] == 1 { return text..<end }
                position = end
            }
            // The end mark, then up to the next multiple of four from the first chunk on.
            position += 4 - (position - chunks.lowerBound) % 4
        }
        return nil
    }
}
