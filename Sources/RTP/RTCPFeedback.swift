/// Feedback that asks a sender for something (RFC 4585, RFC 5104).
package enum RTCPFeedback: Equatable, Sendable {
    /// Packets with these sequence numbers did not come.
    case lost([UInt16])
    /// A picture was lost: a key frame is wanted from this source.
    case pictureLoss(source: UInt32)
    /// A key frame is demanded; a repeated number is a repeated request.
    case fullIntraRequests([FullIntraRequest])

    package struct FullIntraRequest: Equatable, Sendable {
        package var source: UInt32
        package var number: UInt8

        package init(source: UInt32, number: UInt8) {
            self.source = source
            self.number = number
        }
    }

    /// Nil if the packet is not one of these.
    package init?(_ packet: RTCPPacket, of octets: [UInt8]) {
        guard case .feedback(let type, let format, _, let media, let information) = packet,
            information.upperBound <= octets.count
        else { return nil }
        switch (type, format) {
        case (205, 1):
            var lost: [UInt16] = []
            for index in stride(from: information.lowerBound, to: information.upperBound - 3, by: 4) {
                let first = octets.word16(at: index)
                let following = octets.word16(at: index + 2)
                lost.append(first)
                for bit in UInt16(0)..<16 where following >> bit & 1 == 1 { lost.append(first &+ bit &+ 1) }
            }
            self = .lost(lost)
        case (206, 1): self = .pictureLoss(source: media)
        case (206, 4):
            var requests: [FullIntraRequest] = []
            for index in stride(from: information.lowerBound, to: information.upperBound - 7, by: 8) {
                requests.append(FullIntraRequest(source: octets.word32(at: index), number: octets[index + 4]))
            }
            self = .fullIntraRequests(requests)
        default: return nil
        }
    }
}
