import CLinux
import EventLoop
import Primitives
import Testing

@Suite("R10: the clock") struct ClockWatchTests {
    /// To its own time, which is set anew at the same moment.
    private static func setClock() -> Bool {
        var time = timespec()
        return clock_gettime(CLOCK_REALTIME, &time) == 0 && clock_settime(CLOCK_REALTIME, &time) == 0
    }

    @Test func theBuildIsNotInTheFuture() {
        #expect(Clock.buildDay <= Clock.wall)
        #expect(Clock.buildDay > UTCTime(milliseconds: 1_700_000_000_000))
    }

    @Test(.enabled(if: ClockWatchTests.setClock(), "the clock may not be set here")) func settingTheClockIsTold() throws
    {
        let loop = try EventLoop()
        var count = 0
        let watch = try ClockWatch(on: loop) { count += 1 }
        try loop.turn(atMost: .milliseconds(50))
        #expect(count == 0)
        for times in 1...2 {
            #expect(Self.setClock())
            let end = loop.now + .seconds(10)
            while count < times, loop.now < end { try loop.turn(atMost: .milliseconds(100)) }
            #expect(count == times)
        }
        withExtendedLifetime(watch) {}
    }
}
