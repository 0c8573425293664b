/// Continues a voice over lost packets (in the manner of ITU-T G.711 appendix I): the last pitch period is repeated and fades
/// out; what comes after the gap is faded in over it. Used by one thread; it allocates only when made.
package final class Concealment {
    private let history: SampleBuffer
    private let bridge: SampleBuffer
    private let rateHertz: Int
    private var known = 0
    private var period = 0
    private var phase = 0
    private var level: Float = 0

    /// Pitch periods that are looked for: 2.5…15 ms (66…400 Hz).
    private var shortest: Int { rateHertz / 400 }
    private var longest: Int { rateHertz * 15 / 1000 }
    /// What is compared.
    private var span: Int { rateHertz / 100 }
    /// Loss of level from sample to sample: silent after 60 ms.
    private var decay: Float { 1 / Float(rateHertz * 60 / 1000) }

    package init(rateHertz: Int) {
        self.rateHertz = rateHertz
        history = SampleBuffer(count: rateHertz * 30 / 1000)
        bridge = SampleBuffer(count: rateHertz / 250)
    }

    /// Takes note of what was decoded, and softens the seam after a gap in it.
    package func heard(_ samples: UnsafeMutableBufferPointer<Int16>) {
        if period > 0 {
            let count = min(bridge.samples.count, samples.count)
            let part = bridge.prefix(count)
            extend(into: part)
            for index in 0..<count {
                let weight = Float(index) / Float(count)
                samples[index] = Int16(Float(samples[index]) * weight + Float(part[index]) * (1 - weight))
            }
            period = 0
        }
        remember(samples)
    }

    /// Fills in for what was lost.
    package func conceal(into samples: UnsafeMutableBufferPointer<Int16>) {
        if period == 0 {
            period = findPeriod()
            phase = 0
            level = 1
        }
        extend(into: samples)
    }

    private func extend(into samples: UnsafeMutableBufferPointer<Int16>) {
        let past = history.samples
        guard known >= past.count, period > 0 else { return samples.silence() }
        for index in samples.indices {
            samples[index] = Int16(Float(past[past.count - period + phase]) * level)
            phase = phase + 1 == period ? 0 : phase + 1
            level = max(0, level - decay)
        }
    }

    private func remember(_ samples: UnsafeMutableBufferPointer<Int16>) {
        let past = history.samples
        let count = min(samples.count, past.count)
        let kept = past.count - count
        for index in 0..<kept { past[index] = past[index + count] }
        for index in 0..<count { past[kept + index] = samples[samples.count - count + index] }
        known = min(past.count, known + count)
    }

    /// The distance at which the end of the history is most like itself.
    private func findPeriod() -> Int {
        let past = history.samples
        guard known >= past.count else { return longest }
        let end = past.count - span
        var best = longest
        var bestLikeness: Float = -1
        for distance in shortest...longest {
            var product: Float = 0
            var energy: Float = 1
            // Every other sample tells enough.
            for index in stride(from: end, to: past.count, by: 2) {
                let earlier = Float(past[index - distance])
                product += Float(past[index]) * earlier
                energy += earlier * earlier
            }
            let likeness = product / energy.squareRoot()
            if likeness > bestLikeness {
                bestLikeness = likeness
                best = distance
            }
        }
        return best
    }
}
