import Audio
import RTP
import SDP

/// Makes a call's outgoing payloads from the engine's ticks. Made on the loop, used by the media thread.
final class VoiceEncoder {
    private enum Kind {
        case opus(OpusVoiceEncoder)
        case g722(G722Encoder)
        case aLaw, muLaw
    }

    let codec: AudioCodec
    /// Ticks in a packet.
    let packetTicks: Int
    private let kind: Kind
    private let resampler: Resampler
    private let converted: SampleBuffer
    private let queue: SampleQueue
    private let samples: SampleBuffer

    init(_ plan: MediaPlan, options: CallOptions, rateHertz: Int) throws(AudioError) {
        codec = plan.codec
        let ticks = max(1, min(6, Int(clamping: plan.packetTime.nanoseconds / Tick.nanoseconds)))
        // Opus has no packets of 30 or 50 ms.
        packetTicks = plan.codec == .opus && (ticks == 3 || ticks == 5) ? ticks - 1 : ticks
        // Opus resamples better than anybody could before it.
        let rate = plan.codec == .opus ? rateHertz : plan.codec.sampleRate
        switch plan.codec {
        case .opus:
            kind = .opus(
                try OpusVoiceEncoder(
                    rateHertz: rate, bitRate: plan.opus.bitRate, complexity: options.opusComplexity,
                    errorCorrection: plan.opus.forwardErrorCorrection, discontinuous: plan.opus.discontinuous))
        case .g722: kind = .g722(try G722Encoder())
        case .pcma: kind = .aLaw
        case .pcmu: kind = .muLaw
        }
        resampler = try Resampler(from: rateHertz, to: rate)
        let tick = Tick.samples(rateHertz: rateHertz)
        converted = SampleBuffer(count: Resampler.outputBound(tick, from: rateHertz, to: rate))
        samples = SampleBuffer(count: packetTicks * Tick.samples(rateHertz: rate))
        queue = SampleQueue(capacity: 2 * samples.samples.count + converted.samples.count)
    }

    /// Takes one tick at the engine's rate.
    func push(_ tick: UnsafeMutableBufferPointer<Int16>) {
        let made = resampler.process(UnsafeBufferPointer(tick), into: converted.samples).made
        queue.push(UnsafeBufferPointer(converted.prefix(made)))
    }

    /// Leaves what waits unsaid.
    func discard() { queue.clear() }

    /// Encodes the next packet behind its header.
    /// - Returns: octets of payload; 0 if the codec has nothing to say.
    func encode(into packet: inout [UInt8], from offset: Int) -> Int {
        let samples = samples.samples
        let count = queue.pop(into: samples)
        for index in count..<samples.count { samples[index] = 0 }
        return packet.withUnsafeMutableBufferPointer { packet in
            let octets = UnsafeMutableBufferPointer(rebasing: packet[offset...])
            switch kind {
            case .opus(let encoder): return encoder.encode(UnsafeBufferPointer(samples), into: octets)
            case .g722(let encoder): return encoder.encode(UnsafeBufferPointer(samples), into: octets)
            case .aLaw:
                for index in samples.indices { octets[index] = G711.encodeALaw(samples[index]) }
                return samples.count
            case .muLaw:
                for index in samples.indices { octets[index] = G711.encodeMuLaw(samples[index]) }
                return samples.count
            }
        }
    }

    /// Takes note of what the peer loses of ours.
    func expect(lossPercent: Int) {
        if case .opus(let encoder) = kind { encoder.expect(lossPercent: lossPercent) }
    }
}
