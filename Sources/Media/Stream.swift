import Audio
import CLinux
import EventLoop
import Primitives
import RTP
import SDP

/// One call's sound: its sockets, codecs and buffers. Made on the loop, used by the media thread, freed on the loop.
final class Stream {
    let key: CallKey
    let counters: StreamCounters
    let link: MediaLink
    var current: StreamPlan

    // What comes in.
    let slow = Reception(clockRate: 8000)
    let fast = Reception(clockRate: 48_000)
    /// The clock of the packet that came last: its reception is played.
    var isFast: Bool
    var latch: SourceLatch
    var events = DTMFReceiver()
    /// The datagram that is looked at.
    var datagram = [UInt8](repeating: 0, count: Int(PORTERO_DATAGRAM))
    private var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
    private let queue: SampleQueue
    private let said: SampleBuffer
    private var noise = ComfortNoise()
    private var lastMeaning: StreamPlan.Meaning
    private var saidPower: Float = 0
    var hasReceived = false
    var turnsToReports = 0

    // What goes out.
    var outgoing: OutgoingStream
    var randomness = Randomness.system
    var packet = [UInt8](repeating: 0, count: RTPHeader.size + 1500)
    var remote: portero_address
    private let mouth: SampleBuffer
    private var mutedTicks: Int
    /// Ticks since the start: the RTP timestamps.
    var ticks: UInt32 = 0
    private var ticksInPacket = 0
    private var startsSpurt = true

    // Reports.
    let cname: [UInt8]
    var report: [UInt8] = []
    var reportDue: Instant?
    var meter = PowerMeter()
    var quality = QualityWindow()

    /// Below this mean square (−50 dB of full scale) a packet may be left out or repeated unheard.
    private static let quiet: Float = 5300

    init(
        _ key: CallKey, _ plan: StreamPlan, _ counters: StreamCounters, _ link: MediaLink, rateHertz: Int,
        mutedTicks: Int
    ) {
        self.key = key
        self.counters = counters
        self.link = link
        self.mutedTicks = mutedTicks
        current = plan
        isFast = plan.plan.codec == .opus
        lastMeaning = StreamPlan.Meaning(plan.plan.codec)
        latch = SourceLatch(remote: plan.plan.remote)
        remote = portero_address(plan.plan.remote)
        var randomness = Randomness.system
        outgoing = OutgoingStream(randomness: &randomness)
        cname = Array(randomness.token(bits: 96).utf8)
        report.reserveCapacity(256)
        let tick = Tick.samples(rateHertz: rateHertz)
        said = SampleBuffer(count: tick)
        mouth = SampleBuffer(count: tick)
        // A packet of 120 ms on top of what was not played yet.
        queue = SampleQueue(capacity: 16 * tick)
    }

    /// The tick that the peer says now.
    var output: UnsafeMutableBufferPointer<Int16> { said.samples }

    /// The reception that is played.
    var reception: Reception { isFast ? fast : slow }

    /// Goes on by another plan.
    /// - Returns: the former one, to be freed on the loop.
    func adopt(_ next: StreamPlan) -> StreamPlan {
        let former = current
        current = next
        if next.plan.remote != former.plan.remote {
            latch.rearm(remote: next.plan.remote)
            remote = portero_address(next.plan.remote)
        }
        ticksInPacket = 0
        startsSpurt = true
        return former
    }

    // MARK: - The peer's voice

    /// Makes the next tick of ``output`` from what has arrived.
    func decode(at now: Instant) {
        let tick = said.samples
        guard current.plan.receives else {
            queue.clear()
            return tick.silence()
        }
        // A packet holds at least one tick in all that peers send; the bound is against those that hold less.
        for _ in 0..<16 where queue.count < tick.count {
            if !pull(at: now) { break }
        }
        let count = queue.pop(into: tick)
        if count < tick.count { noise.fill(UnsafeMutableBufferPointer(rebasing: tick[count...])) }
        saidPower = power(tick)
        if let listener = current.listener, let digit = listener.listen(tick),
            let signal = DTMFSignal(character: digit)
        {
            tell(.digit(key.number, signal.event, inBand: true))
        }
    }

