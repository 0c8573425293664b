import CLinux
import CSystemd

/// What a descriptor is watched for, and what it is ready for.
package struct Events: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Events(rawValue: EPOLLIN.rawValue)
    package static let writable = Events(rawValue: EPOLLOUT.rawValue)
    /// Reported whether asked for or not.
    package static let failed = Events(rawValue: EPOLLERR.rawValue)
    /// Reported whether asked for or not; a descriptor that stays so must be unwatched or the loop spins.
    package static let hungUp = Events(rawValue: EPOLLHUP.rawValue)
    /// The peer has shut down its sending half.
    package static let peerClosed = Events(rawValue: EPOLLRDHUP.rawValue)
}

/// A descriptor on the loop. It is not owned: close it after the watch is gone.
package final class Watch {
    private var source: OpaquePointer?
    private let handler: (Events) -> Void

    fileprivate init(
        _ loop: EventLoop, _ descriptor: Int32, _ events: Events, _ handler: @escaping (Events) -> Void
    ) throws(SystemError) {
        self.handler = handler
        let result = sd_event_add_io(
            loop.event, &source, descriptor, events.rawValue,
            { _, _, ready, context in
                guard let context else { return 0 }
                let watch = Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
                withExtendedLifetime(watch) { watch.handler(Events(rawValue: ready)) }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        if result < 0 { throw SystemError("descriptor \(descriptor)", "watch", number: -result) }
    }

    deinit { end() }

    /// Ends it at once, even from within its handler, which keeps the object alive: the descriptor may be watched anew.
    package func end() { source = sd_event_source_disable_unref(source) }

    /// Changes what is watched for; an empty set still reports ``Events/failed`` and ``Events/hungUp``.
    package func change(to events: Events) { sd_event_source_set_io_events(source, events.rawValue) }

    /// Stops the reports without forgetting the source, or takes them up again.
    package var isEnabled: Bool = true {
        didSet {
            if isEnabled != oldValue {
                sd_event_source_set_enabled(source, Int32(isEnabled ? SD_EVENT_ON : SD_EVENT_OFF))
            }
        }
    }
}

extension EventLoop {
    /// Watches a descriptor, level-triggered, until the returned object goes.
    package func watch(
        _ descriptor: Int32, _ events: Events, _ handler: @escaping (Events) -> Void
    ) throws(SystemError) -> Watch {
        try Watch(self, descriptor, events, handler)
    }
}
