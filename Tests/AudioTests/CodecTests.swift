import Audio
import Testing

@Suite struct CodecTests {
    @Test(arguments: [8000, 16_000, 48_000], [10, 20, 40, 60])
    func opusKeepsATone(_ rate: Int, _ milliseconds: Int) throws {
        let encoder = try OpusVoiceEncoder(
            rateHertz: rate, bitRate: 28_000, complexity: 5, errorCorrection: true, discontinuous: false)
        let decoder = try OpusVoiceDecoder(rateHertz: rate)
        let voice = sine(600, rate: rate, count: rate)
        let octets = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1500)
        defer { octets.deallocate() }
        let output = SampleBuffer(count: rate * 120 / 1000)
        var heard: [Int16] = []
        let length = rate * milliseconds / 1000
        for start in stride(from: 0, to: voice.count - length + 1, by: length) {
            let packet = SampleBuffer(Array(voice[start..<start + length]))
            let count = encoder.encode(UnsafeBufferPointer(packet.samples), into: octets)
            #expect(count > 2 && count < 400)
            let made = decoder.decode(
                UnsafeBufferPointer(UnsafeMutableBufferPointer(rebasing: octets[..<count])), into: output.samples)
            #expect(made == length)
            heard += output.prefix(made)
        }
        #expect(abs(amplitude(of: 600, in: Array(heard.dropFirst(rate / 5)), rate: rate) - 0.5) < 0.1)
    }

    @Test func opusRefusesWhatItCannot() throws {
        #expect(throws: AudioError.self) { try OpusVoiceDecoder(rateHertz: 44_100) }
        let encoder = try OpusVoiceEncoder(
            rateHertz: 8000, bitRate: 99_999_999, complexity: 99, errorCorrection: true, discontinuous: true)
        let odd = SampleBuffer(count: 123)
        let octets = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 100)
        defer { octets.deallocate() }
        #expect(encoder.encode(UnsafeBufferPointer(odd.samples), into: octets) == 0)
    }

    @Test func opusConcealsAndTakesRubbish() throws {
        let decoder = try OpusVoiceDecoder(rateHertz: 48_000)
        let output = SampleBuffer(count: 5760)
        let nothing = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        #expect(decoder.conceal(following: nothing, into: output.prefix(960)) == 960)
        for length in 1..<200 {
            let rubbish = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + length) }
            rubbish.withUnsafeBufferPointer {
                #expect(decoder.decode($0, into: output.samples) <= 5760)
                #expect(decoder.conceal(following: $0, into: output.prefix(960)) <= 960)
            }
        }
    }

    @Test func g722KeepsAWideTone() throws {
        let encoder = try G722Encoder()
        let decoder = try G722Decoder()
        let voice = SampleBuffer(sine(3000, rate: 16_000, count: 16_000))
        let octets = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 8000)
        defer { octets.deallocate() }
        #expect(encoder.encode(UnsafeBufferPointer(voice.samples), into: octets) == 8000)
        let output = SampleBuffer(count: 16_000)
        #expect(decoder.decode(UnsafeBufferPointer(octets), into: output.samples) == 16_000)
        #expect(abs(amplitude(of: 3000, in: Array(output.samples[1600...]), rate: 16_000) - 0.5) < 0.05)
        // More octets than the buffer has room for are left out.
        #expect(decoder.decode(UnsafeBufferPointer(octets), into: output.prefix(321)) == 320)
    }

    @Test(arguments: [8000, 16_000])
    func concealmentGoesOnAndFades(_ rate: Int) {
        let concealment = Concealment(rateHertz: rate)
        let voice = sine(200, rate: rate, count: rate / 2)
        let frame = rate / 50
        for start in stride(from: 0, to: voice.count, by: frame) {
            let part = SampleBuffer(Array(voice[start..<start + frame]))
            concealment.heard(part.samples)
        }
        let gap = SampleBuffer(count: frame)
        concealment.conceal(into: gap.samples)
        let first = Array(gap.samples)
        // The pitch goes on without a step.
        let truth = sine(200, rate: rate, count: rate / 2 + frame).suffix(frame)
        let difference = zip(first, truth).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(difference < 7000)
        #expect(peak(first) > 12_000)
        concealment.conceal(into: gap.samples)
        #expect(peak(Array(gap.samples)) < peak(first))
        for _ in 0..<3 { concealment.conceal(into: gap.samples) }
        #expect(peak(Array(gap.samples)) == 0)
    }

    @Test func concealmentWithoutHistoryIsSilence() {
        let gap = SampleBuffer([5, 5, 5])
        Concealment(rateHertz: 8000).conceal(into: gap.samples)
        #expect(Array(gap.samples) == [0, 0, 0])
    }

    @Test func comfortNoiseIsSoft() {
        var noise = ComfortNoise()
        let buffer = SampleBuffer(count: 8000)
        noise.fill(buffer.samples)
        #expect(peak(Array(buffer.samples)) == 0)
        noise.set(level: 50)
        noise.fill(buffer.samples)
        let loud = decibels(power: Double(power(buffer.samples)))
        #expect((-60 ... -42).contains(loud))
        noise.set(level: 0)
        noise.fill(buffer.samples)
        #expect(decibels(power: Double(power(buffer.samples))) < -22)
        noise.stop()
        noise.fill(buffer.samples)
        #expect(peak(Array(buffer.samples)) == 0)
    }

    @Test(arguments: Array("0123456789*#ABCD".utf8), [8000, 16_000, 48_000])
    func digitsAreHeard(_ digit: UInt8, _ rate: Int) throws {
        var tone = try #require(DigitTone(digit, rateHertz: rate))
        let listener = try DigitListener(rateHertz: rate)
        let tick = SampleBuffer(count: rate / 100)
        var heard: [UInt8] = []
        for _ in 0..<10 {
            tone.fill(tick.samples)
            if let digit = listener.listen(tick.samples) { heard.append(digit) }
        }
        for _ in 0..<10 {
            tick.samples.silence()
            if let digit = listener.listen(tick.samples) { heard.append(digit) }
        }
        #expect(heard == [digit])
    }

    @Test func noOtherOctetIsADigit() {
        #expect(DigitTone(0x65, rateHertz: 8000) == nil)
        #expect(DigitTone(0, rateHertz: 8000) == nil)
    }
}
