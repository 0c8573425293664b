import Audio
import Media
import Primitives
import SDP
import Testing

@Suite(.serialized) struct ToneAndRingTests {
    @Test(arguments: [("eu", 425.0), ("us", 480.0), ("uk", 400.0), ("fr", 440.0)])
    func toneSoundsOnTheSpeakerAndEnds(_ country: String, _ hertz: Double) throws {
        let rig = try Rig()
        rig.engine.apply(MediaSettings(speaker: .wav(path: rig.path("speaker.wav")), tones: country))
        rig.engine.play(.callEnded)
        #expect(try rig.wait { rig.events.contains(.toneEnded(.callEnded)) })
        #expect(rig.events.first == .deviceOpened(.speaker, .wav(path: rig.path("speaker.wav"))))
        #expect(try rig.wait { (try? Recorded(rig.path("speaker.wav")).samples.count) ?? 0 > 40_000 })
        #expect(try Recorded(rig.path("speaker.wav")).tenths(with: hertz, above: 0.03) >= 3)
    }

    @Test func toneIsReplacedAndStopped() throws {
        let rig = try Rig()
        rig.engine.apply(MediaSettings(speaker: .wav(path: rig.path("speaker.wav"))))
        rig.engine.play(.ringback)
        #expect(try rig.wait { rig.engine.levels.speaker > -30 })
        rig.engine.play(.autoAnswer)
        #expect(try rig.wait { rig.events.contains(.toneEnded(.autoAnswer)) })
        #expect(!rig.events.contains(.toneEnded(.ringback)))
        rig.engine.play(.busy)
        rig.engine.stopTone()
        rig.engine.stopTone()
        #expect(try rig.wait { rig.engine.isResting })
        #expect(!rig.events.contains(.toneEnded(.busy)))
    }

    @Test func ringSoundsOnTheRingerAlone() throws {
        let rig = try Rig()
        let ringer = DeviceName.wav(path: rig.path("ringer.wav"))
        rig.engine.apply(MediaSettings(speaker: .wav(path: rig.path("speaker.wav")), ringer: ringer))
        rig.engine.ring(Ring(volume: 100, every: .seconds(1.5)))
        #expect(try rig.wait { (try? Recorded(rig.path("ringer.wav")).tenths(with: 800, above: 0.03)) ?? 0 >= 6 })
        rig.engine.stopRing()
        #expect(try rig.wait { rig.engine.isResting })
        #expect(rig.events == [.deviceOpened(.ringer, ringer)])
        #expect(throws: AudioError.self) { try Recorded(rig.path("speaker.wav")) }
    }

    @Test func ringTakesTheSpeakerIfThereIsNoRinger() throws {
        let rig = try Rig()
        rig.engine.apply(MediaSettings(speaker: .wav(path: rig.path("speaker.wav"))))
        rig.engine.ring(Ring())
        #expect(try rig.wait { (try? Recorded(rig.path("speaker.wav")).tenths(with: 800, above: 0.02)) ?? 0 >= 2 })
        rig.engine.stopRing()
        #expect(try rig.wait { rig.engine.isResting })
    }

    @Test func ringOfAnAccountHasItsOwnSoundDeviceAndVolume() throws {
        let rig = try Rig()
        let sound = rig.path("sound.wav")
        try write(tone: 620, to: sound)
        let device = DeviceName.wav(path: rig.path("own.wav"))
        rig.engine.apply(MediaSettings(ringer: .wav(path: rig.path("ringer.wav"))))
        rig.engine.ring(Ring(sound: sound, device: device, volume: 50, every: .seconds(1)))
        #expect(try rig.wait { (try? Recorded(rig.path("own.wav")).tenths(with: 620, above: 0.01)) ?? 0 >= 3 })
        rig.engine.stopRing()
        let loudest = try Recorded(rig.path("own.wav")).tone(620).max() ?? 0
        // A volume of 50 takes 18 dB off.
        #expect(abs(loudest - 0.25 / 8) < 0.01)
    }

    @Test func brokenSoundIsToldAndTheBuiltInRingSounds() throws {
        let rig = try Rig()
        rig.engine.apply(MediaSettings(ringer: .wav(path: rig.path("ringer.wav"))))
        rig.engine.ring(Ring(sound: "/nowhere/ring.wav"))
        #expect(
            try rig.wait {
                rig.events.contains {
                    if case .soundFailed(.file("/nowhere/ring.wav", _)) = $0 { true } else { false }
                }
            })
        #expect(try rig.wait { (try? Recorded(rig.path("ringer.wav")).tenths(with: 800, above: 0.02)) ?? 0 >= 2 })
    }

    @Test func nothingWakesTheThreadAtRest() throws {
        let rig = try Rig()
        #expect(rig.engine.isResting)
        rig.engine.play(.callEnded)
        #expect(try rig.wait { rig.events.contains(.toneEnded(.callEnded)) })
        #expect(try rig.wait { rig.engine.isResting })
        let turns = rig.engine.turns
        try rig.run(seconds: 0.5)
        #expect(rig.engine.turns == turns)
        #expect(rig.engine.isAlive(at: rig.loop.now + .seconds(3600)))
    }

    private func write(tone hertz: Float, to path: String) throws {
        let device = try Recording(path: path, rateHertz: 48_000, appending: false)
        var oscillator = Oscillator(hertz: hertz, rateHertz: 48_000, amplitude: 8192)
        let tick = SampleBuffer(count: 480)
        for _ in 0..<50 {
            tick.samples.silence()
            oscillator.add(to: tick.samples)
            _ = device.play(tick.samples)
        }
    }
}
