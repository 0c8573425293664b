package import Primitives

/// From whom RTP is taken and where it is sent (SEC7). Until the source is learned it is the address of the session
/// description; with symmetric latching another source may take its place, once, under strict conditions.
package struct SourceLatch: Sendable {
    /// Any address may be latched only so long after the first packet.
    package static let openTime: Duration = .seconds(2)

    /// Where to send.
    package private(set) var remote: SocketAddress
    /// Packets from elsewhere.
    package private(set) var dropped = 0
    /// Whether the source is learned.
    package private(set) var isLatched = false
    private let isSymmetric: Bool
    private var mediaStart: Instant?
    private var candidate: (address: SocketAddress, source: UInt32, next: UInt16)?

    /// `isSymmetric`: learn the source; otherwise packets must come from the described address, from any port.
    package init(remote: SocketAddress, isSymmetric: Bool = true) {
        self.remote = remote
        self.isSymmetric = isSymmetric
    }

    /// A new description moved the peer: all is open again. Not called if the address is the same as in the last one.
    package mutating func rearm(remote: SocketAddress) {
        self.remote = remote
        isLatched = false
        mediaStart = nil
        candidate = nil
    }

    /// Whether to take an RTP packet from `sender`. `isNegotiated`: its payload type is one of the plan.
    package mutating func accept(
        _ header: RTPHeader, from sender: SocketAddress, isNegotiated: Bool, at now: Instant
    ) -> Bool {
        if sender == remote {
            if isNegotiated { isLatched = true }
            return true
        }
        guard isSymmetric else { return count(sender.address == remote.address) }
        guard !isLatched, isNegotiated else { return count(false) }
        let start = mediaStart ?? now
        mediaStart = start
        guard sender.address == remote.address || now - start <= Self.openTime else { return count(false) }
        if let candidate, candidate.address == sender, candidate.source == header.ssrc,
            candidate.next == header.sequence
        {
            remote = sender
            isLatched = true
            self.candidate = nil
            return true
        }
        candidate = (sender, header.ssrc, header.sequence &+ 1)
        return count(false)
    }

    /// Whether to take an RTCP packet: it never moves anything, and its port is another one.
    package func acceptsControl(from sender: SocketAddress) -> Bool { sender.address == remote.address }

    private mutating func count(_ isAccepted: Bool) -> Bool {
        if !isAccepted { dropped += 1 }
        return isAccepted
    }
}
