/// A day of the calendar.
package struct LocalDate: Hashable, Comparable, Sendable {
    package var year: Int
    /// 1–12.
    package var month: Int
    /// 1–31.
    package var day: Int

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    package static func < (left: LocalDate, right: LocalDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// How many days a month has; nil for a month that there is not. Without a year February has 29.
    package static func days(ofMonth month: Int, in year: Int?) -> Int? {
        guard 1...12 ~= month else { return nil }
        let isLeap = year.map { $0.isMultiple(of: 4) && (!$0.isMultiple(of: 100) || $0.isMultiple(of: 400)) } ?? true
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// The day before.
    package var previous: LocalDate {
        if day > 1 { return LocalDate(year: year, month: month, day: day - 1) }
        let (year, month) = month > 1 ? (year, month - 1) : (year - 1, 12)
        return LocalDate(year: year, month: month, day: LocalDate.days(ofMonth: month, in: year) ?? 31)
    }
}

/// The time that a clock on the wall beside the device shows: made at the edge from the tables of time zones, an input
/// of its own, never derived from `Instant`.
package struct LocalTime: Hashable, Sendable, CustomStringConvertible {
    package var date: LocalDate
    /// 0 (Monday) to 6 (Sunday).
    package var weekday: Int
    /// Of the day, 0–1439.
    package var minute: Int

    package init(date: LocalDate, weekday: Int, minute: Int) {
        self.date = date
        self.weekday = weekday
        self.minute = minute
    }

    /// `2026-12-01 22:05`
    package var description: String {
        func padded(_ value: Int, _ width: Int) -> String {
            String(repeating: "0", count: max(0, width - String(value).count)) + String(value)
        }
        let day = "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
        return "\(day) \(padded(minute / 60, 2)):\(padded(minute % 60, 2))"
    }
}
