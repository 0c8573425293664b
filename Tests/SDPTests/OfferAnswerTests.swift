import Primitives
import SDP
import Testing

/// Two engines that talk to each other, and scripted peers.
struct OfferAnswerTests {
    private static func engine(_ codecs: [AudioCodec] = [.opus, .g722, .pcma, .pcmu], host: UInt32 = 1) -> OfferAnswer {
        var randomness = Randomness.seeded(UInt64(host))
        let local = LocalMedia(codecs: codecs, address: .v4(0xC000_0200 + host), port: UInt16(30_000 + 2 * host))
        return OfferAnswer(local: local, randomness: &randomness)
    }

    private static func version(_ engine: OfferAnswer) throws -> String {
        try #require(try SessionDescription(engine.localDescription).origin).version
    }

    private static func exchange(_ offerer: inout OfferAnswer, _ answerer: inout OfferAnswer) throws {
        let offer = try offerer.makeOffer()
        try offerer.apply(answer: try answerer.answer(offer))
    }

    private static func offer(_ lines: String...) -> [UInt8] {
        let head = ["v=0", "o=- 9 9 IN IP4 192.0.2.9", "s=-", "c=IN IP4 192.0.2.9", "t=0 0"]
        return Array((head + lines).map { $0 + "\r\n" }.joined().utf8)
    }

    @Test(arguments: AudioCodec.allCases)
    func bothSidesGetTheSamePlan(_ codec: AudioCodec) throws {
        var alice = Self.engine([codec])
        var bob = Self.engine(host: 2)
        #expect(alice.state == .fresh)
        #expect(alice.plan == nil)
        try Self.exchange(&alice, &bob)
        let ours = try #require(alice.plan)
        let theirs = try #require(bob.plan)
        #expect(alice.state == .agreed && bob.state == .agreed)
        #expect(ours.local == theirs.remote && ours.remote == theirs.local)
        #expect(ours.codec == codec && theirs.codec == codec)
        #expect(ours.receive[theirs.sendPayloadType] == codec && theirs.receive[ours.sendPayloadType] == codec)
        #expect(ours.telephoneEvent?.send == theirs.telephoneEvent?.receive)
        #expect(ours.telephoneEvent?.clockRate == codec.clockRate)
        #expect(ours.rtcpMux && theirs.rtcpMux)
        #expect(ours.remoteControl == theirs.local)
        #expect(ours.direction == .sendrecv && theirs.direction == .sendrecv)
        #expect(ours.packetTime == .milliseconds(20))
    }

    @Test func withoutMuxControlIsOnTheNextPort() throws {
        var alice = Self.engine()
        var bob = Self.engine(host: 2)
        bob.local.rtcpMux = false
        try Self.exchange(&alice, &bob)
        #expect(alice.plan?.rtcpMux == false)
        #expect(alice.plan?.remoteControl.port == 30_005)
        #expect(bob.plan?.remoteControl.port == 30_003)
    }

    @Test func holdsOfBothSidesAreKeptApart() throws {
        var alice = Self.engine()
        var bob = Self.engine(host: 2)
        try Self.exchange(&alice, &bob)
        let talking = alice.plan

        alice.local.direction = .sendonly
        try Self.exchange(&alice, &bob)
        #expect(alice.plan?.direction == .sendonly && bob.plan?.direction == .recvonly)
        #expect(bob.plan?.heldByPeer == true && alice.plan?.heldByPeer == false)

        bob.local.direction = .sendonly
        try Self.exchange(&bob, &alice)
        #expect(alice.plan?.direction == .inactive && bob.plan?.direction == .inactive)
        #expect(alice.plan?.heldByPeer == true && bob.plan?.heldByPeer == true)

        alice.local.direction = .sendrecv
        try Self.exchange(&alice, &bob)
        #expect(alice.plan?.direction == .recvonly && bob.plan?.direction == .sendonly)
        #expect(alice.plan?.heldByPeer == true && bob.plan?.heldByPeer == false)

        bob.local.direction = .sendrecv
        try Self.exchange(&bob, &alice)
        #expect(bob.plan?.direction == .sendrecv)
        #expect(alice.plan == talking)
    }

