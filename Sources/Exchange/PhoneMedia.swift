import Primitives
import RTP
import SDP

/// The sound of a phone's call: it says a tone and measures what it hears. G.711 both ways.
struct PhoneMedia: Sendable {
    enum Event {
        case heard(Hearing)
        case digit(DTMFSignal)
    }

    /// A driver that comes later than this gets no packets made up for what it missed.
    private static let longestDelay = Duration.milliseconds(100)

    private(set) var plan: MediaPlan
    private var stream: OutgoingStream
    private var latch: SourceLatch
    private var keys: DTMFSender
    private var keysHeard = DTMFReceiver()
    private var tone: ToneSource
    private var ear: Ear
    private var timestamp: UInt32 = 0
    private var isFirst = true
    private var nextAt: Instant

    init(
        plan: MediaPlan, tone frequency: Double, amplitude: Double, listensFor frequencies: [Double],
        random: inout Randomness, at now: Instant
    ) {
        self.plan = plan
        stream = OutgoingStream(randomness: &random)
        latch = SourceLatch(remote: plan.remote)
        keys = DTMFSender(clockRate: plan.telephoneEvent?.clockRate ?? 8000)
        tone = ToneSource(frequency: frequency, amplitude: amplitude, sampleRate: 8000)
        ear = Ear(listensFor: frequencies)
        nextAt = now
    }

    /// When the next packet is due.
    var deadline: Instant? { earliest(nextAt, keysHeard.deadline) }

    /// Another offer and answer: a hold, or a peer that moved.
    mutating func follow(_ plan: MediaPlan) {
        if plan.remote != self.plan.remote { latch.rearm(remote: plan.remote) }
        self.plan = plan
    }

    /// Queues a key; false if the peer understands none, or if too many wait.
    mutating func press(_ key: DTMFSignal) -> Bool { plan.telephoneEvent != nil && keys.send(key) }

    // MARK: Sending

    /// The packets that are due, with where they go.
    mutating func deadlineReached(at now: Instant) -> [(octets: [UInt8], to: SocketAddress)] {
        _ = keysHeard.expire(at: now)
        if now - nextAt > Self.longestDelay { nextAt = now }
        var packets: [(octets: [UInt8], to: SocketAddress)] = []
        while nextAt <= now {
            if let packet = nextPacket(at: now) { packets.append((packet, latch.remote)) }
            nextAt += plan.packetTime
        }
        return packets
    }

    private mutating func nextPacket(at now: Instant) -> [UInt8]? {
        let units = plan.codec.timestampUnits(in: plan.packetTime)
        defer { timestamp &+= UInt32(truncatingIfNeeded: units) }
        let speech = (0..<units).map { _ in encode(tone.next()) }
        guard plan.sends else { return nil }
        var packet = [UInt8](repeating: 0, count: RTPHeader.size)
        switch keys.next(at: timestamp) {
        case .nothing: return nil
        case .event(let marker, let start, let payload):
            guard let number = plan.telephoneEvent?.send else { return nil }
            stream.writeHeader(
                into: &packet, payloadType: number, marker: marker, timestamp: start, payloadCount: 4, at: now)
            return packet + (0..<4).map { UInt8(truncatingIfNeeded: payload >> (24 - 8 * UInt32($0))) }
        case .audio:
            stream.writeHeader(
                into: &packet, payloadType: plan.sendPayloadType, marker: isFirst, timestamp: timestamp,
                payloadCount: speech.count, at: now)
            isFirst = false
            return packet + speech
        }
    }

    private func encode(_ sample: Int16) -> UInt8 {
        plan.codec == .pcma ? G711.encodeALaw(sample) : G711.encodeMuLaw(sample)
    }

    // MARK: Receiving

    /// Takes a datagram that came to the RTP port. A gap or a swap of packets is heard as it comes.
    mutating func received(_ octets: [UInt8], from sender: SocketAddress, at now: Instant, _ events: inout [Event]) {
        guard PacketKind(octets, count: octets.count) == .rtp, let header = RTPHeader(octets, count: octets.count)
        else { return }
        let codec = plan.receive[header.payloadType]
        let isKey = [plan.telephoneEvent?.receive, plan.telephoneEvent?.send].contains(header.payloadType)
        guard latch.accept(header, from: sender, isNegotiated: codec != nil || isKey, at: now) else { return }
        if isKey, codec == nil {
            if let key = keysHeard.receive(octets, header, at: now).began { events.append(.digit(key)) }
            return
        }
        guard codec == .pcma || codec == .pcmu else { return }
        for code in octets[header.payload] {
            let sample = codec == .pcma ? G711.decodeALaw(code) : G711.decodeMuLaw(code)
            if let hearing = ear.hear(sample) { events.append(.heard(hearing)) }
        }
    }
}
