import Audio
import RTP
import SDP

/// Makes samples at the engine's rate from a call's incoming payloads. Made on the loop, used by the media thread.
final class VoiceDecoder {
    private enum Kind {
        case opus(OpusVoiceDecoder)
        case g722(G722Decoder, Concealment)
        case aLaw(Concealment)
        case muLaw(Concealment)
    }

    let codec: AudioCodec
    private let kind: Kind
    private let rate: Int
    private let resampler: Resampler
    private let decoded: SampleBuffer
    private let converted: SampleBuffer
    /// Samples of the last packet: a lost one had as many.
    private var packetSamples: Int

    /// No packet holds more.
    private static let longestMilliseconds = 120

    init(_ codec: AudioCodec, rateHertz: Int) throws(AudioError) {
        self.codec = codec
        rate = codec == .opus ? rateHertz : codec.sampleRate
        switch codec {
        case .opus: kind = .opus(try OpusVoiceDecoder(rateHertz: rate))
        case .g722: kind = .g722(try G722Decoder(), Concealment(rateHertz: rate))
        case .pcma: kind = .aLaw(Concealment(rateHertz: rate))
        case .pcmu: kind = .muLaw(Concealment(rateHertz: rate))
        }
        packetSamples = 2 * Tick.samples(rateHertz: rate)
        decoded = SampleBuffer(count: rate * Self.longestMilliseconds / 1000)
        resampler = try Resampler(from: rate, to: rateHertz)
        converted = SampleBuffer(
            count: Resampler.outputBound(decoded.samples.count, from: rate, to: rateHertz))
    }

    /// Decodes a payload into the queue.
    func decode(_ payload: UnsafeBufferPointer<UInt8>, into queue: SampleQueue) {
        let made: Int
        switch kind {
        case .opus(let decoder): made = decoder.decode(payload, into: decoded.samples)
        case .g722(let decoder, let concealment):
            made = decoder.decode(payload, into: decoded.samples)
            concealment.heard(decoded.prefix(made))
        case .aLaw(let concealment):
            made = expand(payload, G711.decodeALaw)
            concealment.heard(decoded.prefix(made))
        case .muLaw(let concealment):
            made = expand(payload, G711.decodeMuLaw)
            concealment.heard(decoded.prefix(made))
        }
        if made == 0 { return conceal(following: UnsafeBufferPointer(start: nil, count: 0), into: queue) }
        packetSamples = made
        push(made, into: queue)
    }

    /// Fills in for a lost packet; `following` is the one after it, or empty.
    func conceal(following: UnsafeBufferPointer<UInt8>, into queue: SampleQueue) {
        let gap = decoded.prefix(packetSamples)
        switch kind {
        case .opus(let decoder):
            let made = decoder.conceal(following: following, into: gap)
            for index in made..<gap.count { gap[index] = 0 }
        case .g722(_, let concealment), .aLaw(let concealment), .muLaw(let concealment):
            concealment.conceal(into: gap)
        }
        push(gap.count, into: queue)
    }

    private func push(_ count: Int, into queue: SampleQueue) {
        let made = resampler.process(UnsafeBufferPointer(decoded.prefix(count)), into: converted.samples).made
        queue.push(UnsafeBufferPointer(converted.prefix(made)))
    }

    @inline(__always)
    private func expand(_ payload: UnsafeBufferPointer<UInt8>, _ law: (UInt8) -> Int16) -> Int {
        let samples = decoded.samples
        let count = min(payload.count, samples.count)
        for index in 0..<count { samples[index] = law(payload[index]) }
        return count
    }
}
