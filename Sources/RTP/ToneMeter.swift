/// Measures how strong one frequency is in a block of samples (Goertzel's algorithm).
package struct ToneMeter: Sendable {
    private let coefficient: Double

    /// Frequency in hertz, below half of `sampleRate`.
    package init(frequency: Double, sampleRate: Int) {
        coefficient = 2 * cosine(2 * .pi * frequency / Double(max(sampleRate, 1)))
    }

    /// Amplitude of the tone, 0…1 of full scale. A block of a whole number of periods measures best; its length sets
    /// the width of the band: 1/length, so 400 samples at 8 kHz tell frequencies 20 Hz apart.
    package func amplitude(_ samples: some RandomAccessCollection<Int16>) -> Double {
        guard !samples.isEmpty else { return 0 }
        var last = 0.0
        var before = 0.0
        for sample in samples {
            let next = Double(sample) + coefficient * last - before
            before = last
            last = next
        }
        let power = max(last * last + before * before - coefficient * last * before, 0)
        return 2 * power.squareRoot() / Double(samples.count) / 32_768
    }
}

/// The cosine of an angle in radians, by its series after bringing the angle near zero: no C library is needed.
package func cosine(_ angle: Double) -> Double {
    let reduced = angle.remainder(dividingBy: 2 * .pi)
    var term = 1.0
    var sum = 1.0
    for index in stride(from: 2.0, through: 30, by: 2) {
        term *= -reduced * reduced / (index * (index - 1))
        sum += term
    }
    return sum
}
