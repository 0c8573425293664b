import Audio
import CLinux
import EventLoop
import Primitives
import RTP
import SDP

extension Stream {
    /// Looks at the control socket are so many turns apart.
    private static let turnsBetweenReports = 8

    /// Takes what has arrived at the call's sockets.
    func receive(at now: Instant, _ datagrams: Datagrams) {
        datagrams.receive(from: current.ports.rtpDescriptor, now: now) { octets, source, arrival in
            let count = copy(octets)
            switch PacketKind(datagram, count: count) {
            case .rtp: takeRTP(count, from: source, at: arrival)
            case .rtcp: takeReport(count, from: source, at: arrival)
            case .stun, .dtls, .turnChannel, .other: break
            }
        }
        // Reports are stamped by the kernel too: a look in a while is soon enough.
        turnsToReports -= 1
        if current.plan.rtcpMux || turnsToReports > 0 { return }
        turnsToReports = Self.turnsBetweenReports
        datagrams.receive(from: current.ports.rtcpDescriptor, now: now) { octets, source, arrival in
            let count = copy(octets)
            if PacketKind(datagram, count: count) == .rtcp { takeReport(count, from: source, at: arrival) }
        }
    }

    private func copy(_ octets: UnsafeRawBufferPointer) -> Int {
        let count = min(octets.count, datagram.count)
        datagram.withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: octets[..<count])) }
        return count
    }

    private func takeRTP(_ count: Int, from source: SocketAddress, at arrival: Instant) {
        guard let header = RTPHeader(datagram, count: count) else { return }
        let meaning = current.meaning(of: header.payloadType)
        let wasLatched = latch.remote
        guard latch.accept(header, from: source, isNegotiated: meaning != .unknown, at: arrival) else {
            return counters.foreign.store(latch.dropped, ordering: .relaxed)
        }
        if latch.remote != wasLatched {
            remote = portero_address(latch.remote)
            tell(.latched(key.number, remote))
        }
        if header.ssrc == outgoing.ssrc, resolveCollision(at: arrival) { return }
        counters.lastReceived.store(arrival.nanoseconds, ordering: .relaxed)
        if meaning == .unknown { return }
        counters.received.wrappingAdd(1, ordering: .relaxed)
        hasReceived = true
        let isAudio = meaning != .telephoneEvent && meaning != .comfortNoise
        if isAudio { isFast = current.isFastClock(meaning) }
        let reception = reception
        _ = reception.statistics.receive(header, timed: isAudio, at: arrival)
        if meaning == .telephoneEvent {
            note(events.receive(datagram, header, at: arrival))
            _ = reception.jitter.insert(datagram, header, content: .other, at: arrival)
        } else {
            let content: JitterBuffer.Content = isAudio ? .audio : .comfortNoise
            _ = reception.jitter.insert(datagram, header, content: content, at: arrival)
        }
    }

    /// Ends an event whose last packets were lost.
    func expireEvent(at now: Instant) { note(events.expire(at: now)) }

    private func note(_ outcome: DTMFReceiver.Outcome) {
        if let signal = outcome.began { tell(.digit(key.number, signal.event, inBand: false)) }
    }
}
