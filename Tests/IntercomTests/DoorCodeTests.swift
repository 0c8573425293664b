import Configuration
import Hashing
import Intercom
import Primitives
import Testing
import UserAgent

@Suite struct DoorCodeTests {
    func talking(_ change: (inout Configuration) -> Void = { _ in }, lockOut: LockOut = LockOut()) -> Station {
        var station = Station(change, lockOut: lockOut)
        _ = station.incoming(.automatic(after: .zero))
        station.status(CallKey(1), .talking)
        _ = station.said()
        return station
    }

    @Test func theRightCodeOpensOnceAndTheRelayFallsByItself() {
        var station = talking()
        station.key("4711", in: CallKey(1))
        #expect(station.said() == ["relay front on"])
        station.status(CallKey(1), .ended, cause: "normal")
        _ = station.said()
        station.pass(.seconds(5))
        #expect(station.said().contains("relay front off"))
    }

    @Test func aCodeOfAnotherLengthWorksToo() {
        var station = talking()
        station.key("081500", in: CallKey(1))
        #expect(station.said() == ["relay front on"])
    }

    @Test func neverInEarlyMedia() {
        var station = Station()
        station.press()
        station.status(CallKey(1), .early)
        _ = station.said()
        station.key("4711", in: CallKey(1))
        #expect(station.said() == [])
    }

    @Test func inACallThatCanOpenDigitsAreNotShown() {
        var station = talking()
        station.key("9", in: CallKey(1))
        let shown = station.out.contains {
            if case .event(.digit(_, digit: let digit, by: _)) = $0 { digit != nil } else { false }
        }
        #expect(!shown)
        station = talking { $0.doors[0].codes = [] }
        station.key("9", in: CallKey(1))
        let digits = station.out.compactMap {
            if case .event(.digit(_, digit: let digit, by: _)) = $0 { digit } else { nil }
        }
        #expect(digits == [UInt8(ascii: "9")])
    }

    @Test func onlyWhoMay() throws {
        let pattern = try #require(CallerPattern("sip:2*@pbx.example"))
        var station = talking { $0.doors[0].codeFrom = .callers([pattern]) }
        station.key("4711", in: CallKey(1))
        #expect(station.said() == [])
    }

    @Test func threeWrongOnesAndTheRestOfTheCallCountsForNothing() {
        var station = talking()
        for _ in 0..<3 { station.key("999999", in: CallKey(1)) }
        station.key("4711", in: CallKey(1))
        #expect(station.said() == ["keep", "keep", "keep"])
    }

    @Test func aPauseVoidsWhatWasKeyedAndCountsAsWrong() {
        var station = talking()
        station.key("47", in: CallKey(1))
        station.pass(.seconds(4))
        #expect(station.said() == ["keep"])
        station.key("11", in: CallKey(1))
        #expect(station.said() == [])
        station.pass(.seconds(5))
        station.key("4711", in: CallKey(1))
        #expect(station.said() == ["keep", "relay front on"])
    }

    @Test func holdVoidsWhatWasKeyed() {
        var station = talking()
        station.key("47", in: CallKey(1))
        station.status(CallKey(1), .heldByPeer, hold: .remote)
        station.status(CallKey(1), .talking)
        station.key("4711", in: CallKey(1))
        #expect(station.said() == ["relay front on"])
    }

    /// Calls one after another of the same caller, each with two wrong codes.
    @Test func fiveWrongOnesOfACallerLockTheCodes() {
        var station = Station()
        for number in 1...3 {
            let call = station.incoming(.automatic(after: .zero))
            station.status(call, .talking)
            for _ in 0..<(number == 3 ? 1 : 2) { station.key("999999", in: call) }
            station.status(call, .ended, cause: "normal")
        }
        #expect(station.said().contains("locked \(Duration.seconds(900))"))
        let call = station.incoming(.automatic(after: .zero))
        station.status(call, .talking)
        station.key("4711", in: call)
        #expect(!station.said().contains("relay front on"))
        station.pass(.seconds(299))
        station.status(call, .ended, cause: "normal")
        #expect(!station.said().contains("codes count"))
        station.pass(.seconds(601))
        #expect(station.said().contains("codes count"))
        station.pass(.seconds(3600))
        #expect(!station.said().contains("codes count"))
        let later = station.incoming(.automatic(after: .zero))
        station.status(later, .talking)
        station.key("4711", in: later)
        #expect(station.said().contains("relay front on"))
    }
}

