import Audio
import CLinux
import Primitives
import RTP
import SDP
import Synchronization

/// What of the last seconds was heard and what had to be concealed.
struct QualityWindow {
    var played = 0
    var concealed = 0

    /// The share that was concealed, and a new window once this one is long enough.
    mutating func loss() -> Double {
        let total = played + concealed
        let share = total == 0 ? 0 : Double(concealed) / Double(total)
        if total >= 500 {
            played /= 2
            concealed /= 2
        }
        return share
    }
}

extension Stream {
    /// Between two reports (MED1), give or take a quarter, so that calls do not keep step.
    private static let reportInterval: Duration = .seconds(5)
    private static let firstReport: Duration = .seconds(1)

    /// Sends a sender or receiver report when it is time.
    func sendReport(at now: Instant) {
        guard let due = reportDue else {
            reportDue = now + Self.firstReport
            return
        }
        if now < due { return }
        let jitter = Int64(truncatingIfNeeded: randomness.next() & 0xFFFF) - 0x8000
        reportDue = now + Self.reportInterval + .nanoseconds(jitter * 38_000)
        RTCPWriter.report(
            into: &report, source: outgoing.ssrc, info: senderInfo(at: now),
            block: hasReceived ? reception.statistics.report(at: now) : nil, cname: cname)
        sendControl()
    }

    private func senderInfo(at now: Instant) -> SenderInfo? {
        guard let last = outgoing.lastTimestamp else { return nil }
        let passed = (now - last.at).nanoseconds / 1000 * Int64(current.plan.codec.clockRate) / 1_000_000
        return SenderInfo(
            ntpTime: ntpTime(now), rtpTimestamp: last.timestamp &+ UInt32(truncatingIfNeeded: passed),
            packets: outgoing.packets, octets: outgoing.octets)
    }

    /// The end of the call, for the peer's statistics.
    func sayGoodbye() {
        RTCPWriter.goodbye(into: &report, source: outgoing.ssrc, cname: cname)
        sendControl()
    }

    /// Another sender was heard with our source.
    /// - Returns: true if the packet was our own, come back: it is not to be played.
    func resolveCollision(at now: Instant) -> Bool {
        guard let old = outgoing.resolveCollision(randomness: &randomness) else { return true }
        RTCPWriter.goodbye(into: &report, source: old, cname: cname)
        sendControl()
        return false
    }

    private func sendControl() {
        let plan = current.plan
        if plan.rtcpMux {
            _ = portero_send(current.ports.rtpDescriptor, report, report.count, &remote, nil)
            return
        }
        // After latching reports follow the voice: its address, the next port.
        let target =
            latch.remote == plan.remote
            ? plan.remoteControl : SocketAddress(latch.remote.address, latch.remote.port &+ 1)
        var address = portero_address(target)
        _ = portero_send(current.ports.rtcpDescriptor, report, report.count, &address, nil)
    }

    func takeReport(_ count: Int, from source: SocketAddress, at arrival: Instant) {
        guard latch.acceptsControl(from: source), var reader = RTCPReader(datagram, count: count, reducedSize: true)
        else { return }
        counters.lastReceived.store(arrival.nanoseconds, ordering: .relaxed)
        while let packet = reader.next(of: datagram) {
            switch packet {
            case .senderReport(let source, let info, let blocks):
                reception.statistics.receive(info, from: source, at: arrival)
                take(blocks, at: arrival)
            case .receiverReport(_, let blocks): take(blocks, at: arrival)
            case .sourceDescription, .goodbye, .feedback, .other: break
            }
        }
    }

    private func take(_ blocks: Range<Int>, at arrival: Instant) {
        for index in stride(from: blocks.lowerBound, to: blocks.upperBound, by: ReportBlock.size) {
            guard let block = ReportBlock(datagram, at: index), block.source == outgoing.ssrc else { continue }
            if let roundTrip = CallQuality.roundTrip(block, at: arrival) {
                counters.roundTrip.store(roundTrip.nanoseconds, ordering: .relaxed)
            }
            current.encoder.expect(lossPercent: Int(block.fractionLost) * 100 / 256)
        }
    }

    /// Puts the counts where the loop reads them; ten times a second.
    func publish() {
        let reception = reception
        counters.lost.store(max(0, Int(reception.statistics.lost)), ordering: .relaxed)
        counters.jitter.store(reception.statistics.jitter.nanoseconds, ordering: .relaxed)
        if !hasReceived { return }
        let roundTrip = max(0, counters.roundTrip.load(ordering: .relaxed))
        let delay = Duration.nanoseconds(roundTrip / 2) + reception.jitter.target + current.plan.packetTime
        let score = CallQuality.meanOpinionScore(
            codec: current.plan.codec, loss: quality.loss(), delay: delay + Self.deviceDelay)
        counters.meanOpinionScore.store(Int(score * 100), ordering: .relaxed)
    }

    /// What cards on both sides add, about.
    private static let deviceDelay: Duration = .milliseconds(40)
}

extension StreamCounters {
    /// What the loop makes of the counts.
    func statistics(codec: AudioCodec) -> StreamStatistics {
        var statistics = StreamStatistics(codec: codec)
        statistics.sent = sent.load(ordering: .relaxed)
        statistics.received = received.load(ordering: .relaxed)
        statistics.lost = lost.load(ordering: .relaxed)
        statistics.foreign = foreign.load(ordering: .relaxed)
        statistics.jitter = .nanoseconds(jitter.load(ordering: .relaxed))
        let roundTrip = roundTrip.load(ordering: .relaxed)
        statistics.roundTrip = roundTrip < 0 ? nil : .nanoseconds(roundTrip)
        let score = meanOpinionScore.load(ordering: .relaxed)
        statistics.meanOpinionScore = score == 0 ? nil : Double(score) / 100
        statistics.lastReceived = lastInstant
        statistics.receivedLevel = decibels(power: Double(receivedPower.load(ordering: .relaxed)))
        statistics.sentLevel = decibels(power: Double(sentPower.load(ordering: .relaxed)))
        return statistics
    }

    var lastInstant: Instant? {
        let nanoseconds = lastReceived.load(ordering: .relaxed)
        return nanoseconds == .min ? nil : Instant(nanoseconds: nanoseconds)
    }
}
