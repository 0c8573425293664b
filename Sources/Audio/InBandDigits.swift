import CSpandsp

/// Makes the tone pairs of digits (ITU-T Q.23). A value type: it allocates nothing.
package struct DigitTone {
    private var low: Oscillator
    private var high: Oscillator

    /// Peak of each frequency, in sample units: −10 dB of full scale together.
    private static let amplitude: Float = 5000

    /// Nil for an octet that is no digit (`0`…`9`, `*`, `#`, `A`…`D`).
    package init?(_ digit: UInt8, rateHertz: Int) {
        let rows: (Float, Float, Float, Float) = (697, 770, 852, 941)
        let columns: (Float, Float, Float, Float) = (1209, 1336, 1477, 1633)
        let pair: (Float, Float)
        switch digit {
        case 0x31: pair = (rows.0, columns.0)
        case 0x32: pair = (rows.0, columns.1)
        case 0x33: pair = (rows.0, columns.2)
        case 0x41: pair = (rows.0, columns.3)
        case 0x34: pair = (rows.1, columns.0)
        case 0x35: pair = (rows.1, columns.1)
        case 0x36: pair = (rows.1, columns.2)
        case 0x42: pair = (rows.1, columns.3)
        case 0x37: pair = (rows.2, columns.0)
        case 0x38: pair = (rows.2, columns.1)
        case 0x39: pair = (rows.2, columns.2)
        case 0x43: pair = (rows.2, columns.3)
        case 0x2A: pair = (rows.3, columns.0)
        case 0x30: pair = (rows.3, columns.1)
        case 0x23: pair = (rows.3, columns.2)
        case 0x44: pair = (rows.3, columns.3)
        default: return nil
        }
        low = Oscillator(hertz: pair.0, rateHertz: rateHertz, amplitude: Self.amplitude)
        high = Oscillator(hertz: pair.1, rateHertz: rateHertz, amplitude: Self.amplitude)
    }

    /// Replaces the samples by the tone.
    package mutating func fill(_ samples: UnsafeMutableBufferPointer<Int16>) {
        samples.silence()
        low.add(to: samples)
        high.add(to: samples)
    }
}

/// Hears digits in a voice (I3): tones of 40 ms and more, within the limits of twist and level of ITU-T Q.24. Used by one thread.
package final class DigitListener {
    private let state: UnsafeMutableRawPointer
    private let resampler: Resampler
    private let converted: SampleBuffer

    private static let rateHertz = 8000

    /// - Parameter rateHertz: of the samples that it hears, in ticks.
    package init(rateHertz: Int) throws(AudioError) {
        guard let state = portero_dtmf_receiver() else { throw .library("no DTMF receiver") }
        self.state = state
        do {
            resampler = try Resampler(from: rateHertz, to: Self.rateHertz)
        } catch {
            portero_dtmf_receiver_free(state)
            throw error
        }
        converted = SampleBuffer(
            count: Resampler.outputBound(
                Tick.samples(rateHertz: rateHertz), from: rateHertz, to: Self.rateHertz))
    }

    deinit { portero_dtmf_receiver_free(state) }

    /// Listens to one tick.
    /// - Returns: the digit that became certain in it, else nil.
    package func listen(_ tick: UnsafeMutableBufferPointer<Int16>) -> UInt8? {
        let made = resampler.process(UnsafeBufferPointer(tick), into: converted.samples).made
        var digit: CChar = 0
        let count = portero_dtmf_receive(state, converted.samples.baseAddress, Int32(clamping: made), &digit, 1)
        return count > 0 ? UInt8(bitPattern: digit) : nil
    }
}
