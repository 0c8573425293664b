import Primitives

/// What is taken of the peer's audio line.
struct Choice {
    let codec: AudioCodec
    /// The peer's number of the codec.
    let number: UInt8
    /// The peer's `a=fmtp` of the codec.
    let parameters: String?
    /// Ours to write into the answer: the codec and the events that go with it.
    let formats: [AudioFormat]
    /// Our address of the family that the peer has.
    let address: IPAddress
    let comfortNoise: UInt8
    /// Our own numbers where they differ from the peer's.
    var own: [AudioFormat.Kind: UInt8] = [:]
    private let events: AudioFormat?
    /// Codecs that may be received. The answerer takes one, so that the peer does not change between them.
    private let codecs: [AudioFormat]

    /// The codec is the first common one in the order of the line, or in ours where `local` wants that and the line is
    /// no answer. Throws `notAcceptable` with the reason.
    init(_ line: AudioLine, local: LocalMedia, answered: Bool = false) throws(NegotiationError) {
        let common = line.formats.filter { format in
            if case .codec(let codec) = format.kind { local.codecs.contains(codec) } else { false }
        }
        let own = local.codecs.lazy.compactMap { codec in common.first { $0.kind == .codec(codec) } }.first
        guard let chosen = local.prefersOwnOrder && !answered ? own : common.first, case .codec(let codec) = chosen.kind
        else { throw .notAcceptable("no common audio codec") }
        self.codec = codec
        number = chosen.number
        parameters = chosen.parameters
        codecs = answered ? common : [chosen]
        let offeredEvents = line.formats.filter { format in
            if case .telephoneEvent = format.kind { local.telephoneEvents } else { false }
        }
        events =
            offeredEvents.first { $0.kind == .telephoneEvent(clockRate: codec.clockRate) } ?? offeredEvents.first
        formats = [chosen] + (events.map { [$0] } ?? [])
        comfortNoise = line.formats.first { $0.kind == .comfortNoise }?.number ?? 13
        address = try Self.address(for: line.connection, local: local)
    }

    /// Payload types to accept: our own numbers first, then the peer's where they are free (peers mix them up).
    var receive: [UInt8: AudioCodec] {
        var receive: [UInt8: AudioCodec] = [:]
        for format in codecs {
            if case .codec(let codec) = format.kind { receive[own[format.kind] ?? format.number] = codec }
        }
        for format in codecs where receive[format.number] == nil && format.number != telephoneEvent?.receive {
            if case .codec(let codec) = format.kind { receive[format.number] = codec }
        }
        return receive
    }

    var telephoneEvent: TelephoneEvent? {
        guard let events, case .telephoneEvent(let clockRate) = events.kind else { return nil }
        return TelephoneEvent(send: events.number, receive: own[events.kind] ?? events.number, clockRate: clockRate)
    }

    private static func address(
        for connection: SessionDescription.Connection, local: LocalMedia
    ) throws(NegotiationError) -> IPAddress {
        let isV6: Bool
        switch connection {
        case .address(let address):
            if address.isUnspecified { return local.address }
            isV6 = address.isV6
        case .name(_, let family): isV6 = family
        }
        if local.address.isV6 == isV6 { return local.address }
        guard let other = local.otherAddress, other.isV6 == isV6 else {
            throw .notAcceptable("\(isV6 ? "IPv6" : "IPv4") address, which this device does not have")
        }
        return other
    }
}