    /// Decodes one packet's worth; false if nothing is due.
    private func pull(at now: Instant) -> Bool {
        let result = reception.jitter.pull(at: now, isQuiet: saidPower < Self.quiet, into: &frame)
        switch result {
        case .packet(let payloadType, let count, let content):
            quality.played += 1
            if content == .comfortNoise {
                noise.set(level: frame[0] & 127)
                return false
            }
            noise.stop()
            lastMeaning = current.meaning(of: payloadType)
            withFrame(count) { current.decoder(lastMeaning)?.decode($0, into: queue) }
            return true
        case .conceal(let following):
            quality.concealed += 1
            withFrame(following) { current.decoder(lastMeaning)?.conceal(following: $0, into: queue) }
            return true
        case .silence: return false
        }
    }

    private func withFrame(_ count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        frame.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[..<count])) }
    }

    // MARK: - Our voice

    /// Sends what the microphone heard, together with what the other calls say.
    /// - Parameter others: the mix of all calls, if there are others.
    func send(
        _ heard: UnsafeMutableBufferPointer<Int16>, others: UnsafeMutableBufferPointer<Int16>?, at now: Instant
    ) {
        ticks &+= 1
        prepare(heard, others)
        let mouth = mouth.samples
        if meter.add(heard: mouth, played: output) {
            counters.sentPower.store(UInt32(meter.heardPower), ordering: .relaxed)
            counters.receivedPower.store(UInt32(meter.playedPower), ordering: .relaxed)
            publish()
        }
        sendReport(at: now)
        expireEvent(at: now)
        guard current.plan.sends else {
            startsSpurt = true
            ticksInPacket = 0
            return current.encoder.discard()
        }
        current.encoder.push(mouth)
        ticksInPacket += 1
        if ticksInPacket < current.encoder.packetTicks { return }
        ticksInPacket = 0
        sendPacket(at: now)
    }

    private func prepare(_ heard: UnsafeMutableBufferPointer<Int16>, _ others: UnsafeMutableBufferPointer<Int16>?) {
        let mouth = mouth.samples
        if mutedTicks > 0 {
            mutedTicks -= 1
            mouth.silence()
        } else if counters.isMuted.load(ordering: .relaxed) {
            mouth.silence()
        } else {
            _ = mouth.update(fromContentsOf: heard)
        }
        if let others {
            let own = output
            for index in mouth.indices {
                let sum = Int32(mouth[index]) &+ Int32(others[index]) &- Int32(own[index])
                mouth[index] = Int16(truncatingIfNeeded: min(32_767, max(-32_768, sum)))
            }
        }
        current.digits.replace(mouth)
    }

    private func sendPacket(at now: Instant) {
        let start = ticks &- UInt32(truncatingIfNeeded: current.encoder.packetTicks)
        switch current.digits.event(at: start &* current.eventUnitsPerTick) {
        case .event(let marker, let timestamp, let payload):
            guard let type = current.plan.telephoneEvent?.send else { return }
            current.encoder.discard()
            for index in 0..<4 {
                packet[RTPHeader.size + index] = UInt8(truncatingIfNeeded: payload >> UInt32(24 - 8 * index))
            }
            transmit(4, payloadType: type, marker: marker, timestamp: timestamp, at: now)
            startsSpurt = true
        case .nothing: current.encoder.discard()
        case .audio:
            let count = current.encoder.encode(into: &packet, from: RTPHeader.size)
            if count == 0 {
                startsSpurt = true
                return
            }
            transmit(
                count, payloadType: current.plan.sendPayloadType, marker: startsSpurt,
                timestamp: start &* current.unitsPerTick, at: now)
            startsSpurt = false
        }
    }

    private func transmit(_ count: Int, payloadType: UInt8, marker: Bool, timestamp: UInt32, at now: Instant) {
        outgoing.writeHeader(
            into: &packet, payloadType: payloadType, marker: marker, timestamp: timestamp, payloadCount: count, at: now)
        // What the network does not take is lost like any other packet.
        _ = portero_send(current.ports.rtpDescriptor, packet, RTPHeader.size + count, &remote, nil)
        counters.sent.wrappingAdd(1, ordering: .relaxed)
    }

    func send(digit event: UInt8, milliseconds: Int) {
        if let signal = DTMFSignal(event: event) { current.digits.send(signal, milliseconds: milliseconds) }
    }

    func tell(_ report: Report) {
        _ = link.reports.push(report)
        link.wakeUp.signal()
    }
}
