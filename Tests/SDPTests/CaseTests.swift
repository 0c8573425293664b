import Foundation
import Primitives
import SDP
import Testing

/// The offers of `Tests/Data/sdp`, compared with what its index expects.
struct CaseTests {
    /// Cases that need what is not built yet: SRTP, DTLS, ICE, video.
    static let owed: Set<String> = [
        "video-accepted", "srtp-sdes-two-suites", "srtp-gcm-preferred", "srtp-required-plain-offer",
        "srtp-over-udp-signalling", "two-audio-avp-savp", "dtls-actpass", "webrtc-bundle",
    ]

    @Test func owedCasesExist() {
        #expect(Self.owed.subtracting(Case.all.map(\.id)) == [])
        #expect(Case.all.count >= 45)
    }

    static let due = Case.all.filter { $0.offer != nil && !owed.contains($0.id) }

    @Test(arguments: due)
    func offer(_ test: Case) throws {
        let offer = try #require(test.offer)
        try check(test, offer: offer)
        // Line ends make no difference.
        try check(test, offer: offer.filter { $0 != 0x0D })
    }

    private func check(_ test: Case, offer: [UInt8]) throws {
        var engine = OfferAnswer(local: LocalMedia.cases, randomness: &Case.randomness)
        if test.local["inDialog"] as? Bool == true {
            _ = try engine.answer(Case.earlier(mediaCount: test.local["previousMediaCount"] as? Int ?? 1))
        }
        let before = engine.plan
        let expected = test.expect["allow"] as? [[String: Any]] ?? [test.expect]
        let answer: [UInt8]
        do throws(NegotiationError) {
            answer = try engine.answer(offer)
        } catch {
            let rejection = try #require(expected.first { $0["result"] as? String == "reject" }, "\(error)")
            let allowed = [rejection["status"] as? Int].compactMap { $0 } + (rejection["statusIn"] as? [Int] ?? [])
            #expect(allowed.isEmpty || allowed.contains(error.status), "\(error)")
            #expect(engine.plan == before)
            return
        }
        let wanted = try #require(expected.first { $0["result"] as? String == "answer" }, "answered, not refused")
        let description = try SessionDescription(answer)
        let offered = try SessionDescription(offer)
        #expect(description.media.map(\.kind) == offered.media.map(\.kind))
        #expect(description.media.map(\.transport) == offered.media.map(\.transport))
        for (media, expectation) in zip(description.media, wanted["media"] as? [[String: Any]] ?? []) {
            compare(media, expectation)
        }
        comparePlan(engine, test.expect, before: before)
    }

