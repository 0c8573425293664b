extension Sound {
    /// The ring of a device that names no file: two bursts of a warble between 800 and 1000 Hz, about a second.
    package static let builtInRing: Sound = {
        let rate = 16_000
        var low = Oscillator(hertz: 800, rateHertz: rate, amplitude: 12_000)
        var high = Oscillator(hertz: 1000, rateHertz: rate, amplitude: 12_000)
        // Two harmonics carry through a door.
        var lowOvertone = Oscillator(hertz: 2400, rateHertz: rate, amplitude: 4000)
        var highOvertone = Oscillator(hertz: 3000, rateHertz: rate, amplitude: 4000)
        let warble = rate / 20
        var samples: [Int16] = []
        let block = SampleBuffer(count: warble)
        for burst in 0..<2 {
            for part in 0..<8 {
                block.samples.silence()
                if part.isMultiple(of: 2) {
                    low.add(to: block.samples)
                    lowOvertone.add(to: block.samples)
                } else {
                    high.add(to: block.samples)
                    highOvertone.add(to: block.samples)
                }
                samples += block.samples
            }
            if burst == 0 { samples += [Int16](repeating: 0, count: rate / 5) }
        }
        return Sound(rateHertz: rate, samples: samples)
    }()
}
