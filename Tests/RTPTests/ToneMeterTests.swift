import Foundation
import RTP
import Testing

struct ToneMeterTests {
    @Test(arguments: [300.0, 440, 1_000, 2_600])
    func oneToneIsToldFromAnother(_ frequency: Double) {
        let samples = (0..<1_600).map { Int16(16_384 * sin(2 * .pi * frequency * Double($0) / 16_000)) }
        #expect(abs(ToneMeter(frequency: frequency, sampleRate: 16_000).amplitude(samples) - 0.5) < 0.005)
        #expect(ToneMeter(frequency: frequency + 200, sampleRate: 16_000).amplitude(samples) < 0.01)
        #expect(ToneMeter(frequency: frequency, sampleRate: 16_000).amplitude(samples.prefix(0)) == 0)
    }
}
