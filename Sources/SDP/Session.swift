import Primitives

/// What offer and answer have fixed so far.
struct Session: Sendable {
    /// Our m-lines as last sent: their count never falls, their order never changes (S1).
    var lines: [MediaDescription] = []
    /// Which of them is our audio.
    private(set) var audio = 0
    /// Our last description, with its version.
    private(set) var described: SessionDescription?
    private var version: UInt64 = 0
    /// What is agreed; its remote address is missing while `name` is set.
    private(set) var plan: MediaPlan?
    /// A name in `c=` whose address is not known.
    private(set) var name: String?
    private var lookedUp: (name: String, address: IPAddress)?
    /// `a=rtcp` gave an address of its own, which stays when a name is resolved.
    private var controlIsFixed = false
    /// Our own numbers: a number keeps its meaning for the whole session (RFC 3264 §8.3.2).
    private var numbers: [AudioFormat.Kind: UInt8] = [:]
    /// Numbers that the peer used for anything, so as not to confuse it with another use.
    private var foreign: Set<UInt8> = []
    /// `a=mid` of the audio, and whether the peer bundles it.
    private var identification: (mid: String, bundled: Bool)?

    // MARK: Our descriptions

    /// The m-lines of a new offer.
    mutating func offer(_ local: LocalMedia) -> [MediaDescription] {
        var kinds = local.codecs.map { AudioFormat.Kind.codec($0) }
        if local.telephoneEvents {
            let clocks = local.codecs.map(\.clockRate)
            for clock in [8_000, 48_000] where clocks.contains(clock) {
                kinds.append(.telephoneEvent(clockRate: clock))
            }
        }
        let formats = kinds.map { AudioFormat(number: assign($0), kind: $0) }
        let transport = lines.isEmpty ? "RTP/AVP" : lines[audio].transport
        let line = audioLine(
            formats, direction: local.direction, mux: local.rtcpMux, transport: transport, local: local)
        guard !lines.isEmpty else { return [line] }
        var media = lines.map(\.refused)
        media[audio] = line
        return media
    }

    /// Writes our description; its version rises only if it says something else than the last (S1).
    mutating func describe(
        _ media: [MediaDescription], local: LocalMedia, address: IPAddress, identity: UInt64
    ) {
        var next = SessionDescription(connection: .address(address), media: media)
        if let identification, identification.bundled, media[audio].port != 0 {
            next.attributes = [.init("group", "BUNDLE \(identification.mid)")]
        }
        next.origin = described?.origin
        next.origin?.address = address
        if described != next {
            version += 1
            next.origin = .init(identity: "\(identity)", version: "\(version)", address: address)
        }
        described = next
        lines = media
    }

    private func audioLine(
        _ formats: [AudioFormat], direction: MediaDirection, mux: Bool, transport: String, local: LocalMedia
    ) -> MediaDescription {
        var attributes: [SessionDescription.Attribute] = []
        for format in formats {
            attributes.append(.init("rtpmap", "\(format.number) \(format.kind.encoding)"))
            switch format.kind {
            case .telephoneEvent: attributes.append(.init("fmtp", "\(format.number) 0-15"))
            case .codec(.opus): attributes.append(.init("fmtp", "\(format.number) useinbandfec=1"))
            default: break
            }
        }
        attributes.append(.init("ptime", "\(local.packetTime.nanoseconds / 1_000_000)"))
        if let identification { attributes.append(.init("mid", identification.mid)) }
        if mux { attributes.append(.init("rtcp-mux")) }
        attributes.append(.init(direction.rawValue))
        return MediaDescription(
            kind: "audio", port: local.port, transport: transport, formats: formats.map { "\($0.number)" },
            attributes: attributes)
    }

    // MARK: Payload type numbers

    /// Our number for a format: the one it has, its usual one, or the first free dynamic one.
    private mutating func assign(_ kind: AudioFormat.Kind) -> UInt8 {
        if let number = numbers[kind] { return number }
        let usual = kind.usualNumber
        let taken = foreign.union(numbers.values)
        let number = usual < 96 || !taken.contains(usual) ? usual : (96...127).first { !taken.contains($0) } ?? usual
        numbers[kind] = number
        return number
    }

    /// Takes over the numbers of the peer's offer (S2).
    private mutating func adopt(_ formats: [AudioFormat], all words: [String]) {
        foreign = Set(words.compactMap { UInt8($0) })
        numbers = numbers.filter { !foreign.contains($0.value) }
        for format in formats.reversed() { numbers[format.kind] = format.number }
    }

    // MARK: The peer's descriptions

