import CLinux
import Glibc
package import Primitives

/// The local time, by the time zone of the system (`/etc/localtime`, or `TZ`).
package enum LocalClock {
    /// Nil before the clock was ever set, or for a time that no calendar knows.
    package static func time(_ wall: UTCTime) -> LocalTime? {
        if wall < Clock.buildDay { return nil }
        var seconds = time_t(wall.milliseconds / 1000)
        var parts = tm()
        tzset()  // The zone may be another since the last time.
        guard localtime_r(&seconds, &parts) != nil else { return nil }
        return LocalTime(
            date: LocalDate(year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday)),
            weekday: (Int(parts.tm_wday) + 6) % 7, minute: Int(parts.tm_hour) * 60 + Int(parts.tm_min))
    }
}