    @Test func theVersionRisesOnlyWithChange() throws {
        var alice = Self.engine()
        var bob = Self.engine(host: 2)
        try Self.exchange(&alice, &bob)
        #expect(try Self.version(alice) == "1")
        let before = bob.plan
        // A refresh: the same description, the same version, the same plan.
        try Self.exchange(&alice, &bob)
        #expect(try Self.version(alice) == "1")
        #expect(try Self.version(bob) == "1")
        #expect(bob.plan == before)
        alice.local.address = .v4(0xC633_6401)
        try Self.exchange(&alice, &bob)
        #expect(try Self.version(alice) == "2")
        #expect(try Self.version(bob) == "1")
        #expect(bob.plan?.remote.address == .v4(0xC633_6401))
        #expect(bob.plan?.remoteControl.address == .v4(0xC633_6401))
    }

    @Test func aRefusedOfferChangesNothing() throws {
        var alice = Self.engine()
        var bob = Self.engine(host: 2)
        try Self.exchange(&alice, &bob)
        let plan = alice.plan
        let described = alice.localDescription
        alice.local.direction = .inactive
        _ = try alice.makeOffer()
        #expect(alice.plan == plan)
        alice.withdrawOffer()
        #expect(alice.state == .agreed)
        #expect(alice.plan == plan)
        #expect(alice.localDescription == described)

        var carol = Self.engine(host: 3)
        _ = try carol.makeOffer()
        carol.withdrawOffer()
        #expect(carol.state == .fresh)
        #expect(carol.plan == nil)
    }

    @Test func offersDoNotCross() throws {
        var alice = Self.engine()
        var bob = Self.engine(host: 2)
        let first = try alice.makeOffer()
        let second = try bob.makeOffer()
        #expect(throws: NegotiationError.wrongState(.offered)) { try alice.answer(second) }
        #expect(throws: NegotiationError.wrongState(.offered)) { try alice.makeOffer() }
        #expect(NegotiationError.wrongState(.offered).status == 491)
        var carol = Self.engine(host: 3)
        #expect(throws: NegotiationError.wrongState(.fresh)) { try carol.apply(answer: first) }
    }

    @Test func anUnusableAnswerLeavesTheOfferOut() throws {
        var alice = Self.engine()
        _ = try alice.makeOffer()
        for answer in [
            Self.offer("m=audio 0 RTP/AVP 8"), Self.offer("m=audio 40000 RTP/AVP 18"), Self.offer(), [0x76],
            Self.offer("m=audio 40000 RTP/SAVP 8"), Self.offer("m=audio 40000 RTP/AVP 8", "c=IN IP6 2001:db8::1"),
        ] {
            #expect(throws: NegotiationError.self) { try alice.apply(answer: answer) }
            #expect(alice.state == .offered)
        }
        var preview = alice
        try preview.apply(answer: Self.offer("m=audio 40000 RTP/AVP 8"))
        #expect(preview.plan?.codec == .pcma)
        #expect(alice.plan == nil)
        try alice.apply(answer: Self.offer("m=audio 40000 RTP/AVP 0"))
        #expect(alice.plan?.codec == .pcmu)
    }

    @Test func numbersOfTheFirstOfferStayInOurs() throws {
        var bob = Self.engine(host: 2)
        _ = try bob.answer(
            Self.offer(
                "m=audio 40000 RTP/AVP 101 8 96 97", "a=rtpmap:101 opus/48000/2", "a=rtpmap:96 telephone-event/48000",
                "a=rtpmap:97 telephone-event/8000"))
        #expect(bob.plan?.codec == .opus)
        #expect(bob.plan?.telephoneEvent == TelephoneEvent(send: 96, receive: 96, clockRate: 48_000))
        let line = try SessionDescription(bob.makeOffer()).media[0]
        #expect(line.formats == ["101", "9", "8", "0", "97", "96"])
        // 101 is taken: our usual number of telephone-event would change its meaning.
        var carol = Self.engine(host: 3)
        _ = try carol.answer(Self.offer("m=audio 40000 RTP/AVP 8 101", "a=rtpmap:101 speex/8000"))
        let formats = try SessionDescription(carol.makeOffer()).media[0].formats
        #expect(!formats.contains("101"))
        #expect(Set(formats).count == formats.count)
    }

