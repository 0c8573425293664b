import Audio
import CLinux
import Primitives
import RTP
import SDP

/// What a stream does until its next update: the plan with its codecs, sockets and addresses. Made on the loop, handed over
/// whole, and given back to be freed there.
final class StreamPlan {
    /// What a payload type means.
    enum Meaning: UInt8 {
        case unknown, opus, g722, pcma, pcmu, telephoneEvent, comfortNoise

        init(_ codec: AudioCodec) {
            switch codec {
            case .opus: self = .opus
            case .g722: self = .g722
            case .pcma: self = .pcma
            case .pcmu: self = .pcmu
            }
        }
    }

    let plan: MediaPlan
    let ports: RTPPortPair
    let encoder: VoiceEncoder
    let digits: DigitSending
    /// Nil unless digits are listened for in the voice.
    let listener: DigitListener?
    /// Units of the RTP clock in a tick, of what we send.
    let unitsPerTick: UInt32
    /// The same of telephone events.
    let eventUnitsPerTick: UInt32
    private let meanings: UnsafeMutableBufferPointer<Meaning>
    private let opus: VoiceDecoder?
    private let g722: VoiceDecoder?
    private let pcma: VoiceDecoder?
    private let pcmu: VoiceDecoder?

    init(_ plan: MediaPlan, ports: RTPPortPair, options: CallOptions, rateHertz: Int) throws(AudioError) {
        self.plan = plan
        self.ports = ports
        encoder = try VoiceEncoder(plan, options: options, rateHertz: rateHertz)
        unitsPerTick = UInt32(plan.codec.clockRate / 100)
        eventUnitsPerTick = UInt32(clamping: (plan.telephoneEvent?.clockRate ?? plan.codec.clockRate) / 100)
        digits = DigitSending(plan, rateHertz: rateHertz)
        listener =
            options.hearsInBandDigits && plan.telephoneEvent == nil ? try DigitListener(rateHertz: rateHertz) : nil
        func decoder(_ codec: AudioCodec) throws(AudioError) -> VoiceDecoder? {
            plan.codec == codec || plan.receive.values.contains(codec)
                ? try VoiceDecoder(codec, rateHertz: rateHertz) : nil
        }
        opus = try decoder(.opus)
        g722 = try decoder(.g722)
        pcma = try decoder(.pcma)
        pcmu = try decoder(.pcmu)
        meanings = .allocate(capacity: 128)
        meanings.initialize(repeating: .unknown)
        meanings[Int(plan.comfortNoise & 127)] = .comfortNoise
        if let event = plan.telephoneEvent {
            // Peers mix up whose number is whose: both are understood.
            meanings[Int(event.send & 127)] = .telephoneEvent
            meanings[Int(event.receive & 127)] = .telephoneEvent
        }
        for (type, codec) in plan.receive { meanings[Int(type & 127)] = Meaning(codec) }
    }

    deinit { meanings.deallocate() }

    func meaning(of payloadType: UInt8) -> Meaning { meanings[Int(payloadType & 127)] }

    func decoder(_ meaning: Meaning) -> VoiceDecoder? {
        switch meaning {
        case .opus: opus
        case .g722: g722
        case .pcma: pcma
        case .pcmu: pcmu
        case .unknown, .telephoneEvent, .comfortNoise: nil
        }
    }

    /// Whether packets of this meaning count time by the Opus clock.
    func isFastClock(_ meaning: Meaning) -> Bool { meaning == .opus }
}

/// What arrives with one RTP clock.
final class Reception {
    var jitter: JitterBuffer
    var statistics: ReceptionStatistics

    init(clockRate: Int) {
        jitter = JitterBuffer(clockRate: clockRate)
        statistics = ReceptionStatistics(clockRate: clockRate)
    }
}
