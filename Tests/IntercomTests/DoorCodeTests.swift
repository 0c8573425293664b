import Configuration
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

@Suite struct LockOutTests {
    @Test func twentyInAnHourLockWhoeverTheyComeFrom() {
        var lockOut = LockOut()
        for number in 0..<19 { #expect(lockOut.wrongCode(of: "\(number)", at: .zero + .seconds(number)) == nil) }
        #expect(lockOut.wrongCode(of: "x", at: .zero + .seconds(20)) == .seconds(900))
    }

    @Test func theTimeDoublesUpToFourHours() {
        var lockOut = LockOut()
        var now = Instant.zero
        var times: [Duration] = []
        for _ in 0..<6 {
            for _ in 0..<5 { if let time = lockOut.wrongCode(of: "a", at: now) { times.append(time) } }
            now += .seconds(5 * 3600)
        }
        #expect(times == [900, 1800, 3600, 7200, 14400, 14400].map { .seconds($0) })
    }

    @Test func aDayWithoutAWrongCodeIsForgiven() {
        var lockOut = LockOut()
        for _ in 0..<5 { _ = lockOut.wrongCode(of: "a", at: .zero) }
        // Over a restart in between, too.
        let noon = Instant.zero + .seconds(12 * 3600)
        let record = lockOut.record(at: noon, wall: UTCTime(milliseconds: 0))
        var restored = LockOut(record, at: .zero, wall: UTCTime(milliseconds: 0))
        for hours in [6, 13] as [Int64] {
            var later = hours == 6 ? lockOut : restored
            let time = (hours == 6 ? noon : .zero) + .seconds(hours * 3600)
            let times = (0..<5).compactMap { _ in later.wrongCode(of: "a", at: time) }
            #expect(times == [hours == 6 ? .seconds(1800) : .seconds(900)])
        }
        restored = LockOut(record, at: .zero, wall: UTCTime(milliseconds: 3_600_000))
        #expect((0..<5).compactMap { _ in restored.wrongCode(of: "a", at: .zero) } == [.seconds(1800)])
    }

    /// A file that was damaged, or made to trip us.
    @Test(arguments: [Int64.min, -1, 0, 1, .max], [Int64.min, -1, 0, 1, .max])
    func anyRecordCanBeRead(saved: Int64, remaining: Int64) {
        for age in [Int64.min, 0, .max] {
            let record = LockOut.Record(
                savedAt: UTCTime(milliseconds: saved), remaining: remaining, times: Int(truncatingIfNeeded: remaining),
                attempts: [LockOut.Record.Attempt(caller: "a", age: age)])
            for wall in [Int64.min, 0, .max] {
                var lockOut = LockOut(record, at: .zero, wall: UTCTime(milliseconds: wall))
                _ = lockOut.wrongCode(of: "a", at: .zero)
                _ = lockOut.record(at: .zero, wall: UTCTime(milliseconds: wall))
            }
        }
    }

    @Test(arguments: [(0, true), (800_000, true), (900_000, false), (-5_000_000, true)])
    func aRestartDoesNotShortenIt(passed: Int64, locked: Bool) {
        var lockOut = LockOut()
        for _ in 0..<5 { _ = lockOut.wrongCode(of: "a", at: .zero) }
        let record = lockOut.record(at: .zero, wall: UTCTime(milliseconds: 10_000_000))
        let restored = LockOut(record, at: .zero, wall: UTCTime(milliseconds: 10_000_000 + passed))
        #expect(restored.isLocked(at: .zero) == locked)
    }

    @Test func countsGoOnAfterARestart() {
        var lockOut = LockOut()
        for _ in 0..<4 { _ = lockOut.wrongCode(of: "a", at: .zero) }
        var restored = LockOut(
            lockOut.record(at: .zero, wall: UTCTime(milliseconds: 0)), at: .zero + .seconds(77),
            wall: UTCTime(milliseconds: 60_000))
        #expect(restored.wrongCode(of: "a", at: .zero + .seconds(80)) == .seconds(900))
    }
}
