import CLinux
import CSystemd

/// The signals that the daemon handles.
package enum Signal: Sendable {
    case terminate, interrupt, hangUp, user1, user2

    fileprivate var number: Int32 {
        switch self {
        case .terminate: SIGTERM
        case .interrupt: SIGINT
        case .hangUp: SIGHUP
        case .user1: SIGUSR1
        case .user2: SIGUSR2
        }
    }

    /// Blocks all of these, so that only the loop takes them, and ignores SIGPIPE. To be called before the first
    /// thread starts: threads inherit it.
    package static func blockAll() { portero_block_signals() }
}

/// A signal on the loop.
package final class SignalWatch {
    private var source: OpaquePointer?
    private let handler: () -> Void

    fileprivate init(_ loop: EventLoop, _ signal: Signal, _ handler: @escaping () -> Void) throws(SystemError) {
        self.handler = handler
        let result = sd_event_add_signal(
            loop.event, &source, signal.number,
            { _, _, context in
                guard let context else { return 0 }
                let watch = Unmanaged<SignalWatch>.fromOpaque(context).takeUnretainedValue()
                withExtendedLifetime(watch) { watch.handler() }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        if result < 0 { throw SystemError("signal \(signal)", "watch", number: -result) }
    }

    deinit { sd_event_source_disable_unref(source) }
}

extension EventLoop {
    /// Handles a signal that ``Signal/blockAll()`` has blocked.
    package func onSignal(_ signal: Signal, _ handler: @escaping () -> Void) throws(SystemError) -> SignalWatch {
        try SignalWatch(self, signal, handler)
    }
}
