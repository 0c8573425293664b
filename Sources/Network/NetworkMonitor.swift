import CMnl
package import EventLoop
package import Primitives

/// Follows links, addresses and routes, and tells of a change once it is over (R7).
package final class NetworkMonitor {
    /// What an operator or a test makes it see (`portero network`).
    package enum Override: String, Sendable { case up, down, auto }

    /// The state that was last told; under an override its ``NetworkState/isUp`` is the override's, and `down` has no
    /// addresses and no routes.
    package private(set) var state = NetworkState()
    /// How often it was another one.
    package private(set) var changes = 0
    package private(set) var override = Override.auto

    private let loop: EventLoop
    private let handler: (NetworkState) -> Void
    private var descriptor: FileDescriptor?
    private var watch: Watch?
    private var timer: LoopTimer?
    private var collector = ChangeCollector()

    /// - Parameter handler: gets each other state; never called from within a call of this class.
    package init(on loop: EventLoop, _ handler: @escaping (NetworkState) -> Void) throws(SystemError) {
        self.loop = loop
        self.handler = handler
        timer = try loop.timer { [unowned self] in runDeadline() }
        try open()
        state = try NetworkState.current()
    }

    /// Changes what is seen; the new state is told in the next turn.
    package func set(_ override: Override) {
        self.override = override
        loop.nextTurn { [weak self] in self?.look() }
    }

    /// Whether what is sent from this own address gets out; an override decides alone.
    package func canSend(from address: IPAddress) -> Bool {
        switch override {
        case .up: true
        case .down: false
        case .auto: !state.isStranded(address)
        }
    }

    private func open() throws(SystemError) {
        watch = nil
        let descriptor = try FileDescriptor(portero_netlink_open(), "network", "watch")
        watch = try loop.watch(descriptor.number, .readable) { [unowned self] _ in drain() }
        self.descriptor = consume descriptor
    }

    private func drain() {
        let number = descriptor?.number ?? -1
        let result = portero_netlink_drain(number)
        if result < 0 {
            // Not seen to happen; without this the loop would spin on a broken descriptor.
            watch = nil
            try? open()
        }
        if result != 0 {
            collector.change(at: loop.now)
            timer?.set(deadline: collector.deadline)
        }
    }

    private func runDeadline() {
        if collector.isDue(at: loop.now), look() { collector.acted(at: loop.now) }
        timer?.set(deadline: collector.deadline)
    }

    /// Compares with what was told last: renewed lifetimes and the like are no change.
    /// - Returns: whether there was another state to tell.
    @discardableResult
    private func look() -> Bool {
        guard var seen = try? NetworkState.current() else {
            collector.change(at: loop.now)
            timer?.set(deadline: collector.deadline)
            return false
        }
        switch override {
        case .auto: break
        case .up: seen.isUp = true
        case .down: seen = NetworkState()
        }
        guard seen != state else { return false }
        state = seen
        changes += 1
        handler(seen)
        return true
    }
}
