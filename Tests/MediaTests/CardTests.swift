import Audio
import Media
import Primitives
import SDP
import Testing

/// The ALSA code, proven with virtual cards that have a clock, can be exclusive, and can vanish.
@Suite(.serialized) struct CardTests {
    /// A call between an engine with a card and one without.
    final class CardCall {
        let rig: Rig
        let peer: Rig
        let key = CallKey(7)

        init(_ settings: MediaSettings, codec: AudioCodec = .pcmu) throws {
            rig = try Rig(settings)
            let folder = try Rig()
            peer = try Rig(
                MediaSettings(speaker: .wav(path: folder.path("peer.wav")), microphone: .tone(hertz: 440)))
            heard = folder
            let near = try rig.pair()
            let far = try peer.pair()
            try rig.engine.start(key, plan(codec, from: near, to: far), ports: near)
            try peer.engine.start(key, plan(codec, from: far, to: near), ports: far)
        }

        private let heard: Rig

        func wait(for condition: () throws -> Bool) throws -> Bool {
            try rig.wait {
                try peer.loop.turn(atMost: .zero)
                return try condition()
            }
        }

        /// What the peer heard.
        func end() throws -> Recorded {
            rig.engine.shutDown()
            peer.engine.shutDown()
            return try Recorded(heard.path("peer.wav"))
        }
    }

    @Test(arguments: [(0, AudioCodec.pcmu, 8000), (1, .g722, 16_000), (2, .opus, 48_000)])
    func cardCarriesACall(_ number: Int, _ codec: AudioCodec, _ rate: Int) throws {
        let card = try #require(VirtualCards.shared).card(number)
        let call = try CardCall(
            MediaSettings(speaker: .alsa(card.name), microphone: .alsa(card.name)), codec: codec)
        #expect(try call.wait { (call.peer.engine.statistics(call.key)?.received ?? 0) > 100 })
        let xruns = call.rig.engine.xruns
        let heard = try call.end()
        #expect(heard.tenths(with: 700) > 10)
        #expect(try Recorded(card.recording).tenths(with: 440) > 10)
        #expect(card.logged("OPEN").allSatisfy { $0.contains("rate=\(rate)") })
        print("\(codec): \(xruns) xruns", card.logged("OPEN"), card.logged("STAT"), card.logged("XRUN").count)
    }

