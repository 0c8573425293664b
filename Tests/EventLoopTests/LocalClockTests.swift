import EventLoop
import Foundation
import Primitives
import Testing

@Suite(.serialized) struct LocalClockTests {
    /// Central Europe leaves summer time on 2027-10-31 at 01:00 UTC and enters it on 2028-03-26.
    @Test(arguments: [
        ("CET-1CEST,M3.5.0,M10.5.0/3", 1_824_944_340, "2027-10-31 02:59"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", 1_824_944_400, "2027-10-31 02:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", 1_837_645_140, "2028-03-26 01:59"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", 1_837_645_200, "2028-03-26 03:00"),
        ("UTC", 1_837_645_200, "2028-03-26 01:00"),
    ])
    func summerTime(zone: String, seconds: Int, text: String) throws {
        let before = ProcessInfo.processInfo.environment["TZ"]
        setenv("TZ", zone, 1)
        defer { before.map { _ = setenv("TZ", $0, 1) } ?? { _ = unsetenv("TZ") }() }
        let time = try #require(LocalClock.time(UTCTime(milliseconds: Int64(seconds) * 1000)))
        #expect(time.description == text)
        #expect(time.weekday == 6)
    }

    @Test func aClockThatWasNeverSetKnowsNoTime() {
        #expect(LocalClock.time(UTCTime(milliseconds: 3_600_000)) == nil)
    }
}
