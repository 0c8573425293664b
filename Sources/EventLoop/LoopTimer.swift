import CLinux
import CSystemd
package import Primitives

/// A deadline on the loop. It fires once for each time it is set.
package final class LoopTimer {
    private var source: OpaquePointer?
    private let handler: () -> Void
    /// The instant at which it fires next; nil while it is off.
    package private(set) var deadline: Instant?

    fileprivate init(_ loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemError) {
        self.handler = handler
        let result = sd_event_add_time(
            loop.event, &source, CLOCK_BOOTTIME, 0, 1,
            { _, _, context in
                guard let context else { return 0 }
                let timer = Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue()
                withExtendedLifetime(timer) {
                    timer.deadline = nil
                    timer.handler()
                }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        if result < 0 { throw SystemError("timer", "create", number: -result) }
        sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF))
    }

    deinit { sd_event_source_disable_unref(source) }

    /// Fires at the deadline, never before it and at once if it is past; nil turns it off. Cheap if nothing changes.
    package func set(deadline: Instant?) {
        if deadline == self.deadline { return }
        self.deadline = deadline
        guard let deadline else {
            sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF))
            return
        }
        let whole = max(0, deadline.nanoseconds)
        sd_event_source_set_time(source, UInt64(whole / 1000 + (whole % 1000 == 0 ? 0 : 1)))
        sd_event_source_set_enabled(source, Int32(SD_EVENT_ONESHOT))
    }
}

extension EventLoop {
    /// A timer that is off until its deadline is set.
    package func timer(_ handler: @escaping () -> Void) throws(SystemError) -> LoopTimer {
        try LoopTimer(self, handler)
    }
}