    @Test func unpluggedCardComesBack() throws {
        let card = try #require(VirtualCards.shared).card(3)
        let call = try CardCall(MediaSettings(speaker: .alsa(card.name), microphone: .alsa(card.name)))
        let name = DeviceName.alsa(card.name)
        #expect(try call.wait { (call.peer.engine.statistics(call.key)?.received ?? 0) > 20 })
        card.unplug()
        #expect(
            try call.wait {
                DeviceRole.allCases.filter { $0 != .ringer }.allSatisfy { role in
                    call.rig.events.contains {
                        if case .deviceLost(role, name, _) = $0 { true } else { false }
                    }
                }
            })
        // The call goes on in silence.
        let before = call.peer.engine.statistics(call.key)?.received ?? 0
        #expect(try call.wait { (call.peer.engine.statistics(call.key)?.received ?? 0) > before + 50 })
        call.rig.events = []
        card.plug()
        #expect(
            try call.wait {
                call.rig.events.contains(.deviceOpened(.speaker, name))
                    && call.rig.events.contains(.deviceOpened(.microphone, name))
            })
        #expect(try call.wait { (call.rig.engine.levels.microphone) > -20 })
        let heard = try call.end()
        #expect(heard.tenths(with: 700) > 3)
    }

    @Test func missingCardIsToldOnceAndTriedAgain() throws {
        let card = try #require(VirtualCards.shared).card(4)
        card.unplug()
        let rig = try Rig(MediaSettings(speaker: .alsa(card.name)))
        rig.engine.play(.ringback)
        let name = DeviceName.alsa(card.name)
        let error = AudioError.device(card.name, action: "open", number: 19)
        #expect(try rig.wait { rig.events.contains(.deviceFailed(.speaker, name, error)) })
        try rig.run(seconds: 2.2)
        #expect(rig.events == [.deviceFailed(.speaker, name, error)])
        #expect(error.description == "audio \(card.name): open: No such device")
        card.plug()
        #expect(try rig.wait { rig.events.last == .deviceOpened(.speaker, name) })
    }

    /// Ring and call use one exclusive card under two names: the ring has let go of it before the call opens it.
    @Test func ringLeavesTheCardToTheCall() throws {
        let card = try #require(VirtualCards.shared).card(5)
        let rig = try Rig(
            MediaSettings(speaker: .alsa(card.name), microphone: .silent, ringer: .alsa(card.plugged)))
        rig.engine.ring(Ring())
        #expect(try rig.wait { rig.events.contains(.deviceOpened(.ringer, .alsa(card.plugged))) })
        #expect(try rig.wait { rig.engine.isAlive(at: rig.loop.now) && !card.logged("PLAY").isEmpty })
        let pair = try rig.pair()
        let start = rig.loop.now
        rig.engine.stopRing()
        try rig.engine.start(CallKey(1), plan(.pcmu, from: pair, to: try rig.pair()), ports: pair)
        #expect(try rig.wait { rig.events.contains(.deviceOpened(.speaker, .alsa(card.name))) })
        print("from ring to call: \(rig.loop.now - start)")
        #expect(!rig.events.contains { if case .deviceFailed = $0 { true } else { false } })
    }

    @Test func underrunIsCountedAndSurvived() throws {
        let card = try #require(VirtualCards.shared).card(6)
        let format = DeviceFormat(rateHertz: 16_000, cardRateHertz: 16_000, period: .milliseconds(10))
        let device = try openPlayback(.alsa(card.name), format, appending: false)
        let tick = SampleBuffer(count: 160)
        // Played in bursts with pauses longer than any buffer.
        let clock = ContinuousClock()
        for _ in 0..<3 {
            for _ in 0..<4 { #expect(device.play(tick.samples) == .working) }
            let end = clock.now + .milliseconds(400)
            while clock.now < end {}
        }
        #expect(device.xruns >= 2)
    }

    @Test func checkFindsWhatIsThereAndLooksAgainForTheRest() throws {
        let cards = try #require(VirtualCards.shared)
        let (there, missing) = (cards.card(7), cards.card(8))
        missing.unplug()
        let rig = try Rig(MediaSettings(speaker: .alsa(there.name), microphone: .silent, ringer: .alsa(missing.name)))
        var isDone = false
        rig.engine.checkDevices { isDone = true }
        #expect(!isDone)
        #expect(try rig.wait { isDone })
        let error = AudioError.device(missing.name, action: "open", number: 19)
        #expect(
            rig.events == [
                .deviceOpened(.speaker, .alsa(there.name)), .deviceFailed(.ringer, .alsa(missing.name), error),
            ])
        #expect(rig.engine.turns == 0)
        // A ring does not wait for the next look.
        missing.plug()
        rig.engine.ring(Ring())
        #expect(try rig.wait(8) { rig.events.last == .deviceOpened(.ringer, .alsa(missing.name)) })
        rig.engine.stopRing()
        #expect(try rig.wait { rig.engine.isResting })
    }

    @Test func checkWithoutCardsIsOverAtOnce() throws {
        let rig = try Rig()
        var isDone = false
        rig.engine.checkDevices { isDone = true }
        #expect(try rig.wait { isDone })
        #expect(rig.events.isEmpty)
    }

    /// The ring goes to no other device than the ringer, even if that is missing.
    @Test func ringWithoutItsCardIsSilent() throws {
        let card = try #require(VirtualCards.shared).card(9)
        card.unplug()
        let call = try TwoParties()
        var settings = call.left.engine.settings
        settings.ringer = .alsa(card.name)
        call.left.engine.apply(settings)
        #expect(try call.waitForVoices())
        call.left.engine.ring(Ring(volume: 100))
        let isTold = {
            call.left.events.contains { if case .deviceFailed(.ringer, _, _) = $0 { true } else { false } }
        }
        #expect(try call.wait { isTold() })
        try call.run(seconds: 0.5)
        #expect(try Recorded(call.folder.path("left.wav")).tenths(with: 800, above: 0.01) == 0)
        card.plug()
        #expect(try call.wait { !card.logged("PLAY").isEmpty })
        #expect(try Recorded(call.folder.path("left.wav")).tenths(with: 800, above: 0.01) == 0)
    }
}
