import Audio
import Media
import Primitives
import SDP
import Testing

@Suite(.serialized) struct DigitTests {
    private static let keys = Array("1234567890*#ABCD".utf8).compactMap { DTMFSignal(character: $0) }

    private func digits(_ rig: Rig, _ path: DTMFPath) -> [DTMFSignal] {
        rig.events.compactMap { event in
            if case .digit(CallKey(1), let signal, path) = event { signal } else { nil }
        }
    }

    @Test(arguments: [AudioCodec.pcmu, .opus])
    func telephoneEventsArriveOnceAndInOrder(_ codec: AudioCodec) throws {
        let call = try TwoParties(codec)
        #expect(try call.waitForVoices())
        #expect(call.left.engine.sendDigits(call.key, Self.keys, length: .milliseconds(100)))
        #expect(try call.wait { digits(call.right, .rtp).count >= Self.keys.count })
        #expect(digits(call.right, .rtp) == Self.keys)
        #expect(digits(call.left, .rtp).isEmpty)
        #expect(try call.waitForVoices())
    }

    @Test(arguments: [AudioCodec.pcma, .g722])
    func tonesArriveWhereEventsWereNotAgreed(_ codec: AudioCodec) throws {
        let call = try TwoParties(codec, digits: false)
        // The microphones would talk over the digits like a person would.
        call.left.engine.setMuted(call.key, true)
        #expect(try call.wait { call.rightReceived > 30 })
        #expect(call.left.engine.sendDigits(call.key, Self.keys, inBand: true, length: .milliseconds(100)))
        #expect(try call.wait { digits(call.right, .inBand).count >= Self.keys.count })
        #expect(digits(call.right, .inBand) == Self.keys)
    }

    @Test func digitsNeedAWay() throws {
        let call = try TwoParties(digits: false)
        #expect(!call.left.engine.sendDigits(call.key, Self.keys))
        #expect(!call.left.engine.sendDigits(CallKey(9), Self.keys))
    }
}
