/// Takes out the difference between two clocks by playing a little faster or slower, too little to hear.
package struct RateBend {
    /// Change of the rate while it corrects.
    private static let step: Float = 0.003
    /// Weight of a new observation in the mean of the surplus.
    private static let weight: Float = 0.02

    /// Observations at the beginning that tell what is normal: a card's pointer may lag by up to a period, always by the same.
    private static let learning = 64

    private var observations = 0
    private var normal: Float = 0
    private var mean: Float = 0
    private var ratio: Float = 1
    private var position: Float = 0
    /// The last three samples of the tick before.
    private var history: (Float, Float, Float) = (0, 0, 0)

    package init() {}

    /// Whether ``process(_:into:)`` changes anything now.
    package var isActive: Bool { ratio != 1 }

    /// Forgets what is normal: the device starts anew.
    package mutating func restart() {
        observations = 0
        normal = 0
        mean = 0
        ratio = 1
    }

    /// Takes note of how many frames more than its goal the device holds.
    package mutating func observe(surplus: Int, tick: Int) {
        if observations < Self.learning {
            observations += 1
            normal += Float(max(-tick, min(tick, surplus))) / Float(Self.learning)
            return
        }
        mean += (Float(surplus) - normal - mean) * Self.weight
        let limit = Float(tick) / 2
        if ratio == 1 {
            if mean > limit { ratio = 1 + Self.step } else if mean < -limit { ratio = 1 - Self.step }
            if ratio != 1 { position = 0 }
        } else if (ratio > 1) == (mean < 0) {
            ratio = 1
        }
    }

    /// Resamples by the present ratio (cubic Hermite interpolation).
    /// - Returns: samples made; `output` holds two percent more than `input`.
    package mutating func process(
        _ input: UnsafeMutableBufferPointer<Int16>, into output: UnsafeMutableBufferPointer<Int16>
    ) -> Int {
        var made = 0
        var (a, b, c) = history
        var next = 0
        // `position` is where between b and c the next output lies.
        while next < input.count {
            let d = Float(input[next])
            while position < 1, made < output.count {
                let slopeB = (c - a) / 2
                let slopeC = (d - b) / 2
                let t = position
                let value =
                    b + t * (slopeB + t * (3 * (c - b) - 2 * slopeB - slopeC + t * (2 * (b - c) + slopeB + slopeC)))
                output[made] = Int16(min(32_767, max(-32_768, value)))
                made += 1
                position += ratio
            }
            position -= 1
            (a, b, c) = (b, c, d)
            next += 1
        }
        history = (a, b, c)
        return made
    }
}
