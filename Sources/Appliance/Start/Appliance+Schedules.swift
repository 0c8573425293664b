internal import API
internal import EventLoop
internal import Intercom
internal import Primitives

/// The local time for what depends on it, at each new minute.
extension Appliance {
    /// Tells the door logic the time, now and at the next full minute; without a schedule nothing wakes up for it.
    func tellTime() {
        let wall = loop.wallClock
        let time = LocalClock.time(wall)
        if time != intercom.localTime { take(.intercom(.clock(time))) }
        let needsTime = !configuration.schedules.isEmpty || configuration.codes.contains { $0.until != nil }
        let past = wall.milliseconds % 60_000
        minuteTimer?.set(deadline: needsTime ? loop.now + .milliseconds(60_000 - max(0, past)) : nil)
    }

    /// The clock as schedules see it.
    var clockDocument: JSON {
        let time = LocalClock.time(loop.wallClock)
        return .members(["set": .bool(time != nil), "local": time.map { .string($0.description) }])
    }
}
