/// Builds compound RTCP packets into a buffer that is used again: within its capacity nothing is allocated.
package enum RTCPWriter {
    /// SR (or RR if nothing was sent: `info` is nil), then SDES with the CNAME. At most one report block: a call has
    /// one source. `cname` is random octets as text, at most 255, never user@host (MED1).
    package static func report(
        into packet: inout [UInt8], source: UInt32, info: SenderInfo?, block: ReportBlock?, cname: [UInt8]
    ) {
        packet.removeAll(keepingCapacity: true)
        let words = 1 + (info == nil ? 0 : 5) + (block == nil ? 0 : ReportBlock.size / 4)
        packet.append(0x80 | (block == nil ? 0 : 1))
        packet.append(info == nil ? 201 : 200)
        packet.append16(UInt16(truncatingIfNeeded: words))
        packet.append32(source)
        if let info {
            packet.append32(UInt32(truncatingIfNeeded: info.ntpTime >> 32))
            packet.append32(UInt32(truncatingIfNeeded: info.ntpTime))
            packet.append32(info.rtpTimestamp)
            packet.append32(info.packets)
            packet.append32(info.octets)
        }
        if let block { append(block, to: &packet) }
        appendDescription(to: &packet, source: source, cname: cname)
    }

    /// An empty RR, SDES, and BYE for one source: at the end of a call or after a collision.
    package static func goodbye(into packet: inout [UInt8], source: UInt32, cname: [UInt8]) {
        report(into: &packet, source: source, info: nil, block: nil, cname: cname)
        packet.append(0x81)
        packet.append(203)
        packet.append16(1)
        packet.append32(source)
    }

    private static func append(_ block: ReportBlock, to packet: inout [UInt8]) {
        packet.append32(block.source)
        let lost = UInt32(bitPattern: min(max(block.cumulativeLost, -0x80_0000), 0x7F_FFFF)) & 0xFF_FFFF
        packet.append32(UInt32(block.fractionLost) << 24 | lost)
        packet.append32(block.extendedHighest)
        packet.append32(block.jitter)
        packet.append32(block.lastReport)
        packet.append32(block.delaySinceLastReport)
    }

    private static func appendDescription(to packet: inout [UInt8], source: UInt32, cname: [UInt8]) {
        let length = min(cname.count, 255)
        // The source, the item, at least one zero octet, up to a multiple of four.
        let words = 1 + (2 + length) / 4 + 1
        packet.append(0x81)
        packet.append(202)
        packet.append16(UInt16(truncatingIfNeeded: words))
        let end = packet.count + 4 * words
        packet.append32(source)
        packet.append(1)
        packet.append(UInt8(truncatingIfNeeded: length))
        for index in 0..<length { packet.append(cname[index]) }
        while packet.count < end { packet.append(0) }
    }
}
