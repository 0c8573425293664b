import Audio
import Foundation
import Testing

@Suite struct FileTests {
    private func path(_ name: String) -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("portero-\(UUID().uuidString)-\(name)").path
    }

    @Test func recordingIsReadBackWhileItGrowsAndGoesOn() throws {
        let path = path("a.wav")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let tick = SampleBuffer(count: 80)
        var tone = Oscillator(hertz: 500, rateHertz: 8000, amplitude: 8000)
        func play(_ device: any Playback, ticks: Int) {
            for _ in 0..<ticks {
                tick.samples.silence()
                tone.add(to: tick.samples)
                #expect(device.play(tick.samples) == .working)
            }
        }
        do {
            let device = try openPlayback(
                .wav(path: path), DeviceFormat(rateHertz: 8000, cardRateHertz: 8000, period: .milliseconds(10)),
                appending: false)
            play(device, ticks: 50)
            #expect(try Sound.load(path: path).duration >= .milliseconds(400))
        }
        do {
            let device = try Recording(path: path, rateHertz: 8000, appending: true)
            play(device, ticks: 50)
        }
        let sound = try Sound.load(path: path)
        #expect(sound.rateHertz == 48_000)
        #expect((Duration.milliseconds(998)...Duration.milliseconds(1002)).contains(sound.duration))
        #expect(abs(amplitude(of: 500, in: Array(sound.samples[4800...]), rate: 48_000) - 0.244) < 0.02)
        _ = try Recording(path: path, rateHertz: 8000, appending: false)
        #expect(throws: AudioError.self) { try Sound.load(path: path) }
    }

    @Test func missingFolderIsAnError() {
        #expect(throws: AudioError.device("wav:/nowhere/a.wav", action: "open", number: ENOENT)) {
            try Recording(path: "/nowhere/a.wav", rateHertz: 8000, appending: false)
        }
    }

    @Test func missingAndBrokenSoundsAreErrors() throws {
        #expect(throws: AudioError.self) { try Sound.load(path: "/nowhere/ring.wav") }
        let path = path("broken.wav")
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("RIFF____WAVEfmt this is no sound".utf8).write(to: URL(fileURLWithPath: path))
        do throws(AudioError) {
            _ = try Sound.load(path: path)
            Issue.record("read it")
        } catch {
            #expect(error.description.hasPrefix("sound file \(path): "))
        }
    }

    @Test func microphoneFromAFileIsSilentAfterItsEnd() throws {
        let path = path("voice.wav")
        defer { try? FileManager.default.removeItem(atPath: path) }
        do {
            let device = try Recording(path: path, rateHertz: 8000, appending: false)
            let voice = SampleBuffer(sine(500, rate: 8000, count: 80))
            for _ in 0..<20 { _ = device.play(voice.samples) }
        }
        let device = try openCapture(
            .wav(path: path), DeviceFormat(rateHertz: 16_000, cardRateHertz: 16_000, period: .milliseconds(10)))
        let tick = SampleBuffer(count: 160)
        var loud = 0
        for _ in 0..<40 {
            device.read(tick.samples)
            if peak(Array(tick.samples)) > 5000 { loud += 1 }
        }
        #expect((19...21).contains(loud))
    }

    @Test func errorsNameTheDevice() {
        let error = AudioError.device("hw:9,0", action: "open", number: EBUSY)
        #expect(error.isBusy)
        #expect(error.description == "audio hw:9,0: open: Device or resource busy")
    }
}
