import Audio

/// Amplitude of a frequency in samples, 0…1 of full scale (Goertzel's algorithm).
func amplitude(of hertz: Double, in samples: [Int16], rate: Int) -> Double {
    let coefficient = 2 * cosine(2 * .pi * hertz / Double(rate))
    var (last, before) = (0.0, 0.0)
    for sample in samples { (last, before) = (Double(sample) + coefficient * last - before, last) }
    let power = max(0, last * last + before * before - coefficient * last * before)
    return 2 * power.squareRoot() / Double(max(1, samples.count)) / 32_768
}

private func cosine(_ angle: Double) -> Double {
    var (term, sum) = (1.0, 1.0)
    for index in stride(from: 2.0, through: 40, by: 2) {
        term *= -angle * angle / (index * (index - 1))
        sum += term
    }
    return sum
}

/// A sine of half of full scale.
func sine(_ hertz: Float, rate: Int, count: Int) -> [Int16] {
    var oscillator = Oscillator(hertz: hertz, rateHertz: rate, amplitude: 16_384)
    let buffer = SampleBuffer(count: count)
    oscillator.add(to: buffer.samples)
    return Array(buffer.samples)
}

/// Loudest sample.
func peak(_ samples: [Int16]) -> Int { samples.map { abs(Int($0)) }.max() ?? 0 }

extension SampleBuffer {
    convenience init(_ samples: [Int16]) {
        self.init(count: samples.count)
        for (index, sample) in samples.enumerated() { self.samples[index] = sample }
    }
}
