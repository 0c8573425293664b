import Audio
import Primitives
import RTP
import SDP

/// Digits on their way out: as telephone events, or as tones in the voice.
final class DigitSending {
    /// The events; unused if they were not negotiated.
    private var events: DTMFSender
    private let hasEvents: Bool

    private let rateHertz: Int
    private var waiting: [(digit: UInt8, ticks: Int)] = []
    private var tone: DigitTone?
    private var ticksLeft = 0
    private var gapLeft = 0

    /// Digits that wait at most; further ones are left out.
    static let limit = 64
    /// Silence between two tones.
    private static let gapTicks = 10

    init(_ plan: MediaPlan, rateHertz: Int) {
        hasEvents = plan.telephoneEvent != nil
        events = DTMFSender(clockRate: plan.telephoneEvent?.clockRate ?? 8000)
        self.rateHertz = rateHertz
        waiting.reserveCapacity(Self.limit)
    }

    func send(_ digit: DTMFSignal, milliseconds: Int) {
        if hasEvents {
            _ = events.send(digit, duration: .milliseconds(milliseconds))
        } else if let character = digit.character, waiting.count < Self.limit {
            waiting.append((character, max(4, milliseconds / 10)))
        }
    }

    /// What goes out instead of a packet of audio.
    func event(at timestamp: UInt32) -> DTMFSender.Output {
        hasEvents && events.isBusy ? events.next(at: timestamp) : .audio
    }

    /// Puts a tone in the place of the microphone while one is due.
    func replace(_ tick: UnsafeMutableBufferPointer<Int16>) {
        if tone == nil, gapLeft == 0, let next = waiting.first {
            waiting.removeFirst()
            tone = DigitTone(next.digit, rateHertz: rateHertz)
            ticksLeft = next.ticks
        }
        if gapLeft > 0 {
            gapLeft -= 1
            tick.silence()
        }
        guard tone != nil else { return }
        tone?.fill(tick)
        ticksLeft -= 1
        if ticksLeft <= 0 {
            tone = nil
            gapLeft = Self.gapTicks
        }
    }
}
