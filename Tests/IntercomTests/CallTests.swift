import Configuration
import Intercom
import Primitives
import Testing
import UserAgent

@Suite struct DialingTests {
    @Test func inSequenceTheNextRingsWhenTheFirstIsBusy() {
        var station = Station()
        station.press()
        station.status(CallKey(1), .ended, cause: "busy")
        #expect(station.said() == ["dial c1 sip:100@pbx.example house", "dial c2 sip:200@other.example other"])
        station.status(CallKey(2), .ringing)
        #expect(station.said() == ["tone ringback"])
        station.status(CallKey(2), .talking)
        #expect(station.said() == ["tone none"])
        station.status(CallKey(2), .ended, cause: "normal")
        #expect(station.said() == ["tone ended"])
        station.pass(.seconds(10))
        #expect(station.said() == ["tone none"])
        #expect(station.intercom.deadline == nil)
    }

    @Test func inSequenceTheNextRingsAfterRingFor() {
        var station = Station()
        station.press()
        _ = station.said()
        station.pass(.seconds(24))
        #expect(station.said() == [])
        station.pass(.seconds(1))
        #expect(station.said() == ["hangup c1 normal", "dial c2 sip:200@other.example other"])
        station.status(CallKey(1), .ended, cause: "cancelled")
        station.status(CallKey(2), .ended, cause: "declined")
        #expect(station.said() == ["tone busy"])
    }

    @Test func inParallelTheFirstAnswerWinsAndTheOthersHearSo() {
        var station = Station { $0.groups[0].order = .parallel }
        station.press()
        #expect(station.said() == ["dial c1 sip:100@pbx.example house", "dial c2 sip:200@other.example other"])
        #expect(station.intercom.group(of: CallKey(2)) == "family")
        station.status(CallKey(1), .ringing)
        station.status(CallKey(2), .talking)
        #expect(station.said() == ["tone ringback", "hangup c1 answeredElsewhere", "tone none"])
        station.status(CallKey(1), .ended, cause: "answered-elsewhere")
        #expect(station.said() == [])
    }

    @Test func hangUpOfAnyLegEndsTheWhole() throws {
        var station = Station { $0.groups[0].order = .parallel }
        station.press()
        _ = station.said()
        _ = try station.intercom.request(.hangUp(CallKey(2)), at: station.now, &station.out)
        #expect(station.said() == ["hangup c1 normal", "hangup c2 normal"])
    }

    @Test func roundsRepeatTheGroup() {
        var station = Station { $0.groups[0].rounds = 2 }
        station.press()
        for call in 1...4 { station.status(CallKey(call), .ended, cause: "unreachable") }
        #expect(
            station.said() == [
                "dial c1 sip:100@pbx.example house", "dial c2 sip:200@other.example other",
                "dial c3 sip:100@pbx.example house", "dial c4 sip:200@other.example other", "tone congestion",
            ])
    }

    @Test func anAccountThatIsNotRegisteredIsPassedOverIfThereIsANextTarget() {
        var station = Station()
        station.register("house", .failed)
        station.press()
        #expect(station.said() == ["dial c1 sip:200@other.example other"])
    }

    @Test func theLastTargetIsTriedAllTheSame() throws {
        var station = Station()
        station.register("other", .failed)
        station.out = []
        let call = try station.intercom.request(
            .dial(target: DialTarget(.name("attic")), headers: []), at: station.now, &station.out)
        #expect(call == CallKey(1))
        #expect(station.said() == ["dial c1 sip:200@other.example other"])
    }

    @Test(
        arguments: [
            (nil, "house", "the default"), ("other", "other", "named by the dial"),
        ] as [(String?, String, String)])
    func theAccountOfAURI(via: String?, account: String, why: String) throws {
        let plan = try DialPlan(DialTarget(.uri("sip:1@x"), via: via), in: Station.configuration)
        #expect(plan.stages.first?.legs.first == DialPlan.Leg(uri: "sip:1@x", account: account, why: why))
    }

    @Test func withoutADefaultItIsTheFirst() throws {
        var configuration = Station.configuration
        configuration.accounts[1].isDefault = false
        let plan = try DialPlan(DialTarget(.name("kitchen")), in: configuration)
        #expect(plan.stages.first?.legs.first?.account == "other")
        #expect(plan.stages.first?.legs.first?.why == "the first in the file")
    }

    @Test func whatCannotBeCalledIsSaid() {
        var station = Station()
        #expect(throws: IntercomRefusal.unknown("no contact or group named attick")) {
            try station.intercom.request(
                .dial(target: DialTarget(.name("attick")), headers: []), at: .zero, &station.out)
        }
    }

    @Test func aCallEndsAfterMaxDuration() {
        var station = Station()
        station.press()
        station.status(CallKey(1), .talking)
        _ = station.said()
        station.pass(.seconds(299))
        #expect(station.said() == [])
        station.pass(.seconds(1))
        #expect(station.said() == ["hangup c1 tooLong"])
    }
}

