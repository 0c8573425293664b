/// A sine wave that goes on without a step from tick to tick.
package struct Oscillator {
    private var phase: UInt32 = 0
    private let step: UInt32
    private let amplitude: Float

    /// - Parameters:
    ///   - hertz: below half of the rate; anything else is silence.
    ///   - amplitude: peak, in sample units.
    package init(hertz: Float, rateHertz: Int, amplitude: Float) {
        let turns = hertz / Float(max(1, rateHertz))
        let audible = turns > 0 && turns < 0.5
        step = audible ? UInt32(turns * 4_294_967_296) : 0
        self.amplitude = audible ? amplitude : 0
    }

    /// Adds the next samples to those in the buffer, held at the ends of the range.
    package mutating func add(to samples: UnsafeMutableBufferPointer<Int16>) {
        if amplitude == 0 { return }
        for index in samples.indices {
            let sum = Int32(samples[index]) &+ Int32(amplitude * Self.sine(phase))
            samples[index] = Int16(truncatingIfNeeded: min(32_767, max(-32_768, sum)))
            phase = phase &+ step
        }
    }

    /// Starts at a rising zero again.
    package mutating func restart() { phase = 0 }

    /// Sine of a turn divided into 2³² parts, to 1/5000: odd polynomial of a quarter turn.
    @inline(__always)
    private static func sine(_ phase: UInt32) -> Float {
        // -1…1 over a half turn either way of zero, folded to a quarter turn.
        var turn = Float(Int32(bitPattern: phase)) / 2_147_483_648
        if turn > 0.5 { turn = 1 - turn }
        if turn < -0.5 { turn = -1 - turn }
        let square = turn * turn
        return turn * (3.141_592_7 - square * (5.167_712_8 - square * (2.550_164 - square * 0.599_264_5)))
    }
}
