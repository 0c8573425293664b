import Audio
import Media
import Primitives
import SDP
import Testing

/// Two engines call each other over loopback.
@Suite(.serialized) struct CallTests {
    @Test(arguments: AudioCodec.allCases)
    func tonesGoBothWays(_ codec: AudioCodec) throws {
        let call = try TwoParties(codec)
        #expect(
            try call.wait { call.leftReceived > 75 && call.left.engine.statistics(call.key)?.roundTrip != nil })
        let statistics = try #require(call.left.engine.statistics(call.key))
        #expect(statistics.sent > 50)
        #expect(statistics.codec == codec)
        #expect(statistics.receivedLevel > -20 && statistics.sentLevel > -20)
        #expect((statistics.meanOpinionScore ?? 0) > 3)
        #expect(statistics.lastReceived != nil)
        #expect(call.left.engine.lastReceived(call.key) != nil)
        call.left.engine.stop(call.key)
        call.right.engine.stop(call.key)
        #expect(try call.wait { call.left.engine.isResting && call.right.engine.isResting })
        #expect(call.left.engine.statistics(call.key) == nil)
        let left = try Recorded(call.folder.path("left.wav"))
        let right = try Recorded(call.folder.path("right.wav"))
        #expect(left.tenths(with: 1000) > 8 && left.tenths(with: 440) == 0)
        #expect(right.tenths(with: 440) > 8 && right.tenths(with: 1000) == 0)
    }

    @Test(arguments: [10, 30, 60])
    func packetsAreAsLongAsThePeerWants(_ milliseconds: Int) throws {
        let call = try TwoParties(packetTime: .milliseconds(milliseconds))
        #expect(try call.waitForVoices())
        let start = call.left.loop.now
        let before = call.leftReceived
        #expect(try call.wait { call.leftReceived > before + 30 })
        let passed = (call.left.loop.now - start).inMilliseconds
        // Never faster than real time allows, whatever the machine does.
        #expect(passed > 0.7 * Double(30 * milliseconds))
    }

    @Test func controlSharesThePortIfAgreed() throws {
        let call = try TwoParties(mux: true)
        #expect(try call.wait { call.left.engine.statistics(call.key)?.roundTrip != nil })
    }

    @Test func holdSilencesOneWayAndResumeBringsItBack() throws {
        let call = try TwoParties()
        #expect(try call.waitForVoices())
        // The left side holds: it sends nothing and expects nothing.
        call.leftPlan.sends = false
        call.leftPlan.receives = false
        call.rightPlan.sends = false
        call.rightPlan.receives = false
        try call.left.engine.update(call.key, call.leftPlan)
        try call.right.engine.update(call.key, call.rightPlan)
        #expect(try call.wait { call.leftLevel < -60 && call.rightLevel < -60 })
        try call.run(seconds: 0.3)
        let before = call.leftReceived
        try call.run(seconds: 0.3)
        #expect(call.leftReceived <= before + 1)
        for pair in [true, false] {
            if pair {
                call.leftPlan.sends = true
                call.leftPlan.receives = true
                try call.left.engine.update(call.key, call.leftPlan)
            } else {
                call.rightPlan.sends = true
                call.rightPlan.receives = true
                try call.right.engine.update(call.key, call.rightPlan)
            }
        }
        #expect(try call.waitForVoices())
    }

    @Test func mutedMicrophoneIsSilence() throws {
        let call = try TwoParties()
        #expect(try call.waitForVoices())
        call.left.engine.setMuted(call.key, true)
        #expect(try call.wait { call.rightLevel < -70 })
        #expect(call.leftLevel > -20)
        let before = call.rightReceived
        #expect(try call.wait { call.rightReceived > before + 10 })
        call.left.engine.setMuted(call.key, false)
        #expect(try call.waitForVoices())
    }

    @Test func volumesChangeTheLevels() throws {
        let call = try TwoParties()
        #expect(try call.waitForVoices())
        // The tone has a quarter of full scale; a volume of 50 takes 18 dB off.
        #expect(try call.wait { abs(call.rightLevel + 12) < 1.5 })
        call.left.engine.setVolume(microphone: 50)
        #expect(try call.wait { abs(call.rightLevel + 30) < 1.5 })
        call.right.engine.setVolume(speaker: 0)
        #expect(try call.wait { call.right.engine.levels.speaker < -90 })
    }

    @Test func autoAnswerBeepsAndOpensTheMicrophoneLater() throws {
        let call = try TwoParties(options: CallOptions(autoAnswered: true))
        #expect(try call.wait { call.rightReceived > 15 })
        #expect(call.rightLevel < -60)
        #expect(try call.wait { call.left.events.contains(.toneEnded(.autoAnswer)) })
        #expect(try call.waitForVoices())
        #expect(try call.wait { (try? Recorded(call.folder.path("left.wav")).samples.count) ?? 0 > 40_000 })
        #expect(try Recorded(call.folder.path("left.wav")).tenths(with: 1175, above: 0.04) >= 1)
    }

    @Test func codecChangesInTheMiddle() throws {
        let call = try TwoParties(.pcmu)
        #expect(try call.waitForVoices())
        let left = plan(.opus, from: call.leftPair, to: call.rightPair)
        let right = plan(.opus, from: call.rightPair, to: call.leftPair)
        try call.left.engine.update(call.key, left)
        try call.right.engine.update(call.key, right)
        let before = call.leftReceived
        #expect(try call.wait { call.leftReceived > before + 100 })
        #expect(try call.waitForVoices())
        #expect(call.left.engine.statistics(call.key)?.codec == .opus)
    }

    @Test func newSocketsCarryOnAfterAnAddressChange() throws {
        let call = try TwoParties()
        #expect(try call.waitForVoices())
        let fresh = try #require(call.left.ports.reserve(on: .v4(0x7F00_0002)))
        let left = plan(.pcmu, from: fresh, to: call.rightPair)
        var right = call.rightPlan
        right.remote = fresh.local
        right.remoteControl = SocketAddress(fresh.local.address, fresh.local.port + 1)
        try call.left.engine.update(call.key, left, ports: fresh)
        try call.right.engine.update(call.key, right)
        let before = (call.leftReceived, call.rightReceived)
        #expect(try call.wait { call.leftReceived > before.0 + 50 && call.rightReceived > before.1 + 50 })
        #expect(try call.waitForVoices())
    }

    @Test func devicesAreSwitchedInTheMiddle() throws {
        let call = try TwoParties()
        #expect(try call.waitForVoices())
        let other = DeviceName.wav(path: call.folder.path("other.wav"))
        call.left.engine.apply(MediaSettings(speaker: other, microphone: .tone(hertz: 620)))
        #expect(try call.wait { call.left.events.contains(.deviceOpened(.speaker, other)) })
        #expect(
            try call.wait {
                ((try? Recorded(call.folder.path("other.wav")).tenths(with: 1000)) ?? 0) > 5
                    && ((try? Recorded(call.folder.path("right.wav")).tenths(with: 620)) ?? 0) > 5
            })
    }

    @Test func callsAreMixed() throws {
        let folder = try Rig()
        let middle = try Rig(
            MediaSettings(speaker: .wav(path: folder.path("middle.wav")), microphone: .tone(hertz: 440)))
        let first = try Rig(
            MediaSettings(speaker: .wav(path: folder.path("first.wav")), microphone: .tone(hertz: 1000)))
        let second = try Rig(
            MediaSettings(speaker: .wav(path: folder.path("second.wav")), microphone: .tone(hertz: 620)))
        let rigs = [(first, AudioCodec.pcmu, 1), (second, AudioCodec.opus, 2)]
        for (rig, codec, number) in rigs {
            let near = try middle.pair()
            let far = try rig.pair()
            try middle.engine.start(CallKey(number), plan(codec, from: near, to: far), ports: near)
            try rig.engine.start(CallKey(number), plan(codec, from: far, to: near), ports: far)
        }
        let heard = { (name: String, hertz: Double) in
            (try? Recorded(folder.path(name)).tenths(with: hertz, above: 0.05)) ?? 0
        }
        #expect(
            try middle.wait {
                try first.loop.turn(atMost: .zero)
                try second.loop.turn(atMost: .zero)
                return heard("middle.wav", 1000) > 5 && heard("middle.wav", 620) > 5 && heard("first.wav", 440) > 5
                    && heard("first.wav", 620) > 5 && heard("second.wav", 440) > 5 && heard("second.wav", 1000) > 5
            })
        // Nobody hears himself.
        #expect(heard("first.wav", 1000) == 0 && heard("second.wav", 620) == 0 && heard("middle.wav", 440) == 0)
    }

    @Test func halfDuplexDucksTheMicrophone() throws {
        let call = try TwoParties()
        #expect(try call.waitForVoices())
        var settings = call.left.engine.settings
        settings.halfDuplex = true
        call.left.engine.apply(settings)
        #expect(try call.wait { call.rightLevel < -45 })
        #expect(call.leftLevel > -20)
        call.right.engine.setMuted(call.key, true)
        #expect(try call.wait { call.rightLevel > -20 })
    }

    @Test func equalPlanChangesNothing() throws {
        let call = try TwoParties()
        #expect(try call.waitForVoices())
        try call.left.engine.update(call.key, call.leftPlan, ports: call.leftPair)
        try call.left.engine.start(call.key, call.leftPlan, ports: call.leftPair)
        try call.left.engine.update(CallKey(99), call.leftPlan)
        call.left.engine.stop(CallKey(99))
        #expect(try call.waitForVoices())
    }

    @Test func tooManyCallsAreRefused() throws {
        let rig = try Rig()
        let pair = try rig.pair()
        let some = plan(.pcmu, from: pair, to: pair, sends: false)
        var number = 0
        while rig.engine.hasRoom {
            number += 1
            try rig.engine.start(CallKey(number), some, ports: pair)
        }
        #expect(number == 64)
        #expect(throws: AudioError.self) { try rig.engine.start(CallKey(1000), some, ports: pair) }
        for key in 1...number { rig.engine.stop(CallKey(key)) }
        #expect(try rig.wait { rig.engine.isResting })
    }
}
