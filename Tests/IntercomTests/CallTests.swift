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

@Suite struct CallPlanTests {
    @Test(arguments: [
        ("busy", AfterFailure.next, ["dial c2 sip:200@other.example other"]), ("busy", .stop, ["tone busy"]),
        ("declined", .next, ["dial c2 sip:200@other.example other"]), ("declined", .stop, ["tone busy"]),
        ("unreachable", .next, ["dial c2 sip:200@other.example other"]), ("unreachable", .stop, ["tone congestion"]),
    ])
    func nextOrStop(cause: String, policy: AfterFailure, expected: [String]) {
        var station = Station {
            if cause == "busy" { $0.groups[0].onBusy = policy }
            if cause == "declined" { $0.groups[0].onDeclined = policy }
            if cause == "unreachable" { $0.groups[0].onUnreachable = policy }
        }
        station.press()
        _ = station.said()
        station.status(CallKey(1), .ended, cause: cause)
        #expect(station.said() == expected)
    }

    @Test func inParallelStopEndsTheOthersToo() {
        var station = Station {
            $0.groups[0].order = .parallel
            $0.groups[0].onDeclined = .stop
            $0.groups[0].rounds = 2
        }
        station.press()
        _ = station.said()
        station.status(CallKey(2), .ended, cause: "declined")
        #expect(station.said() == ["hangup c1 normal", "tone busy"])
        station.status(CallKey(1), .ended, cause: "cancelled")
        station.pass(.seconds(60))
        #expect(station.said() == ["tone none"])
    }

    @Test func theLastResortComesAfterAllRoundsOnce() {
        var station = Station {
            $0.groups[0].rounds = 2
            $0.groups[0].lastResort = DialTarget(.uri("sip:guard@pbx.example"))
        }
        station.press()
        for call in 1...5 { station.status(CallKey(call), .ended, cause: "no-answer") }
        #expect(station.said().suffix(2) == ["dial c5 sip:guard@pbx.example house", "tone busy"])
    }

    /// A stage of a stage keeps its own time: first the kitchen for 25 s, then upstairs together for 7 s.
    @Test func aGroupInAGroupIsAStageWithItsOwnTime() throws {
        var configuration = Station.configuration
        var upstairs = GroupSettings(
            name: "upstairs", targets: [DialTarget(.name("attic")), DialTarget(.uri("sip:3@pbx.example"))])
        upstairs.order = .parallel
        upstairs.ringFor = .seconds(7)
        configuration.groups.append(upstairs)
        configuration.groups[0].targets = [DialTarget(.name("kitchen")), DialTarget(.name("upstairs"))]
        let plan = try DialPlan(DialTarget(.name("family")), in: configuration)
        #expect(plan.stages.map(\.ringFor) == [.seconds(25), .seconds(7)])
        #expect(plan.stages.map(\.legs.count) == [1, 2])
    }

    static let noon = LocalTime(date: LocalDate(year: 2026, month: 11, day: 30), weekday: 0, minute: 720)
    static let night = LocalTime(date: LocalDate(year: 2026, month: 11, day: 30), weekday: 0, minute: 1380)

    static func nights(_ configuration: inout Configuration) {
        var schedule = ScheduleSettings(name: "night")
        schedule.times = [ScheduleTimes("22:00-06:00")].compactMap { $0 }
        configuration.schedules = [schedule]
    }

    @Test func bySchedule() {
        var station = Station {
            Self.nights(&$0)
            $0.groups[0].when = ScheduleCondition("night", isInverted: true)
            $0.groups[0].otherwise = DialTarget(.uri("sip:guard@pbx.example"))
        }
        for (time, uri) in [(Self.noon, "sip:100@pbx.example"), (Self.night, "sip:guard@pbx.example")] {
            station.handle(.clock(time))
            station.press()
            #expect(station.said().first?.contains(uri) == true)
            _ = station.ask(.hangUp(nil))
            station.pass(.seconds(60))
            _ = station.said()
        }
        var closed = Station {
            Self.nights(&$0)
            $0.groups[0].when = ScheduleCondition("night")
        }
        #expect(
            closed.ask(.dial(target: DialTarget(.name("family")), headers: []))
                == "group family is not called at this time")
    }

    func refusals(_ station: Station) -> [String?] {
        station.out.compactMap { output -> String?? in
            guard case .event(.button(_, .press, let refused)) = output else { return nil }
            return .some(refused)
        }
    }

    /// At night the bell stays silent, yet whoever follows the events knows that somebody was there (R49).
    @Test func aQuietPressRaisesItsEventAndATone() {
        var station = Station {
            Self.nights(&$0)
            $0.buttons[0].quiet = ScheduleCondition("night")
        }
        station.handle(.clock(Self.night))
        station.press()
        #expect(refusals(station) == ["quiet"])
        #expect(station.said() == ["tone busy"])
        station.pass(.seconds(10))
        station.handle(.clock(Self.noon))
        station.out = []
        station.press()
        #expect(refusals(station) == [nil])
        #expect(station.said() == ["dial c1 sip:100@pbx.example house"])
    }

    @Test func moreDialsThanTheLimitAreRefused() {
        var station = Station { $0.buttons[0].dialsPerMinute = 2 }
        for _ in 0..<3 {
            station.press()
            _ = station.ask(.hangUp(nil))
            station.pass(.seconds(6))
        }
        #expect(refusals(station) == [nil, nil, "too-many"])
        station.pass(.seconds(60))
        station.out = []
        station.press()
        #expect(refusals(station) == [nil])
    }

    @Test func aToneWarnsAndADigitProlongs() {
        var station = Station {
            $0.call.warnBefore = .seconds(10)
            $0.call.prolong = UInt8(ascii: "*")
        }
        station.press()
        station.status(CallKey(1), .talking)
        _ = station.said()
        station.key("*", in: CallKey(1))
        station.pass(.seconds(5))
        #expect(station.said() == ["keep"], "before the warning it is a digit like any other")
        station.pass(.seconds(284))
        #expect(station.said() == [])
        station.pass(.seconds(1))
        #expect(station.said() == ["tone warning"])
        station.pass(.seconds(5))
        station.key("*", in: CallKey(1))
        _ = station.said()
        station.pass(.seconds(290))
        #expect(station.said() == ["tone warning"])
        station.pass(.seconds(10))
        #expect(station.said() == ["tone none", "hangup c1 tooLong"])
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
