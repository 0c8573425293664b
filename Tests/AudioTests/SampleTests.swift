import Audio
import Testing

@Suite struct SampleTests {
    @Test func queueKeepsOrderAndLimit() {
        let queue = SampleQueue(capacity: 100)
        #expect(queue.room == 128)
        var next: Int16 = 0
        var expected: Int16 = 0
        let output = SampleBuffer(count: 50)
        for round in 0..<100 {
            let input = SampleBuffer((0..<(round % 47)).map { next &+ Int16($0) })
            let taken = round % 47 == 0 ? 0 : queue.push(UnsafeBufferPointer(input.prefix(round % 47)))
            next &+= Int16(taken)
            let count = queue.pop(into: output.prefix(round % 31))
            for index in 0..<count {
                #expect(output.samples[index] == expected)
                expected &+= 1
            }
            #expect(queue.count <= 128)
        }
        queue.drop(1_000_000)
        #expect(queue.count == 0)
        queue.drop(-1)
        #expect(queue.count == 0)
    }

    @Test func volumeIsMonotonicFromSilenceToFull() {
        var last: Int32 = -1
        for volume in 0...100 {
            let factor = Gain(volume: volume).factor
            #expect(factor >= last)
            last = factor
        }
        #expect(Gain(volume: 0).factor == 0 && Gain(volume: 100).factor == 32_768)
        #expect(Gain(volume: -5).factor == 0 && Gain(volume: 900).factor == 32_768)
        let buffer = SampleBuffer([32_767, -32_768, 100])
        Gain(volume: 100).apply(to: buffer.samples)
        #expect(Array(buffer.samples) == [32_767, -32_768, 100])
        Gain(volume: 0).apply(to: buffer.samples)
        #expect(Array(buffer.samples) == [0, 0, 0])
    }

    @Test func mixIsHeldAtTheEndsOfTheRange() {
        let sum = SampleBuffer([30_000, -30_000, 5])
        let other = SampleBuffer([10_000, -10_000, -7])
        mix(other.samples, into: sum.samples)
        #expect(Array(sum.samples) == [32_767, -32_768, -2])
    }

    @Test func levelsAreThoseOfASine() {
        let full = Oscillator(hertz: 1000, rateHertz: 8000, amplitude: 32_767)
        var oscillator = full
        let buffer = SampleBuffer(count: 800)
        oscillator.add(to: buffer.samples)
        #expect(abs(decibels(power: Double(power(buffer.samples)))) < 0.1)
        buffer.samples.silence()
        #expect(abs(decibels(power: Double(power(buffer.samples))) + 96) < 0.1)
    }

    @Test(arguments: [
        (8000, 48_000), (16_000, 48_000), (48_000, 8000), (8000, 44_100), (44_100, 16_000), (48_000, 48_000),
    ])
    func resamplingKeepsPitchAndLevel(_ from: Int, _ to: Int) throws {
        let sound = Sound(rateHertz: from, samples: sine(1000, rate: from, count: from))
        let other = try sound.resampled(to: to)
        #expect(abs(other.samples.count - to) <= 2)
        let middle = Array(other.samples[(to / 10)..<(to * 9 / 10)])
        #expect(abs(amplitude(of: 1000, in: middle, rate: to) - 0.5) < 0.01)
    }

    /// A live stream gets a whole tick out for each tick in, from the first one on.
    @Test(arguments: [(8000, 48_000), (48_000, 8000), (16_000, 8000), (8000, 44_100)])
    func liveResamplingGivesWholeTicks(_ from: Int, _ to: Int) throws {
        let resampler = try Resampler(from: from, to: to)
        let input = SampleBuffer(count: from / 100)
        let output = SampleBuffer(count: Resampler.outputBound(from / 100, from: from, to: to))
        for _ in 0..<50 {
            let (used, made) = resampler.process(UnsafeBufferPointer(input.samples), into: output.samples)
            #expect(used == from / 100 && made == to / 100)
        }
    }

    @Test func absurdRatesAreRefused() {
        #expect(throws: AudioError.self) { try Resampler(from: 0, to: 8000) }
        #expect(throws: AudioError.self) { try Resampler(from: 8000, to: 1_000_000) }
    }

    @Test func bendCorrectsASurplusAndEnds() {
        var bend = RateBend()
        for _ in 0..<200 { bend.observe(surplus: 20, tick: 480) }
        #expect(!bend.isActive)
        for _ in 0..<200 { bend.observe(surplus: 400, tick: 480) }
        #expect(bend.isActive)
        // Faster: fewer samples come out than go in, and the voice stays what it was.
        let input = SampleBuffer(sine(440, rate: 48_000, count: 480 * 100))
        let output = SampleBuffer(count: 500)
        var samples: [Int16] = []
        for tick in 0..<100 {
            let part = UnsafeMutableBufferPointer(rebasing: input.samples[(tick * 480)..<((tick + 1) * 480)])
            samples += output.prefix(bend.process(part, into: output.samples))
        }
        #expect((47_800...47_900).contains(samples.count))
        #expect(abs(amplitude(of: 441.3, in: samples, rate: 48_000) - 0.5) < 0.02)
        for _ in 0..<400 { bend.observe(surplus: -30, tick: 480) }
        #expect(!bend.isActive)
    }

    @Test func gateDucksWhileTheFarSideTalks() {
        var gate = HalfDuplexGate()
        let far = SampleBuffer(sine(440, rate: 8000, count: 80))
        let silence = SampleBuffer(count: 80)
        func near(against other: SampleBuffer, ticks: Int) -> Int {
            var last = 0
            for _ in 0..<ticks {
                let voice = SampleBuffer(sine(600, rate: 8000, count: 80))
                gate.duck(voice.samples, against: other.samples)
                last = peak(Array(voice.samples))
            }
            return last
        }
        #expect(near(against: silence, ticks: 5) > 16_000)
        #expect(near(against: far, ticks: 10) < 400)
        #expect(near(against: silence, ticks: 20) < 400)
        #expect(near(against: silence, ticks: 30) > 16_000)
    }

    @Test(arguments: ["silent", "wav:/tmp/a b.wav", "tone:440", "default", "hw:CARD=Speaker,DEV=0", "plughw:1,0"])
    func deviceNamesAreReadAndWritten(_ text: String) {
        #expect(DeviceName(text)?.description == text)
    }

    @Test(arguments: ["", "wav:", "tone:", "tone:x", "tone:19", "tone:20001", "tone:-5", "file:'|reboot',raw"])
    func wrongDeviceNamesAreRefused(_ text: String) { #expect(DeviceName(text) == nil) }
}
