package import Primitives

/// What we bring to a negotiation.
package struct LocalMedia: Equatable, Sendable {
    /// Codecs in the order of our preference; not empty.
    package var codecs: [AudioCodec]
    /// Address that the peer shall send to; its family is that of the answer.
    package var address: IPAddress
    /// Our address of the other family, where the host has one; used if the peer's offer needs it (RFC 6157).
    package var otherAddress: IPAddress?
    /// RTP port, even (MED9); RTCP is on the next one unless muxed.
    package var port: UInt16
    /// Offer and accept telephone-event (RFC 4733).
    package var telephoneEvents: Bool
    /// Our wish for the length of packets, 10…60 ms.
    package var packetTime: Duration
    /// Our wish: `sendrecv`; on hold `sendonly`, or `inactive` if there is no music (S4).
    package var direction: MediaDirection
    /// Offer rtcp-mux, and accept it where it is offered.
    package var rtcpMux: Bool
    /// In an answer, our order decides instead of the offer's (S2).
    package var prefersOwnOrder: Bool
    /// Ceiling of the Opus bit rate, bits in a second.
    package var opusBitRate: Int

    package init(
        codecs: [AudioCodec], address: IPAddress, otherAddress: IPAddress? = nil, port: UInt16,
        telephoneEvents: Bool = true,
        packetTime: Duration = .milliseconds(20), direction: MediaDirection = .sendrecv, rtcpMux: Bool = true,
        prefersOwnOrder: Bool = false, opusBitRate: Int = 24_000
    ) {
        self.codecs = codecs
        self.address = address
        self.otherAddress = otherAddress
        self.port = port
        self.telephoneEvents = telephoneEvents
        self.packetTime = packetTime
        self.direction = direction
        self.rtcpMux = rtcpMux
        self.prefersOwnOrder = prefersOwnOrder
        self.opusBitRate = opusBitRate
    }
}

/// Where a call stands in offer/answer (RFC 3264, RFC 6337).
package enum NegotiationState: Hashable, Sendable {
    /// No description was exchanged yet.
    case fresh
    /// Our offer is out; an answer is awaited, and no other offer may be made or answered (D8).
    case offered
    /// Offer and answer are exchanged: a plan exists, and either side may offer anew.
    case agreed
}
