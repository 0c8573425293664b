import Primitives

/// What an audio m-line of the peer says, understood together with its session level.
struct AudioLine {
    var formats: [AudioFormat]
    /// As the peer wrote it; a peer at 0.0.0.0 does not receive (S4).
    var direction: MediaDirection
    var connection: SessionDescription.Connection
    var port: UInt16
    /// `a=rtcp`: port, and address if one is given.
    var control: (port: UInt16, address: IPAddress?)?
    var offersMux: Bool
    /// `a=ptime` if it is in 10…60 ms, otherwise it was absent or absurd.
    var packetMilliseconds: Int?
    /// `a=maxptime` if it is at least 10 ms.
    var longestPacketMilliseconds: Int?

    /// Throws `notAcceptable` if it is not an RTP line that we can take; the reason is the error's.
    init(_ media: MediaDescription, in session: SessionDescription, known: [UInt8: AudioFormat.Kind] = [:])
        throws(NegotiationError)
    {
        guard media.isPlainAudio else { throw .notAcceptable("\(media.kind) over \(media.transport)") }
        guard let connection = media.connection ?? session.connection else { throw .malformed("no c= line") }
        if case .address(let address) = connection, address.isMulticast || address == .v4(.max) {
            throw .notAcceptable("multicast address \(address)")
        }
        self.connection = connection
        port = media.port
        formats = media.audioFormats(known: known)
        let stated = media.attributes.direction ?? session.attributes.direction ?? .sendrecv
        let listens = if case .address(let address) = connection { !address.isUnspecified } else { true }
        direction = MediaDirection(sends: stated.sends, receives: stated.receives && listens && media.port != 0)
        control = Self.control(media.attributes.text("rtcp"))
        offersMux = media.attributes.has("rtcp-mux")
        packetMilliseconds = Self.milliseconds(media.attributes.value("ptime")).flatMap {
            (10...60).contains($0) ? $0 : nil
        }
        longestPacketMilliseconds = Self.milliseconds(media.attributes.value("maxptime")).flatMap {
            $0 >= 10 ? $0 : nil
        }
    }

    /// RFC 3605: `40003` or `40003 IN IP4 192.0.2.1`.
    private static func control(_ value: OctetText?) -> (port: UInt16, address: IPAddress?)? {
        guard var words = value?.words, let number = words.next(), let port = UInt16(exactly: number.decimal ?? 0),
            port != 0
        else { return nil }
        guard words.next() != nil, words.next() != nil, let place = words.next(), words.next() == nil,
            let address = IPAddress(place), !address.isMulticast, !address.isUnspecified
        else { return (port, nil) }
        return (port, address)
    }

    /// Fractions are cut off.
    private static func milliseconds(_ value: String?) -> Int? {
        value.flatMap { Int($0.prefix { $0 != "." && $0 != " " }) }
    }

    /// How long our packets shall be (S5): the peer's wish, else ours, within what the peer and the codec can take.
    func packetTime(_ codec: AudioCodec, ours: Duration) -> Duration {
        let wish = packetMilliseconds ?? Int(clamping: ours.nanoseconds / 1_000_000)
        let limited = min(max(wish, 10), 60, longestPacketMilliseconds ?? 60) / 10 * 10
        guard codec == .opus else { return .milliseconds(limited) }
        return .milliseconds([60, 40, 20, 10].first { $0 <= limited } ?? 10)  // RFC 6716: there is no 30 or 50.
    }

    /// What the peer asks of our Opus encoder (RFC 7587 §6.1).
    static func opusParameters(_ parameters: String?, bitRate ceiling: Int) -> OpusParameters {
        var opus = OpusParameters(bitRate: ceiling, forwardErrorCorrection: false)
        var rest = OctetText(parameters ?? "")
        while !rest.isEmpty {
            let (part, after) = rest.cut(at: 0x3B) ?? (rest, OctetText(""))
            rest = after
            guard let (name, value) = part.cut(at: 0x3D) else { continue }
            if name.trimmed.matches("useinbandfec") {
                opus.forwardErrorCorrection = value.trimmed.decimal == 1
            } else if name.trimmed.matches("usedtx") {
                opus.discontinuous = value.trimmed.decimal == 1
            } else if name.trimmed.matches("maxaveragebitrate"), let limit = value.trimmed.decimal,
                (6_000...510_000).contains(limit)
            {
                opus.bitRate = min(opus.bitRate, limit)
            }
        }
        return opus
    }
}

extension MediaDescription {
    /// Audio over RTP without encryption. Crypto lines in it are ignored: they only invite.
    var isPlainAudio: Bool {
        let transport = OctetText(transport)
        return OctetText(kind).matches("audio") && (transport.matches("rtp/avp") || transport.matches("rtp/avpf"))
    }
}
