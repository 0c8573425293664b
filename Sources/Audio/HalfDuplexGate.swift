/// Ducks the microphone while the far side talks, so that a speaker beside a microphone does not howl.
package struct HalfDuplexGate {
    /// Ticks for which the gate stays shut after the far side's last word: the sound's way through card and room.
    private static let hold = 25
    /// Mean square above which the far side talks: −45 dB of full scale.
    private static let threshold: Float = 34_000
    /// Factor of the shut gate in units of 1/32768: −40 dB.
    private static let shut: Int32 = 328
    /// Change of the factor from tick to tick: shuts in 20 ms, opens in 100 ms.
    private static let closing: Int32 = 16_384
    private static let opening: Int32 = 3277

    private var ticksLeft = 0
    private var factor: Int32 = 32_768

    package init() {}

    /// Takes the far side's tick and changes the microphone's.
    package mutating func duck(
        _ heard: UnsafeMutableBufferPointer<Int16>, against played: UnsafeMutableBufferPointer<Int16>
    ) {
        if power(played) > Self.threshold {
            ticksLeft = Self.hold
        } else if ticksLeft > 0 {
            ticksLeft -= 1
        }
        let goal =
            ticksLeft > 0 ? max(Self.shut, factor - Self.closing) : min(32_768, factor + Self.opening)
        ramp(heard, from: factor, to: goal)
        factor = goal
    }

    private func ramp(_ samples: UnsafeMutableBufferPointer<Int16>, from: Int32, to: Int32) {
        if from == 32_768, to == 32_768 { return }
        let count = Int32(truncatingIfNeeded: max(1, samples.count))
        for index in samples.indices {
            let factor = from + (to - from) * Int32(truncatingIfNeeded: index) / count
            samples[index] = Int16(truncatingIfNeeded: (Int32(samples[index]) &* factor) >> 15)
        }
    }
}
