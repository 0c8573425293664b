import Audio
import Foundation
import Media
import Primitives
import SDP
import Testing

/// Two engines with a call between them.
final class TwoParties {
    let left: Rig
    let right: Rig
    let key = CallKey(1)
    let leftPair: RTPPortPair
    let rightPair: RTPPortPair
    /// Where both record.
    let folder: Rig

    init(
        _ codec: AudioCodec = .pcmu, digits: Bool = true, mux: Bool = false, packetTime: Duration = .milliseconds(20),
        options: CallOptions = CallOptions(), start: Bool = true
    ) throws {
        folder = try Rig()
        left = try Rig(MediaSettings(speaker: .wav(path: folder.path("left.wav")), microphone: .tone(hertz: 440)))
        right = try Rig(MediaSettings(speaker: .wav(path: folder.path("right.wav")), microphone: .tone(hertz: 1000)))
        leftPair = try left.pair()
        rightPair = try right.pair()
        leftPlan = plan(codec, from: leftPair, to: rightPair, digits: digits, mux: mux, packetTime: packetTime)
        rightPlan = plan(codec, from: rightPair, to: leftPair, digits: digits, mux: mux, packetTime: packetTime)
        if start {
            try left.engine.start(key, leftPlan, ports: leftPair, options: options)
            try right.engine.start(key, rightPlan, ports: rightPair, options: options)
        }
    }

    var leftPlan: MediaPlan
    var rightPlan: MediaPlan

    func wait(for condition: () throws -> Bool) throws -> Bool {
        try left.wait {
            try right.loop.turn(atMost: .zero)
            return try condition()
        }
    }

    func run(seconds: Double) throws {
        let end = Date(timeIntervalSinceNow: seconds)
        _ = try wait { Date() > end }
    }

    var leftReceived: Int { left.engine.statistics(key)?.received ?? 0 }
    var rightReceived: Int { right.engine.statistics(key)?.received ?? 0 }
    var leftLevel: Double { left.engine.statistics(key)?.receivedLevel ?? -96 }
    var rightLevel: Double { right.engine.statistics(key)?.receivedLevel ?? -96 }

    /// Both hear each other.
    func waitForVoices() throws -> Bool { try wait { leftLevel > -20 && rightLevel > -20 } }
}