    @Test func refusedLinesKeepTheirPlaces() throws {
        var bob = Self.engine(host: 2)
        let answer = try SessionDescription(
            bob.answer(
                Self.offer("m=video 5000 RTP/AVP 96 97", "m=audio 40000 RTP/AVPF 8", "m=audio 40002 RTP/AVP 8")))
        #expect(answer.media.map(\.port) == [0, 30_004, 0])
        #expect(answer.media.map(\.formats) == [["96"], ["8"], ["8"]])
        let offer = try SessionDescription(bob.makeOffer())
        #expect(offer.media.map(\.kind) == ["video", "audio", "audio"])
        #expect(offer.media.map(\.port) == [0, 30_004, 0])
        #expect(offer.media[1].transport == "RTP/AVPF")
        try bob.apply(
            answer: Self.offer("m=video 0 RTP/AVP 96", "m=audio 40000 RTP/AVPF 8", "m=audio 0 RTP/AVP 8"))
        #expect(bob.plan?.codec == .pcma)
        // Never fewer lines than before; the session goes on as it is.
        let plan = bob.plan
        #expect {
            try bob.answer(Self.offer("m=audio 40000 RTP/AVP 8"))
        } throws: {
            ($0 as? NegotiationError)?.status == 488
        }
        #expect(bob.plan == plan)
    }

    @Test func aNameIsResolvedOnce() throws {
        var bob = Self.engine(host: 2)
        let offer = Self.offer("m=audio 40000 RTP/AVP 8", "c=IN IP4 media.example.org")
        _ = try bob.answer(offer)
        #expect(bob.nameToResolve == "media.example.org")
        #expect(bob.plan == nil)
        bob.resolved(.v4(0xC000_0207))
        #expect(bob.nameToResolve == nil)
        #expect(bob.plan?.remote.description == "192.0.2.7:40000")
        #expect(bob.plan?.remoteControl.description == "192.0.2.7:40001")
        _ = try bob.answer(offer)
        #expect(bob.plan?.remote.description == "192.0.2.7:40000")
    }

    @Test func oldStyleHoldKeepsTheAddress() throws {
        var bob = Self.engine(host: 2)
        _ = try bob.answer(Self.offer("m=audio 40000 RTP/AVP 8"))
        let talking = try #require(bob.plan)
        _ = try bob.answer(Self.offer("m=audio 40000 RTP/AVP 8", "c=IN IP4 0.0.0.0"))
        #expect(bob.plan?.sends == false)
        #expect(bob.plan?.heldByPeer == true)
        #expect(bob.plan?.remote == talking.remote)
        _ = try bob.answer(Self.offer("m=audio 40000 RTP/AVP 8"))
        #expect(bob.plan == talking)
        // The same by port 0, and without an earlier address.
        let answer = try SessionDescription(bob.answer(Self.offer("m=audio 0 RTP/AVP 8")))
        #expect(answer.media[0].port == 0)
        #expect(bob.plan?.direction == .inactive)
        var carol = Self.engine(host: 3)
        #expect(throws: NegotiationError.self) { try carol.answer(Self.offer("m=audio 0 RTP/AVP 8")) }
    }

    @Test(arguments: [
        ("20", 20), ("30", 30), ("25", 20), ("60", 60), ("5", 20), ("0", 20), ("61", 20), ("-1", 20),
        ("99999999999999999999", 20), ("x", 20), ("20.5", 20),
    ])
    func packetTimeOfThePeer(_ text: String, _ milliseconds: Int) throws {
        var bob = Self.engine(host: 2)
        _ = try bob.answer(Self.offer("m=audio 40000 RTP/AVP 8", "a=ptime:\(text)"))
        #expect(bob.plan?.packetTime == .milliseconds(milliseconds))
    }

    @Test func opusParametersOfThePeer() throws {
        var bob = Self.engine(host: 2)
        _ = try bob.answer(
            Self.offer(
                "m=audio 40000 RTP/AVP 96", "a=rtpmap:96 opus/48000/2", "a=ptime:30",
                "a=fmtp:96 maxaveragebitrate=16000; useinbandfec=1;usedtx=1"))
        #expect(bob.plan?.opus == OpusParameters(bitRate: 16_000, forwardErrorCorrection: true, discontinuous: true))
        #expect(bob.plan?.packetTime == .milliseconds(20))  // Opus knows no 30.
        _ = try bob.answer(
            Self.offer("m=audio 40000 RTP/AVP 96", "a=rtpmap:96 opus/48000/2", "a=fmtp:96 maxaveragebitrate=1"))
        #expect(bob.plan?.opus == OpusParameters(bitRate: 24_000, forwardErrorCorrection: false))
    }

    @Test func audioOfABundleStaysInItAlone() throws {
        var bob = Self.engine(host: 2)
        let offer = Array(
            "v=0\r\no=- 9 9 IN IP4 192.0.2.9\r\ns=-\r\nc=IN IP4 192.0.2.9\r\nt=0 0\r\na=group:BUNDLE a v\r\nm=audio 40000 RTP/AVP 8\r\na=mid:a\r\na=rtcp-mux\r\nm=video 40000 RTP/AVP 96\r\na=mid:v\r\n"
                .utf8)
        let answer = try SessionDescription(bob.answer(offer))
        #expect(answer.attributes == [.init("group", "BUNDLE a")])
        #expect(answer.media[0].attributes.value("mid") == "a")
        #expect(answer.media[1].port == 0)
    }

    @Test func mutualSilenceAboutTelephoneEvents() throws {
        var alice = Self.engine([.pcma])
        alice.local.telephoneEvents = false
        var bob = Self.engine(host: 2)
        try Self.exchange(&alice, &bob)
        #expect(alice.plan?.telephoneEvent == nil && bob.plan?.telephoneEvent == nil)
    }

    /// Random re-offers with holds, codecs and refusals: both sides agree on everything after each.
    @Test(arguments: Array(UInt64(1)...30))
    func longSessionsStayConsistent(_ seed: UInt64) throws {
        var randomness = Randomness.seeded(seed)
        var alice = Self.engine()
        var bob = Self.engine(host: 2)
        try Self.exchange(&alice, &bob)
        for _ in 0..<60 {
            let aliceOffers = Bool.random(using: &randomness)
            let wish = MediaDirection.allCases.randomElement(using: &randomness) ?? .sendrecv
            var codecs = AudioCodec.allCases.shuffled(using: &randomness)
            codecs.removeLast(Int.random(in: 0...1, using: &randomness))
            if aliceOffers { alice.local.direction = wish } else { bob.local.direction = wish }
            if aliceOffers { alice.local.codecs = codecs } else { bob.local.codecs = codecs }
            if Int.random(in: 0..<5, using: &randomness) == 0 {
                let before = alice.plan
                _ = try alice.makeOffer()
                alice.withdrawOffer()
                #expect(alice.plan == before)
            }
            if aliceOffers { try Self.exchange(&alice, &bob) } else { try Self.exchange(&bob, &alice) }
            let ours = try #require(alice.plan)
            let theirs = try #require(bob.plan)
            #expect(ours.sends == theirs.receives && ours.receives == theirs.sends)
            #expect(ours.direction == alice.local.direction.intersection(bob.local.direction.reversed))
            #expect(ours.codec == theirs.codec)
            #expect(ours.receive[theirs.sendPayloadType] == ours.codec)
            #expect(theirs.receive[ours.sendPayloadType] == ours.codec)
            #expect(ours.telephoneEvent?.send == theirs.telephoneEvent?.receive)
        }
    }
}