@Suite struct IncomingTests {
    @Test func itRingsAndTheCallerGetsTheCodeAfterRingFor() {
        var station = Station()
        _ = station.incoming()
        #expect(station.said() == ["ring c1", "start ringing house"])
        station.pass(.seconds(45))
        #expect(station.said() == ["reject c1 480"])
        station.status(CallKey(1), .ended)
        #expect(station.said() == ["stop ringing"])
    }

    @Test func theRingStopsWithTheCallAlsoWhenTheNextOverlaps() {
        var station = Station { $0.call.secondCall = .accept }
        _ = station.incoming()
        _ = station.incoming(from: "101")
        station.status(CallKey(1), .ended, cause: "cancelled")
        #expect(station.said() == ["ring c1", "start ringing house", "ring c2"])
        station.status(CallKey(2), .ended, cause: "cancelled")
        #expect(station.said() == ["stop ringing"])
    }

    @Test func automaticAnswers() {
        var station = Station()
        _ = station.incoming(.automatic(after: .zero))
        #expect(station.said() == ["answer c1 by itself"])
    }

    @Test func automaticAnswersAfterTheirTime() {
        var station = Station()
        _ = station.incoming(.automatic(after: .seconds(2)))
        #expect(station.said() == ["ring c1", "start ringing house"])
        station.pass(.seconds(2))
        #expect(station.said().first == "answer c1 by itself")
    }

    @Test(arguments: [
        (SecondCall.busy, ["reject c2 486"]),
        (.wait, ["ring c2", "tone waiting", "answer c2", "tone none", "hold c1"]),
        (.hold, ["ring c2", "start ringing house", "answer c2", "stop ringing", "hold c1"]),
        (.replace, ["ring c2", "start ringing house", "answer c2", "stop ringing", "hangup c1 normal"]),
        (.accept, ["ring c2", "start ringing house", "answer c2", "stop ringing"]),
    ])
    func aSecondCall(policy: SecondCall, expected: [String]) {
        var station = Station { $0.call.secondCall = policy }
        _ = station.incoming(.automatic(after: .zero))
        station.status(CallKey(1), .talking)
        _ = station.said()
        _ = station.incoming(from: "101")
        if policy != .busy {
            station.press()
            station.status(CallKey(2), .talking)
        }
        #expect(station.said() == expected)
    }

    @Test func wordsActOnTheCallTheyApplyTo() throws {
        var station = Station { $0.call.secondCall = .accept }
        _ = station.incoming(.automatic(after: .zero))
        station.status(CallKey(1), .talking)
        _ = station.incoming(from: "101")
        _ = station.said()
        _ = try station.intercom.request(.hold(nil), at: station.now, &station.out)
        station.status(CallKey(1), .held, hold: .local)
        _ = try station.intercom.request(.resume(nil), at: station.now, &station.out)
        _ = try station.intercom.request(.mute(nil, true), at: station.now, &station.out)
        _ = try station.intercom.request(.reject(nil, code: 603), at: station.now, &station.out)
        #expect(station.said() == ["hold c1", "resume c1", "mute c1 true", "reject c2 603", "stop ringing"])
        #expect(throws: IntercomRefusal.impossible("no call to answer")) {
            try station.intercom.request(.answer(nil), at: station.now, &station.out)
        }
        #expect(throws: IntercomRefusal.unknown("no call c9")) {
            try station.intercom.request(.hangUp(CallKey(9)), at: station.now, &station.out)
        }
    }
}
