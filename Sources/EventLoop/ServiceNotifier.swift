import CSystemd
import Glibc
import Primitives

/// Speaks to systemd by the notify protocol (`Type=notify`). Where `$NOTIFY_SOCKET` is not set nothing happens.
package final class ServiceNotifier {
    private let loop: EventLoop
    private var watchdog: LoopTimer?
    private let isService: Bool
    private var status = ""

    /// - Parameter isService: whether this is what the process was started for; if not, nothing is said.
    package init(on loop: EventLoop, isService: Bool = true) {
        self.loop = loop
        self.isService = isService
    }

    /// The interval in which systemd wants to hear of us; nil without `WatchdogSec=`.
    package static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    /// Lines, sockets and devices are open.
    package func ready() { send("READY=1") }
    package func stopping() { send("STOPPING=1") }

    /// A reload begins; ``ready()`` ends it.
    package func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(Clock.monotonic.nanoseconds / 1000)")
    }

    /// One sentence for `systemctl status`; sent only if it is another one.
    package func status(_ sentence: String) {
        guard sentence != status else { return }
        status = sentence
        send("STATUS=" + String(decoding: sentence.utf8.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self))
    }

    /// Feeds the watchdog from the loop, twice in its interval, as long as `lives` says that the rest (the media
    /// threads) lives too. Does nothing without `WatchdogSec=`.
    package func feedWatchdog(while lives: @escaping () -> Bool) throws(SystemError) {
        guard isService, let interval = Self.watchdogInterval else { return }
        let period = interval / 2
        watchdog = try loop.timer { [unowned self] in
            if lives() { send("WATCHDOG=1") }
            watchdog?.set(deadline: loop.now + period)
        }
        send("WATCHDOG=1")
        watchdog?.set(deadline: loop.now + period)
    }

    private func send(_ state: String) {
        if isService { sd_notify(0, state) }
    }
}
