import RTP

/// What was heard in a stretch of a call, measured.
package struct Hearing: Hashable, Sendable {
    /// Root mean square, 0…1 of full scale.
    package var level: Double
    /// Amplitude of each frequency listened for, in hertz; 0…1 of full scale.
    package var tones: [Double: Double]
}

/// Collects samples and measures them stretch by stretch.
struct Ear: Sendable {
    /// 200 ms at 8 kHz: tells frequencies 5 Hz apart.
    private static let stretch = 1600

    private let meters: [(frequency: Double, meter: ToneMeter)]
    private var samples: [Int16] = []

    init(listensFor frequencies: [Double]) {
        meters = frequencies.map { ($0, ToneMeter(frequency: $0, sampleRate: 8000)) }
        samples.reserveCapacity(Self.stretch)
    }

    /// The measurement, each time that a stretch is complete.
    mutating func hear(_ sample: Int16) -> Hearing? {
        samples.append(sample)
        guard samples.count == Self.stretch else { return nil }
        let power = samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count)
        let tones = meters.map { ($0.frequency, $0.meter.amplitude(samples)) }
        samples.removeAll(keepingCapacity: true)
        return Hearing(
            level: power.squareRoot() / 32_768, tones: Dictionary(tones) { first, _ in first })
    }
}