@Suite struct CodeBoundTests {
    static let monday = LocalTime(date: LocalDate(year: 2026, month: 11, day: 30), weekday: 0, minute: 600)

    func station(uses: [String: Int] = [:], _ change: (inout CodeSettings) -> Void) -> Station {
        var code = CodeSettings(name: "cleaner", door: "front")
        code.digits = Secret("7777")
        change(&code)
        var office = ScheduleSettings(name: "office")
        office.times = [ScheduleTimes("Mo-Fr 08:00-18:00")].compactMap { $0 }
        return Station(
            {
                $0.doors[0].codes = []
                $0.codes = [code]
                $0.schedules = [office]
            }, uses: uses)
    }

    /// What a caller who keys the code gets to see.
    func key(_ station: inout Station, _ digits: String = "7777") -> [String] {
        let call = station.incoming(.automatic(after: .zero))
        station.status(call, .talking)
        _ = station.said()
        station.key(digits, in: call)
        let said = station.said()
        station.status(call, .ended, cause: "normal")
        station.pass(.seconds(30))
        _ = station.said()
        return said
    }

    @Test func aCodeOpensWithinItsTimesAlone() {
        var station = station { $0.when = ScheduleCondition("office") }
        #expect(key(&station) == ["keep"], "nobody knows the time")
        station.handle(.clock(Self.monday))
        #expect(key(&station) == ["relay front on"])
        var night = Self.monday
        night.minute = 1380
        station.handle(.clock(night))
        #expect(key(&station) == ["keep"])
    }

    @Test func anExpiredCodeIsWrong() {
        var station = station { $0.until = Expiry("2026-11-30 10:01") }
        #expect(key(&station) == ["keep"], "nobody knows the time")
        station.handle(.clock(Self.monday))
        #expect(key(&station) == ["relay front on"])
        var later = Self.monday
        later.minute += 1
        station.handle(.clock(later))
        #expect(key(&station) == ["keep"])
    }

    /// The count is kept before the door opens, and goes on after a restart.
    @Test func aCodeIsUsedUp() {
        var first = station { $0.uses = 2 }
        #expect(key(&first) == ["uses cleaner 1", "relay front on"])
        var second = station(uses: ["cleaner": 1]) { $0.uses = 2 }
        #expect(second.intercom.codeStatuses.first?.usesLeft == 1)
        #expect(key(&second) == ["uses cleaner 2", "relay front on"])
        #expect(key(&second) == ["keep"])
        #expect(second.intercom.codeStatuses.first?.usesLeft == 0)
    }

    @Test func aCodeOfAnotherAccountOrCallerOpensNothing() throws {
        var account = station { $0.account = "other" }
        #expect(key(&account) == [])
        let pattern = try #require(CallerPattern("sip:2*@pbx.example"))
        var caller = station { $0.from = .callers([pattern]) }
        #expect(key(&caller) == [])
        var own = station { $0.account = "house" }
        #expect(key(&own) == ["relay front on"])
    }

    @Test func aHashedCodeOpensAndNoOtherDoes() throws {
        let hash = try #require(CodeHash(hashing: "7777", salt: Array(0..<16), iterations: 10, .nettle))
        #expect(CodeHash(hash.description) == hash)
        #expect(!hash.description.contains("7777"))
        var station = station {
            $0.digits = nil
            $0.hash = hash
        }
        #expect(key(&station, "7778") == ["keep"])
        #expect(key(&station) == ["relay front on"])
    }

