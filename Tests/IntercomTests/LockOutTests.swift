import Intercom
import Primitives
import Testing

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
