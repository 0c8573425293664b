import Audio
import EventLoop
import Foundation
import Media
import Primitives
import RTP
import SDP
import Testing

/// One engine on a loop of its own, with a folder for its recordings.
final class Rig {
    let loop: EventLoop
    let engine: MediaEngine
    let ports: RTPPorts
    let folder: URL
    var events: [MediaEvent] = []

    init(_ settings: MediaSettings = MediaSettings(), ports: ClosedRange<UInt16> = 20_000...29_999) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("portero-media-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        loop = try EventLoop()
        engine = try MediaEngine(loop: loop, settings: settings)
        self.ports = RTPPorts(range: ports)
        engine.handler = { [unowned self] in events.append($0) }
    }

    deinit {
        engine.shutDown()
        try? FileManager.default.removeItem(at: folder)
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func pair() throws -> RTPPortPair { try #require(ports.reserve(on: .loopbackV4)) }

    /// Turns the loop until the condition holds; false if that takes longer than any machine should need.
    func wait(_ seconds: Double = 20, for condition: () throws -> Bool) throws -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        while try !condition() {
            if Date() > end { return false }
            try loop.turn(atMost: .milliseconds(20))
        }
        return true
    }

    /// Turns the loop for a while.
    func run(seconds: Double) throws {
        let end = Date(timeIntervalSinceNow: seconds)
        while Date() < end { try loop.turn(atMost: .milliseconds(20)) }
    }
}

/// A plan between two port pairs on one machine.
func plan(
    _ codec: AudioCodec, from local: RTPPortPair, to remote: RTPPortPair, digits: Bool = true, mux: Bool = false,
    packetTime: Duration = .milliseconds(20), sends: Bool = true, receives: Bool = true
) -> MediaPlan {
    let type = codec.staticPayloadType ?? 111
    return MediaPlan(
        local: local.local, remote: remote.local, rtcpMux: mux, codec: codec, sendPayloadType: type,
        receive: [type: codec],
        telephoneEvent: digits ? TelephoneEvent(send: 101, receive: 101, clockRate: codec.clockRate) : nil,
        packetTime: packetTime, sends: sends, receives: receives)
}

/// A recording of the engine's, or any WAV file.
struct Recorded {
    let samples: [Int16]
    let rate: Int

    init(_ path: String) throws {
        let sound = try Sound.load(path: path)
        samples = sound.samples
        rate = sound.rateHertz
    }

    /// Amplitude of a tone in each tenth of a second, 0…1.
    func tone(_ hertz: Double) -> [Double] {
        let block = rate / 10
        let meter = ToneMeter(frequency: hertz, sampleRate: rate)
        return stride(from: 0, to: samples.count - block + 1, by: block).map { start in
            meter.amplitude(samples[start..<start + block])
        }
    }

    /// Tenths of a second in which a tone is plainly heard.
    func tenths(with hertz: Double, above amplitude: Double = 0.05) -> Int { tone(hertz).count { $0 > amplitude } }
}