    private func compare(_ media: MediaDescription, _ expect: [String: Any]) {
        if let kind = expect["media"] as? String { #expect(media.kind == kind) }
        if let proto = expect["proto"] as? String { #expect(media.transport == proto) }
        if expect["port"] as? Int == 0 {
            #expect(media.port == 0)
            return
        }
        #expect(media.port != 0)
        let direction = media.attributes.direction?.rawValue ?? "sendrecv"
        if let allowed = expect["allowDirections"] as? [String] {
            #expect(allowed.contains(direction))
        } else if let wanted = expect["direction"] as? String {
            #expect(direction == wanted)
        }
        if let first = expect["firstFormat"] as? String { #expect(media.formats.first == first) }
        if let allowed = expect["formatsSubsetOf"] as? [String] { #expect(Set(media.formats).isSubset(of: allowed)) }
        let maps = media.attributes.filter { $0.name == "rtpmap" }.compactMap(\.value)
        for (number, encoding) in expect["rtpmap"] as? [String: String] ?? [:] {
            #expect(maps.contains("\(number) \(encoding)"))
        }
        if let number = expect["dtmfPayloadType"] as? Int {
            #expect(maps.contains { $0.hasPrefix("\(number) telephone-event/") })
        }
        if expect["noTelephoneEvent"] as? Bool == true { #expect(!maps.contains { $0.contains("telephone-event") }) }
        if let muxed = expect["rtcpMux"] as? Bool { #expect(media.attributes.has("rtcp-mux") == muxed) }
        if let ptime = expect["ptime"] as? Int { #expect(media.attributes.value("ptime") == "\(ptime)") }
        if expect["crypto"] is NSNull { #expect(!media.attributes.has("crypto")) }
    }

    private func comparePlan(_ engine: OfferAnswer, _ expect: [String: Any], before: MediaPlan?) {
        if expect["resolvesAsync"] as? Bool == true {
            #expect(engine.nameToResolve != nil)
            #expect(engine.plan == nil)
            return
        }
        guard let plan = engine.plan else {
            Issue.record("no plan")
            return
        }
        #expect(engine.nameToResolve == nil)
        let media = (expect["media"] as? [[String: Any]])?.first { $0["port"] as? String == "nonzero" } ?? [:]
        if let number = media["dtmfPayloadType"] as? Int { #expect(plan.telephoneEvent?.send == UInt8(number)) }
        if let clock = media["rtpClock"] as? Int { #expect(plan.codec.clockRate == clock) }
        if let rate = media["audioSampleRate"] as? Int { #expect(plan.codec.sampleRate == rate) }
        if let number = expect["sendDtmfWith"] as? Int { #expect(plan.telephoneEvent?.send == UInt8(number)) }
        if let number = expect["receiveDtmfOn"] as? Int { #expect(plan.telephoneEvent?.receive == UInt8(number)) }
        if let sends = expect["sendsRtp"] as? Bool { #expect(plan.sends == sends) }
        if let remote = expect["rtcpSentTo"] as? String { #expect(plan.remoteControl.description == remote) }
        if let remote = expect["sendRtpTo"] as? String { #expect(plan.remote.description == remote) }
        if let time = expect["sendPtimeMs"] as? Int { #expect(plan.packetTime == .milliseconds(time)) }
        if expect["mediaRestarted"] as? Bool == false { #expect(plan == before) }
        if expect["addressFamily"] as? String == "IP6" { #expect(plan.local.address.isV6) }
    }

    @Test func ipv6OfferWithoutIPv6() throws {
        var local = LocalMedia.cases
        local.otherAddress = nil
        var engine = OfferAnswer(local: local, randomness: &Case.randomness)
        let offer = try #require(Case.named("ipv6-only-offer").offer)
        #expect {
            try engine.answer(offer)
        } throws: {
            ($0 as? NegotiationError)?.status == 488
        }
    }

    @Test func codecOrderOfOurOwn() throws {
        var local = LocalMedia.cases
        local.prefersOwnOrder = true
        var engine = OfferAnswer(local: local, randomness: &Case.randomness)
        _ = try engine.answer(try #require(Case.named("codec-order-offerer").offer))
        #expect(engine.plan?.codec == .g722)
        #expect(engine.plan?.sendPayloadType == 9)
    }

    @Test func numbersOfAnswerDiffer() throws {
        let test = Case.named("te-pt-asymmetric")
        var local = LocalMedia.cases
        local.codecs = [.pcma]
        local.port = 42_000
        var engine = OfferAnswer(local: local, randomness: &Case.randomness)
        let ours = try SessionDescription(engine.makeOffer())
        let written = try SessionDescription(try #require(test.file("ourOfferFile")))
        #expect(ours.media[0].formats == written.media[0].formats)
        try engine.apply(answer: try #require(test.file("answerFile")))
        let plan = try #require(engine.plan)
        #expect(plan.telephoneEvent?.send == 122)
        #expect(plan.telephoneEvent?.receive == 101)
        #expect(plan.sendPayloadType == 8)
        #expect(plan.telephoneEvent?.send == (test.expect["sendDtmfWith"] as? Int).map { UInt8($0) })
    }

    @Test func lateOffer() throws {
        let wanted = try #require(Case.named("late-offer").expect["offerHas"] as? [String: Any])
        var engine = OfferAnswer(local: .cases, randomness: &Case.randomness)
        let offer = try SessionDescription(engine.makeOffer())
        #expect(offer.media.map(\.kind) == ["audio"])
        #expect(offer.media[0].attributes.direction?.rawValue == wanted["direction"] as? String)
        #expect(offer.media[0].attributes.contains { $0.value?.hasSuffix("telephone-event/8000") == true })
        #expect(offer.media[0].attributes.contains { $0.value?.hasSuffix("telephone-event/48000") == true })
        try engine.apply(answer: Case.earlier(mediaCount: 1))
        #expect(engine.plan?.codec == .pcma)
    }

    @Test func reinviteWithoutDescriptionOnHold() throws {
        #expect(Case.named("reinvite-no-sdp-on-hold").expect["offerIn"] as? String == "2xx")
        var engine = OfferAnswer(local: .cases, randomness: &Case.randomness)
        let first = try SessionDescription(engine.answer(Case.earlier(mediaCount: 1)))
        // The peer holds us; what we offer is our own wish all the same, with every codec.
        _ = try engine.answer(try #require(Case.named("hold-sendonly").offer))
        let held = try SessionDescription(engine.localDescription)
        let offer = try SessionDescription(engine.makeOffer())
        #expect(offer.media[0].attributes.direction == .sendrecv)
        let encodings = offer.media[0].attributes.filter { $0.name == "rtpmap" }.compactMap(\.value)
        for codec in AudioCodec.allCases { #expect(encodings.contains { $0.contains(codec.name) }) }
        let versions = [first, held, offer].map { $0.origin.flatMap { UInt64($0.version) } ?? 0 }
        #expect(versions[1] == versions[0] + 1)
        #expect(versions[2] == versions[1] + 1)
    }
}
