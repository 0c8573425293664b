package import Primitives

/// `[schedule NAME]`
package struct ScheduleSettings: Equatable, Sendable {
    package let name: String
    /// It holds in any of them; never empty.
    package var times: [ScheduleTimes] = []
    package var holidays: [Holiday] = []

    package init(name: String) { self.name = name }

    package func holds(at time: LocalTime) -> Bool {
        times.contains { $0.holds(at: time) { date in holidays.contains { $0.falls(on: date) } } }
    }
}

/// From one time of the day to another, on some days: `Mo-Fr 22:00-06:00`.
package struct ScheduleTimes: Hashable, Sendable, CustomStringConvertible {
    package enum Days: Hashable, Sendable {
        case every
        /// 0 (Monday) to 6 (Sunday), both included, over the end of the week if the second is before the first; not on
        /// holidays.
        case weekdays(Int, Int)
        case holidays
    }

    static let dayNames = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]

    package var days: Days
    /// Minutes of the day, 0–1440. With an end before its start it lasts into the day after, which belongs to the day
    /// on which it begins.
    package var start: Int
    package var end: Int

    /// Reads `[DAY[-DAY]|holidays] HH:MM-HH:MM`; nil for anything else.
    package init?(_ text: String) {
        let words = text.words
        guard let times = words.last?.parts(at: UInt8(ascii: "-")), times.count == 2, words.count <= 2,
            let start = minuteOfDay(times[0]), let end = minuteOfDay(times[1]), start != end, start < 1440
        else { return nil }
        (self.start, self.end) = (start, end)
        guard words.count == 2 else {
            days = .every
            return
        }
        if words[0] == "holidays" {
            days = .holidays
            return
        }
        let names = words[0].parts(at: UInt8(ascii: "-"))
        let numbers = names.compactMap { Self.dayNames.firstIndex(of: $0) }
        guard numbers.count == names.count, let first = numbers.first, let last = numbers.last, names.count <= 2 else {
            return nil
        }
        days = .weekdays(first, last)
    }

    package var description: String {
        let times = "\(clock(start))-\(clock(end))"
        switch days {
        case .every: return times
        case .holidays: return "holidays \(times)"
        case .weekdays(let first, let last):
            let names = [first, last].compactMap { Self.dayNames.indices.contains($0) ? Self.dayNames[$0] : nil }
            return (first == last ? names.first ?? "" : names.joined(separator: "-")) + " " + times
        }
    }

    package func holds(at time: LocalTime, isHoliday: (LocalDate) -> Bool) -> Bool {
        if start < end {
            return start..<end ~= time.minute && includes(time.date, time.weekday, isHoliday)
        }
        if time.minute >= start, includes(time.date, time.weekday, isHoliday) { return true }
        return time.minute < end && includes(time.date.previous, (time.weekday + 6) % 7, isHoliday)
    }

    private func includes(_ date: LocalDate, _ weekday: Int, _ isHoliday: (LocalDate) -> Bool) -> Bool {
        switch days {
        case .every: true
        case .holidays: isHoliday(date)
        case .weekdays(let first, let last):
            !isHoliday(date) && (first <= last ? first...last ~= weekday : weekday >= first || weekday <= last)
        }
    }
}

/// A day that is none of the week: `12-25` every year, `2027-03-26` once.
package struct Holiday: Hashable, Sendable, CustomStringConvertible {
    package var year: Int?
    package var month: Int
    package var day: Int

    package init?(_ text: String) {
        let parts = text.parts(at: UInt8(ascii: "-"))
        guard 2...3 ~= parts.count, parts.suffix(2).allSatisfy({ $0.utf8.count == 2 }),
            parts.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) })
        else { return nil }
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == parts.count else { return nil }
        year = numbers.count == 3 ? numbers[0] : nil
        (month, day) = (numbers[numbers.count - 2], numbers[numbers.count - 1])
        guard let days = LocalDate.days(ofMonth: month, in: year), 1...days ~= day,
            year.map({ 2000...9999 ~= $0 }) ?? true
        else { return nil }
    }

    package var description: String {
        (year.map { "\($0)-" } ?? "") + "\(twoDigits(month))-\(twoDigits(day))"
    }

    func falls(on date: LocalDate) -> Bool {
        month == date.month && day == date.day && year.map { $0 == date.year } ?? true
    }
}

/// The last minute at which something counts: `2027-01-31`, to the end of that day, or `2027-01-31 12:00`.
package struct Expiry: Hashable, Sendable, CustomStringConvertible {
    package var date: LocalDate
    /// It ends at this minute of the day, 1–1440.
    package var minute: Int

    package init?(_ text: String) {
        let words = text.words
        guard 1...2 ~= words.count, let day = Holiday(words[0]), let year = day.year else { return nil }
        date = LocalDate(year: year, month: day.month, day: day.day)
        minute = 1440
        guard words.count == 2 else { return }
        guard let read = minuteOfDay(words[1]) else { return nil }
        minute = read
    }

    package var description: String {
        "\(date.year)-\(twoDigits(date.month))-\(twoDigits(date.day))" + (minute == 1440 ? "" : " \(clock(minute))")
    }

    package func isPast(at time: LocalTime) -> Bool {
        time.date > date || time.date == date && time.minute >= minute
    }
}

/// A schedule that must hold, or with `not` must not.
package struct ScheduleCondition: Hashable, Sendable, CustomStringConvertible {
    package var schedule: String
    package var isInverted: Bool

    package init(_ schedule: String, isInverted: Bool = false) {
        self.schedule = schedule
        self.isInverted = isInverted
    }

    package var description: String { (isInverted ? "not " : "") + schedule }
}

extension Configuration {
    /// Whether a condition is met. While nobody knows the time none is, whichever way it is put.
    package func holds(_ condition: ScheduleCondition, at time: LocalTime?) -> Bool {
        guard let time, let schedule = schedules.first(where: { $0.name == condition.schedule }) else { return false }
        return schedule.holds(at: time) != condition.isInverted
    }
}

/// Minutes of the day of `HH:MM`, up to `24:00`; nil for anything else.
private func minuteOfDay(_ text: String) -> Int? {
    let parts = text.parts(at: UInt8(ascii: ":"))
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(\.isDigit) }),
        let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60, hour * 60 + minute <= 1440
    else { return nil }
    return hour * 60 + minute
}

private func clock(_ minute: Int) -> String { "\(twoDigits(minute / 60)):\(twoDigits(minute % 60))" }

private func twoDigits(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
