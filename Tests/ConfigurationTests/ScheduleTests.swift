import Configuration
import Primitives
import Testing

@Suite struct ScheduleTests {
    /// 2026-11-30 is a Monday.
    static func time(_ day: Int, _ hour: Int, _ minute: Int = 0) -> LocalTime {
        let date =
            day <= 30 ? LocalDate(year: 2026, month: 11, day: day) : LocalDate(year: 2026, month: 12, day: day - 30)
        return LocalTime(date: date, weekday: (day - 30 + 70) % 7, minute: hour * 60 + minute)
    }

    private func schedule(_ times: String, holidays: String = "") throws -> ScheduleSettings {
        let reading = read("[schedule s]\ntimes = \(times)\nholidays = \(holidays)\n")
        #expect(reading.faultTexts == [])
        return try #require(reading.configuration?.schedules.first)
    }

    @Test(arguments: [
        (30, 21, 59, false), (30, 22, 0, true), (31, 0, 0, true), (31, 5, 59, true), (31, 6, 0, false),
        // Friday's night reaches into Saturday, Sunday has none, nor has its morning after Saturday.
        (34, 22, 0, true), (35, 5, 59, true), (35, 22, 0, false), (36, 3, 0, false), (36, 23, 0, false),
        // Sunday to Monday is Sunday's.
        (37, 3, 0, false), (37, 22, 0, true),
    ])
    func nightsOfTheWeek(day: Int, hour: Int, minute: Int, holds: Bool) throws {
        #expect(try schedule("Mo-Fr 22:00-06:00").holds(at: Self.time(day, hour, minute)) == holds)
    }

    @Test func daysGoOverTheEndOfTheWeek() throws {
        let schedule = try schedule("Fr-Mo 10:00-11:00")
        #expect(
            (30...36).map { schedule.holds(at: Self.time($0, 10, 30)) } == [
                true, false, false, false, true, true, true,
            ])
    }

    /// A holiday is none of the week's days, and may have times of its own; times without a day hold on it, too.
    @Test func holidays() throws {
        let schedule = try schedule(
            "Mo-Fr 08:00-18:00, holidays 10:00-12:00, 03:00-04:00", holidays: "12-01, 2027-12-02")
        #expect(!schedule.holds(at: Self.time(31, 9)))
        #expect(schedule.holds(at: Self.time(31, 11)))
        #expect(schedule.holds(at: Self.time(31, 3)))
        #expect(schedule.holds(at: Self.time(32, 9)), "a holiday of another year")
        #expect(!schedule.holds(at: Self.time(32, 7)))
    }

    @Test func theNightAfterAHolidayIsTheHolidays() throws {
        let schedule = try schedule("Mo-Fr 22:00-06:00", holidays: "12-01")
        #expect(schedule.holds(at: Self.time(31, 5)), "still Monday's night")
        #expect(!schedule.holds(at: Self.time(31, 23)))
        #expect(!schedule.holds(at: Self.time(32, 5)))
    }

    @Test(arguments: [
        "Mo-Fr", "22:00", "Mo 22:00-22:00", "Mo 24:00-06:00", "Mo 22:60-23:00", "Mo 2:00-3:00", "Mo-Fr-Sa 01:00-02:00",
        "Xx 01:00-02:00", "Mo Tu 01:00-02:00", "01:00-24:01", "holiday 01:00-02:00",
    ])
    func refusesTimes(text: String) {
        #expect(read("[schedule s]\ntimes = \(text)\n").faults.count == 1)
        #expect(ScheduleTimes(text) == nil)
    }

    @Test(arguments: ["02-30", "13-01", "2027-02-29", "1-1", "00-01", "2027-1-01", "12", "-12-25"])
    func refusesHolidays(text: String) { #expect(Holiday(text) == nil) }

    @Test func leapDays() {
        #expect(Holiday("02-29") != nil && Holiday("2028-02-29") != nil)
        #expect(LocalDate(year: 2028, month: 3, day: 1).previous == LocalDate(year: 2028, month: 2, day: 29))
        #expect(LocalDate(year: 2027, month: 1, day: 1).previous == LocalDate(year: 2026, month: 12, day: 31))
    }

    @Test func anExpiryEndsWithItsDayOrMinute() throws {
        let day = try #require(Expiry("2026-11-30"))
        #expect(!day.isPast(at: Self.time(30, 23, 59)) && day.isPast(at: Self.time(31, 0)))
        let minute = try #require(Expiry("2026-11-30 12:00"))
        #expect(!minute.isPast(at: Self.time(30, 11, 59)) && minute.isPast(at: Self.time(30, 12)))
    }

    /// While nobody knows the time neither a schedule nor its reverse holds.
    @Test func withoutATimeNothingHolds() throws {
        let configuration = try #require(read("[schedule s]\ntimes = 00:00-24:00\n").configuration)
        let condition = ScheduleCondition("s")
        let inverse = ScheduleCondition("s", isInverted: true)
        #expect(!configuration.holds(condition, at: nil) && !configuration.holds(inverse, at: nil))
        #expect(
            configuration.holds(condition, at: Self.time(30, 1)) && !configuration.holds(inverse, at: Self.time(30, 1)))
    }
}
