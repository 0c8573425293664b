/// A volume of 0…100 as a factor for samples.
///
/// The curve is cubic, as sound servers have it: 100 leaves samples as they are, 50 takes 18 dB off, 0 is silence.
package struct Gain: Equatable, Sendable {
    /// The factor in units of 1/32768, 0…32768.
    package let factor: Int32

    package init(volume: Int) {
        let part = Double(min(100, max(0, volume))) / 100
        factor = Int32((part * part * part * 32_768).rounded())
    }

    package init(factor: Int32) { self.factor = min(32_768, max(0, factor)) }

    package static let full = Gain(volume: 100)
    package static let mute = Gain(volume: 0)

    package func apply(to samples: UnsafeMutableBufferPointer<Int16>) {
        if factor == 32_768 { return }
        for index in samples.indices {
            samples[index] = Int16(truncatingIfNeeded: (Int32(samples[index]) &* factor) >> 15)
        }
    }
}

/// Adds `other` to `samples`, held at the ends of the range.
package func mix(_ other: UnsafeMutableBufferPointer<Int16>, into samples: UnsafeMutableBufferPointer<Int16>) {
    for index in 0..<min(samples.count, other.count) {
        let sum = Int32(samples[index]) &+ Int32(other[index])
        samples[index] = Int16(truncatingIfNeeded: min(32_767, max(-32_768, sum)))
    }
}

/// Mean square of the samples; 0 for none.
package func power(_ samples: UnsafeMutableBufferPointer<Int16>) -> Float {
    if samples.isEmpty { return 0 }
    var sum: Int64 = 0
    for sample in samples { sum &+= Int64(Int32(sample) &* Int32(sample)) }
    return Float(sum) / Float(samples.count)
}