    /// RFC 7914 section 11: PBKDF2-HMAC-SHA-256 (P="passwd", S="salt", c=1), and a known one of 4096 rounds.
    @Test func theHashIsPBKDF2() {
        let one = Hashes.nettle.pbkdf2SHA256(Array("passwd".utf8), salt: Array("salt".utf8), iterations: 1)
        #expect(hexadecimal(one) == "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc")
        let many = Hashes.nettle.pbkdf2SHA256(Array("password".utf8), salt: Array("salt".utf8), iterations: 4096)
        #expect(hexadecimal(many) == "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a")
    }

    /// A code that does not count now is as long, and as wrong, as any other: nobody learns that there is one.
    @Test func whatDoesNotCountNowIsWrongLikeAnyOther() {
        for digits in ["7777", "1234"] {
            var station = station { $0.when = ScheduleCondition("office") }
            #expect(key(&station, digits) == ["keep"])
        }
    }
}

@Suite struct HangUpAfterOpeningTests {
    func opened(_ hangUp: HangUpAfterOpening, sensor: Bool = false) -> (Station, CallKey) {
        var station = Station {
            $0.doors[0].hangUp = hangUp
            if sensor { $0.doors[0].sensor = .simulated("contact") }
        }
        station.handle(.opened(.sensor(door: "front"), high: false))
        let call = station.incoming(.automatic(after: .zero))
        station.status(call, .talking)
        station.key("4711", in: call)
        _ = station.said()
        return (station, call)
    }

    @Test func neverOrTwoSecondsAfterOrOnceTheRelayIsAtRest() {
        for (hangUp, seconds) in [(HangUpAfterOpening.never, nil), (.opened, 2), (.closed, 5)] {
            var (station, call) = opened(hangUp)
            var ended: Int?
            for second in 1...20 where ended == nil {
                station.pass(.seconds(1))
                if station.said().contains("hangup \(call) normal") { ended = second }
            }
            #expect(ended == seconds, "\(hangUp)")
        }
    }

    @Test func onceTheDoorIsShutAgain() {
        var (station, call) = opened(.closed, sensor: true)
        station.pass(.seconds(1))
        station.handle(.level(.sensor(door: "front"), high: true, at: station.now))
        station.pass(.seconds(30))
        #expect(!station.said().contains("hangup \(call) normal"))
        station.handle(.level(.sensor(door: "front"), high: false, at: station.now))
        station.pass(.milliseconds(20))
        #expect(station.said() == ["hangup \(call) normal"])
    }
}

@Suite struct KeypadTests {
    func station(keypad: Bool = true) -> Station {
        Station {
            $0.doors[0].keypad = keypad
            $0.buttons += "1470#".map { digit in
                var button = ButtonSettings(name: "key\(digit)", line: .simulated("key\(digit)"))
                button.press = .key(digit.asciiValue ?? 0)
                return button
            }
        }
    }

    func type(_ digits: String, _ station: inout Station) {
        for digit in digits { station.press("key\(digit)") }
    }

    @Test func itsButtonsFormACode() {
        var station = station()
        type("4711", &station)
        #expect(station.said() == ["relay front on"])
        var other = self.station(keypad: false)
        type("4711", &other)
        #expect(other.said() == [])
    }

    @Test func fiveWrongOnesLockIt() {
        var station = station()
        for _ in 0..<5 { type("1111#", &station) }
        #expect(station.said().last == "keep")
        type("4711", &station)
        #expect(!station.said().contains("relay front on"))
        station.pass(.seconds(901))
        type("4711", &station)
        #expect(station.said().contains("relay front on"))
    }

    @Test func aPauseBeginsAnew() {
        var station = station()
        type("47", &station)
        station.pass(.seconds(5))
        type("4711", &station)
        #expect(station.said() == ["keep", "relay front on"])
    }
}
