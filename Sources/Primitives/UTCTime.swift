/// Wall-clock time in milliseconds since 1970-01-01T00:00:00Z. An input of its own, never derived from `Instant`.
package struct UTCTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static func < (left: UTCTime, right: UTCTime) -> Bool { left.milliseconds < right.milliseconds }

    /// RFC 3339 in UTC with milliseconds: `2026-01-01T00:00:00.000Z`.
    package var description: String {
        let days = milliseconds.floorDivided(by: 86_400_000)
        let inDay = milliseconds &- days &* 86_400_000
        let (year, month, day) = Self.civil(daysSince1970: days)
        func padded(_ value: Int64, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T"
            + padded(inDay / 3_600_000, 2) + ":" + padded(inDay / 60_000 % 60, 2) + ":"
            + padded(inDay / 1000 % 60, 2) + "." + padded(inDay % 1000, 3) + "Z"
    }

    /// Proleptic Gregorian date of a day number (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    private static func civil(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = daysSince1970 &+ 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted &- era &* 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra &+ era &* 400 &+ (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    /// Division that rounds towards minus infinity. `divisor` is positive.
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
