import CLinux
import Glibc
package import Primitives

/// The kernel's clocks. Only edges read them.
package enum Clock {
    /// The loop's clock: `CLOCK_BOOTTIME`, which goes on through suspend. Usable from any thread.
    package static var now: Instant { read(CLOCK_BOOTTIME) }

    /// `CLOCK_MONOTONIC`, which stops in suspend: the time stamps of GPIO edges are in it.
    package static var monotonic: Instant { read(CLOCK_MONOTONIC) }

    /// The time of day.
    package static var wall: UTCTime { UTCTime(milliseconds: wallNanoseconds / 1_000_000) }

    /// The day of this build, or the one before: a clock that shows less was never set (R10).
    package static var buildDay: UTCTime { UTCTime(milliseconds: portero_build_time() * 1000) }

    /// The time of day, nanoseconds since 1970: the kernel's stamps of datagrams are in it.
    package static var wallNanoseconds: Int64 { read(CLOCK_REALTIME).nanoseconds }

    private static func read(_ clock: clockid_t) -> Instant {
        var time = timespec()
        clock_gettime(clock, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }
}
