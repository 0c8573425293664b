import Audio
import Testing

@Suite struct ToneTests {
    @Test(arguments: [(50, 8000), (440, 8000), (1000, 16_000), (3000, 48_000), (7000, 16_000)])
    func oscillatorHasItsPitchAndLevel(_ hertz: Int, _ rate: Int) {
        let samples = sine(Float(hertz), rate: rate, count: rate)
        #expect(abs(amplitude(of: Double(hertz), in: samples, rate: rate) - 0.5) < 0.005)
        #expect(amplitude(of: Double(hertz) * 1.3, in: samples, rate: rate) < 0.01)
        #expect(peak(samples) <= 16_400)
    }

    @Test func inaudibleFrequencyIsSilence() {
        #expect(peak(sine(4000, rate: 8000, count: 100)) == 0)
        #expect(peak(sine(-1, rate: 8000, count: 100)) == 0)
    }

    /// Plays a plan's first seconds.
    private func play(_ plan: TonePlan, rate: Int = 8000, seconds: Int) -> (samples: [Int16], endsAtTick: Int?) {
        let player = TonePlayer(plan, rateHertz: rate)
        let tick = SampleBuffer(count: rate / 100)
        var samples: [Int16] = []
        var end: Int?
        for index in 0..<(seconds * 100) where end == nil {
            tick.samples.silence()
            if !player.add(to: tick.samples) { end = index }
            samples += tick.samples
        }
        return (samples, end)
    }

    /// On and off of a tone in steps of 10 ms, as runs of tens of milliseconds.
    private func cadence(_ samples: [Int16], rate: Int = 8000) -> [Int] {
        let loud = stride(from: 0, to: samples.count, by: rate / 100).map { start in
            peak(Array(samples[start..<min(samples.count, start + rate / 100)])) > 1000
        }
        var runs: [Int] = []
        var index = 0
        while index < loud.count {
            let end = loud[index...].firstIndex { $0 != loud[index] } ?? loud.count
            runs.append(end - index)
            index = end
        }
        return runs
    }

    @Test(arguments: [
        ("eu", [100, 400, 100], 425.0), ("de", [100, 400, 100], 425.0), ("fr", [150, 350, 100], 440.0),
        ("us", [200, 400], 480.0), ("uk", [40, 20, 40, 200, 40, 20], 450.0), ("nowhere", [100, 400, 100], 425.0),
    ])
    func ringbackHasTheCountrysCadence(_ country: String, _ runs: [Int], _ pitch: Double) {
        let (samples, end) = play(CallTone.ringback.plan(country: country), seconds: 6)
        #expect(end == nil)
        #expect(Array(cadence(samples).prefix(runs.count)) == runs)
        #expect(amplitude(of: pitch, in: Array(samples[800..<2400]), rate: 8000) > 0.1)
    }

    @Test(arguments: CallTone.allCases, ["eu", "us", "uk", "fr", "de", "it", "es", "at"])
    func toneEndsWhenItsPlanSays(_ tone: CallTone, _ country: String) {
        let plan = tone.plan(country: country)
        let (samples, end) = play(plan, seconds: 8)
        switch tone {
        case .ringback, .callWaiting:
            #expect(plan.duration == nil && end == nil)
        case .busy, .congestion:
            #expect((350...650).contains(end ?? 0))
        case .callEnded, .autoAnswer:
            #expect((20...150).contains(end ?? 0))
        }
        #expect(peak(samples) > 2000)
    }

    @Test func emptyPlanEndsAtOnce() {
        #expect(play(TonePlan([]), seconds: 1).endsAtTick == 0)
    }

    @Test func builtInRingIsLoudAndShort() {
        let ring = Sound.builtInRing
        #expect((0.5...2).contains(Double(ring.samples.count) / Double(ring.rateHertz)))
        #expect(peak(ring.samples) > 11_000)
    }

    @Test func ringRepeatsAndKeepsItsVolume() {
        let sound = Sound(rateHertz: 8000, samples: sine(1000, rate: 8000, count: 800))
        let player = RingPlayer(sound, gain: Gain(volume: 50), every: .milliseconds(300))
        let tick = SampleBuffer(count: 80)
        var samples: [Int16] = []
        for _ in 0..<70 {
            tick.samples.silence()
            player.add(to: tick.samples)
            samples += tick.samples
        }
        #expect(cadence(samples) == [10, 20, 10, 20, 10])
        #expect(abs(peak(samples) - 2048) < 20)
    }
}
