import Audio
import Media
import Primitives
import SDP
import Testing

/// Two engines call each other over loopback.
@Suite(.serialized) struct CallTests {
    @Test(arguments: AudioCodec.allCases)
    func tonesGoBothWays(_ codec: AudioCodec) throws {
        let rig = try Rig()
        let left = try Rig(
            MediaSettings(speaker: .wav(path: rig.path("left.wav")), microphone: .tone(hertz: 440)))
        let right = try Rig(
            MediaSettings(speaker: .wav(path: rig.path("right.wav")), microphone: .tone(hertz: 1000)))
        let leftPair = try left.pair()
        let rightPair = try right.pair()
        let key = CallKey(1)
        try left.engine.start(key, plan(codec, from: leftPair, to: rightPair), ports: leftPair)
        try right.engine.start(key, plan(codec, from: rightPair, to: leftPair), ports: rightPair)
        #expect(
            try left.wait {
                try right.loop.turn(atMost: .zero)
                let statistics = left.engine.statistics(key)
                return (statistics?.received ?? 0) > 75 && statistics?.roundTrip != nil
            })
        let statistics = try #require(left.engine.statistics(key))
        #expect(statistics.sent > 50)
        #expect(statistics.lost == 0)
        #expect(statistics.receivedLevel > -20 && statistics.sentLevel > -20)
        #expect((statistics.meanOpinionScore ?? 0) > 4)
        #expect(statistics.lastReceived != nil)
        left.engine.stop(key)
        right.engine.stop(key)
        left.engine.shutDown()
        right.engine.shutDown()
        let heardLeft = try Recorded(rig.path("left.wav"))
        let heardRight = try Recorded(rig.path("right.wav"))
        #expect(heardLeft.tenths(with: 1000) > 8 && heardLeft.tenths(with: 440) == 0)
        #expect(heardRight.tenths(with: 440) > 8 && heardRight.tenths(with: 1000) == 0)
    }
}
