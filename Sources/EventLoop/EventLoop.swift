import CLinux
import CSystemd
package import Primitives

/// The one loop of the daemon over sd-event: descriptors, deadlines, signals and wake-ups, each handled by a closure
/// on the thread that runs it.
///
/// Not `Sendable` by design: everything that hangs on the loop stays on its thread. Other threads reach it through a
/// ``WakeUp`` alone. Whoever registers something keeps the object that comes back; when that goes, so does the source.
package final class EventLoop {
    let event: OpaquePointer
    private var later: [() -> Void] = []
    private var stopCode: Int32?

    /// Called after each turn (one source dispatched, or the closures of ``nextTurn(_:)``): the place to drain outputs
    /// and re-arm the one timer.
    package var afterTurn: (() -> Void)?

    package init() throws(SystemError) {
        var event: OpaquePointer?
        let result = sd_event_new(&event)
        guard result >= 0, let event else { throw SystemError("event loop", "create", number: -result) }
        self.event = event
    }

    deinit { sd_event_unref(event) }

    package var now: Instant { Clock.now }
    package var wallClock: UTCTime { Clock.wall }

    /// Runs turns until ``stop(_:)``.
    /// - Returns: the code given to `stop`.
    package func run() throws(SystemError) -> Int32 {
        while stopCode == nil { try turn(atMost: nil) }
        defer { stopCode = nil }
        return stopCode ?? 0
    }

    /// Ends ``run()`` after the present turn.
    package func stop(_ code: Int32 = 0) { stopCode = stopCode ?? code }

    /// Runs a closure in the next turn, never inside the caller.
    package func nextTurn(_ body: @escaping () -> Void) { later.append(body) }

    /// One turn: waits for an event (nil: for ever), handles it, then the closures of ``nextTurn(_:)``, then
    /// ``afterTurn``.
    package func turn(atMost wait: Duration?) throws(SystemError) {
        let limit = wait.map { UInt64(max(0, $0.nanoseconds)) / 1000 } ?? .max
        let result = sd_event_run(event, later.isEmpty ? limit : 0)
        if result < 0, result != -EINTR { throw SystemError("event loop", "run", number: -result) }
        if !later.isEmpty {
            let bodies = later
            later = []
            for body in bodies { body() }
        }
        afterTurn?()
    }
}
