package import Primitives

/// Which way media flows, seen from the side that says it (RFC 3264 §5.1).
package enum MediaDirection: String, CaseIterable, Hashable, Sendable {
    case sendrecv, sendonly, recvonly, inactive

    package init(sends: Bool, receives: Bool) {
        self = sends ? (receives ? .sendrecv : .sendonly) : (receives ? .recvonly : .inactive)
    }

    package var sends: Bool { self == .sendrecv || self == .sendonly }
    package var receives: Bool { self == .sendrecv || self == .recvonly }

    /// The same flow, seen from the other side.
    package var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }

    /// What both allow.
    package func intersection(_ other: MediaDirection) -> MediaDirection {
        MediaDirection(sends: sends && other.sends, receives: receives && other.receives)
    }
}

/// What the media engine shall do for one call: the result of a negotiation. Compare two plans to see whether a
/// re-INVITE changed anything (S6): equal plans mean that nothing is restarted.
package struct MediaPlan: Equatable, Sendable {
    /// Our RTP address and port.
    package var local: SocketAddress
    /// Where RTP is sent until the source is learned (SEC7). Another value than before re-arms the latch.
    package var remote: SocketAddress
    /// Where RTCP is sent: `a=rtcp`, the RTP port with mux, otherwise the RTP port + 1 (S10).
    package var remoteControl: SocketAddress
    /// RTP and RTCP share one port (RFC 5761).
    package var rtcpMux: Bool
    /// The codec we send.
    package var codec: AudioCodec
    /// The number of `codec` that the peer assigned (S2).
    package var sendPayloadType: UInt8
    /// Payload types we accept: our own numbers, and the peer's where they differ and mean nothing else.
    package var receive: [UInt8: AudioCodec]
    /// Nil if not negotiated: digits go by INFO or in-band.
    package var telephoneEvent: TelephoneEvent?
    /// Payload type of comfort noise (RFC 3389): received packets of it are rendered as soft noise. 13 unless the peer
    /// maps another number, whether it announced it or not.
    package var comfortNoise: UInt8
    /// Length of the packets that we send: what the peer wants, 10…60 ms, a multiple of 10 ms. Any length is received (S5).
    package var packetTime: Duration
    /// We send audio. RTCP goes on when neither way flows.
    package var sends: Bool
    /// Audio from the peer is expected: it is played, and the media watchdog (MED3) runs.
    package var receives: Bool
    /// The peer does not listen although we would speak: we are on hold, and silence is no fault (MED3).
    package var heldByPeer: Bool
    /// How to encode if the codec is Opus.
    package var opus: OpusParameters

    package init(
        local: SocketAddress, remote: SocketAddress, remoteControl: SocketAddress? = nil, rtcpMux: Bool = false,
        codec: AudioCodec, sendPayloadType: UInt8, receive: [UInt8: AudioCodec], telephoneEvent: TelephoneEvent? = nil,
        comfortNoise: UInt8 = 13, packetTime: Duration = .milliseconds(20), sends: Bool = true, receives: Bool = true,
        heldByPeer: Bool = false, opus: OpusParameters = OpusParameters()
    ) {
        self.local = local
        self.remote = remote
        self.remoteControl = remoteControl ?? SocketAddress(remote.address, rtcpMux ? remote.port : remote.port &+ 1)
        self.rtcpMux = rtcpMux
        self.codec = codec
        self.sendPayloadType = sendPayloadType
        self.receive = receive
        self.telephoneEvent = telephoneEvent
        self.comfortNoise = comfortNoise
        self.packetTime = packetTime
        self.sends = sends
        self.receives = receives
        self.heldByPeer = heldByPeer
        self.opus = opus
    }

    /// The flow from our side.
    package var direction: MediaDirection { MediaDirection(sends: sends, receives: receives) }
}

/// Negotiated RFC 4733 events.
package struct TelephoneEvent: Hashable, Sendable {
    /// The peer's number: what our packets carry (S2).
    package var send: UInt8
    /// Our own number: what the peer's packets carry. `send` is to be understood on receipt too, peers mix this up.
    package var receive: UInt8
    /// RTP clock of the events: that of the codec where the peer offered it (S3).
    package var clockRate: Int

    package init(send: UInt8, receive: UInt8, clockRate: Int) {
        self.send = send
        self.receive = receive
        self.clockRate = clockRate
    }
}

/// How Opus is encoded (RFC 7587 §6.1), as the peer asked.
package struct OpusParameters: Hashable, Sendable {
    /// Bits in a second, 6000…510 000: the peer's `maxaveragebitrate`, at most our own wish.
    package var bitRate: Int
    /// Send in-band forward error correction: the peer said `useinbandfec=1`.
    package var forwardErrorCorrection: Bool
    /// The peer said `usedtx=1`: silence may be left out.
    package var discontinuous: Bool

    package init(bitRate: Int = 24_000, forwardErrorCorrection: Bool = true, discontinuous: Bool = false) {
        self.bitRate = bitRate
        self.forwardErrorCorrection = forwardErrorCorrection
        self.discontinuous = discontinuous
    }
}
