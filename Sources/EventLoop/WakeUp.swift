import CLinux
import Glibc

/// Wakes the loop from any thread. Several signals before the loop gets to it are one wake-up.
package final class WakeUp: Sendable {
    private let descriptor: FileDescriptor

    fileprivate init() throws(SystemError) {
        descriptor = try FileDescriptor(
            eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), "wake-up", "eventfd")
    }

    /// Does not block, allocate or lock: fit for a real-time thread.
    package func signal() { _ = eventfd_write(descriptor.number, 1) }

    fileprivate func clear() {
        var count: eventfd_t = 0
        _ = eventfd_read(descriptor.number, &count)
    }

    fileprivate var number: Int32 { descriptor.number }
}

/// The loop's side of a ``WakeUp``.
package final class WakeUpWatch {
    /// For the other threads.
    package let wakeUp: WakeUp
    private let watch: Watch

    fileprivate init(_ loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemError) {
        let wakeUp = try WakeUp()
        self.wakeUp = wakeUp
        watch = try loop.watch(wakeUp.number, .readable) { _ in
            wakeUp.clear()
            handler()
        }
    }
}

extension EventLoop {
    /// Calls the handler on the loop's thread each time another thread signals `wakeUp` of the result.
    package func wakeUp(_ handler: @escaping () -> Void) throws(SystemError) -> WakeUpWatch {
        try WakeUpWatch(self, handler)
    }
}
