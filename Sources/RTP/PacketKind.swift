/// What a datagram on a media port is, told by its first octets (MED4, RFC 7983, RFC 5761).
package enum PacketKind: Hashable, Sendable {
    case stun, dtls, turnChannel, rtp, rtcp, other

    /// `count`: how many octets of the buffer the datagram has.
    package init(_ octets: [UInt8], count: Int) {
        guard count > 0, count <= octets.count else {
            self = .other
            return
        }
        switch octets[0] {
        case 0...3: self = .stun
        case 20...63: self = .dtls
        case 64...79: self = .turnChannel
        case 128...191: self = count > 1 && (192...223).contains(octets[1]) ? .rtcp : .rtp
        default: self = .other
        }
    }
}