    /// Takes the peer's offer: the m-lines of our answer and the address to write into it.
    mutating func accept(
        _ offer: SessionDescription, local: LocalMedia
    ) throws(NegotiationError) -> (media: [MediaDescription], address: IPAddress) {
        var media = offer.media.map(\.refused)
        var refusal: NegotiationError?
        for (index, offered) in offer.media.enumerated() where offered.port != 0 {
            do throws(NegotiationError) {
                let line = try AudioLine(offered, in: offer)
                let choice = try Choice(line, local: local)
                adopt(line.formats, all: offered.formats)
                identification = Self.identification(of: offered, in: offer)
                audio = index
                let direction = line.direction.reversed.intersection(local.direction)
                let mux = line.offersMux && local.rtcpMux
                media[index] = audioLine(
                    choice.formats, direction: direction, mux: mux, transport: offered.transport, local: local)
                agree(
                    line, choice: choice, direction: direction, mux: mux,
                    local: SocketAddress(choice.address, local.port), wishes: local)
                plan?.heldByPeer = local.direction.sends && !line.direction.receives
                return (media, choice.address)
            } catch {
                refusal = refusal ?? error
            }
        }
        // Ending the audio of a running call with port 0 is a hold in old devices; a call without any is none.
        guard plan != nil, offer.media[audio].port == 0, refusal == nil else {
            throw refusal ?? .notAcceptable("no audio in it")
        }
        plan?.sends = false
        plan?.receives = false
        plan?.heldByPeer = local.direction.sends
        return (media, plan?.local.address ?? local.address)
    }

    /// Takes the peer's answer to our last description.
    mutating func conclude(_ answer: SessionDescription, local: LocalMedia) throws(NegotiationError) {
        guard answer.media.indices.contains(audio) else { throw .malformed("fewer m-lines than in our offer") }
        let answered = answer.media[audio]
        guard answered.port != 0 else { throw .notAcceptable("the audio was refused") }
        let known = Dictionary(numbers.map { ($0.value, $0.key) }) { first, _ in first }
        let line = try AudioLine(answered, in: answer, known: known)
        var choice = try Choice(line, local: local, answered: true)
        guard choice.address == local.address else { throw .notAcceptable("an address of the other family") }
        choice.own = numbers
        let direction = line.direction.reversed.intersection(local.direction)
        let held = local.direction.sends ? !line.direction.receives : plan?.heldByPeer ?? false
        agree(
            line, choice: choice, direction: direction, mux: line.offersMux && local.rtcpMux,
            local: SocketAddress(local.address, local.port), wishes: local)
        plan?.heldByPeer = held
    }

    private mutating func agree(
        _ line: AudioLine, choice: Choice, direction: MediaDirection, mux: Bool, local: SocketAddress,
        wishes: LocalMedia
    ) {
        let before = plan
        var address = IPAddress.anyV4
        name = nil
        switch line.connection {
        case .address(let given): address = given
        case .name(let host, _):
            if let lookedUp, lookedUp.name == host { address = lookedUp.address } else { name = host }
        }
        controlIsFixed = line.control?.address != nil && !mux
        let remote = SocketAddress(address, line.port)
        var control = SocketAddress(address, mux ? line.port : line.control?.port ?? line.port &+ 1)
        if controlIsFixed, let fixed = line.control?.address { control.address = fixed }
        var next = MediaPlan(
            local: local, remote: remote, remoteControl: control, rtcpMux: mux, codec: choice.codec,
            sendPayloadType: choice.number, receive: choice.receive, telephoneEvent: choice.telephoneEvent,
            comfortNoise: choice.comfortNoise,
            packetTime: line.packetTime(choice.codec, ours: wishes.packetTime),
            sends: direction.sends, receives: direction.receives,
            opus: AudioLine.opusParameters(choice.parameters, bitRate: wishes.opusBitRate))
        if case .address(let given) = line.connection, given.isUnspecified, let before {
            // Held in the old style: where the peer is has not changed.
            next.remote = before.remote
            next.remoteControl = before.remoteControl
        }
        plan = next
    }

    mutating func resolve(to address: IPAddress) {
        guard let name else { return }
        lookedUp = (name, address)
        self.name = nil
        plan?.remote.address = address
        if !controlIsFixed { plan?.remoteControl.address = address }
    }

    /// Only token characters are written back.
    private static func identification(
        of media: MediaDescription, in session: SessionDescription
    ) -> (mid: String, bundled: Bool)? {
        guard let mid = media.attributes.text("mid"), !mid.isEmpty, mid.count <= 64, mid.isVisible else { return nil }
        let bundled = session.attributes.contains { attribute in
            guard attribute.nameText.matches("group"), var words = attribute.valueText?.words else { return false }
            return words.next()?.matches("bundle") == true && words.contains(mid)
        }
        return (mid.string, bundled)
    }
}

extension MediaDescription {
    /// The same line with port 0 and one format.
    fileprivate var refused: MediaDescription {
        MediaDescription(kind: kind, port: 0, transport: transport, formats: Array(formats.prefix(1)))
    }
}
