import RTP

/// A sine tone without end.
struct ToneSource: Sendable {
    private let coefficient: Double
    private var last: Double
    private var before: Double

    /// Frequency in hertz, below half of `sampleRate`; amplitude 0…1 of full scale.
    init(frequency: Double, amplitude: Double, sampleRate: Int) {
        let cosine = cosine(2 * .pi * frequency / Double(max(sampleRate, 1)))
        let peak = min(max(amplitude, 0), 1) * 32_767
        coefficient = 2 * cosine
        last = 0
        before = -peak * max(0, 1 - cosine * cosine).squareRoot()
    }

    /// By the recurrence of the sine: sin(n+1)w = 2 cos w sin nw - sin(n-1)w.
    mutating func next() -> Int16 {
        let sample = last
        (last, before) = (coefficient * last - before, last)
        return Int16(max(-32_768, min(32_767, sample.rounded())))
    }
}
