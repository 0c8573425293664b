import CLinux

/// Tells when the clock of the day was set, by hand or by the network: not when it only goes on.
package final class ClockWatch {
    private let descriptor: FileDescriptor
    private var watch: Watch?

    package init(on loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemError) {
        descriptor = try FileDescriptor(portero_clock_watch(), "clock", "watch")
        watch = try loop.watch(descriptor.number, .readable) { [unowned self] _ in
            if portero_clock_take(descriptor.number) != 0 { handler() }
        }
    }
}
