import EventLoop
package import Primitives

/// An input that reports its edges. Debouncing is not done here.
package final class InputLine: FaultyLine {
    package enum Event: Equatable {
        /// The line is in use, or is again, and has this level (true: high).
        case opened(level: Bool, at: Instant)
        /// It changed to this level, at the kernel's time.
        case edge(level: Bool, at: Instant)
        /// It is of no use until `opened` comes again.
        case fault(LineFault)
    }

    /// A time stamp further from now than this is of another clock (kernels before 5.7) and is replaced by now.
    private static let plausible: Duration = .seconds(60)
    /// So often a turn asks for edges before others get theirs.
    private static let batches = 8

    package let name: LineName
    /// The level that was last told; nil before the first.
    package private(set) var level: Bool?
    package private(set) var fault: LineFault?
    private let bias: Bias
    private let rest: Bool
    private unowned let lines: Lines
    private let handler: (Event) -> Void
    private var request: Request?
    private var watch: Watch?
    private var simulated: SimulatedLines.Observer?
    private var lastEdge = Instant.zero

    init(_ lines: Lines, _ name: LineName, bias: Bias, rest: Bool, _ handler: @escaping (Event) -> Void) {
        self.lines = lines
        self.name = name
        self.bias = bias
        self.rest = rest
        self.handler = handler
    }

    func open(_ board: Board) {
        if case .simulated(let name) = name { return openSimulated(name) }
        do throws(LineFault) {
            let request = try Request.input(try board.find(name), bias: bias)
            guard let level = request.level() else { throw .gone }
            let descriptor = request.descriptor
            do throws(SystemError) {
                watch = try lines.loop.watch(descriptor, .readable) { [weak self] in self?.handle($0) }
            } catch {
                throw .other(error.description)
            }
            self.request = consume request
            fault = nil
            self.level = level
            report(.opened(level: level, at: lines.loop.now))
        } catch {
            fail(error)
        }
    }

    private func openSimulated(_ name: String) {
        fault = nil
        let observer = lines.simulation.observe(name, rest: rest) { [weak self] level, now in
            guard let self else { return }
            self.level = level
            handler(.edge(level: level, at: now))
        }
        simulated = observer
        level = observer.level
        report(.opened(level: observer.level, at: lines.loop.now))
    }

    /// Looks whether the chip is still there: not every kernel wakes those who wait for edges.
    func verify() {
        if request != nil, request?.level() == nil { lose() }
    }

    private func handle(_ ready: Events) {
        var needsLevel = false
        for _ in 0..<Self.batches {
            guard let (edges, areSomeLost) = request?.edges() else { return lose() }
            if areSomeLost { needsLevel = true }
            if edges.isEmpty {
                if ready.contains(.hungUp) || ready.contains(.failed) { return lose() }
                break
            }
            let now = Clock.now
            let offset = now - Clock.monotonic
            for edge in edges { deliver(edge.level, at: stamp(edge.nanoseconds, offset: offset, now: now)) }
            if request == nil { return }
        }
        if needsLevel, let level = request?.level(), level != self.level { deliver(level, at: Clock.now) }
    }

    /// On the loop's clock, never before the edge before it.
    private func stamp(_ nanoseconds: Int64, offset: Duration, now: Instant) -> Instant {
        let time = Instant(nanoseconds: nanoseconds) + offset
        let isPlausible = time <= now + Self.plausible && time >= now - Self.plausible
        return max(lastEdge, isPlausible ? min(time, now) : now)
    }

    private func deliver(_ level: Bool, at time: Instant) {
        self.level = level
        lastEdge = time
        handler(.edge(level: level, at: time))
    }

    private func lose() {
        fail(.gone)
        lines.rearm()
    }

    private func fail(_ found: LineFault) {
        // While its chip is away there is no line of that name either: that is no other fault.
        let fault = found == .notFound && self.fault == .gone ? .gone : found
        watch = nil
        request = nil
        if fault == self.fault { return }
        self.fault = fault
        report(.fault(fault))
    }

    private func report(_ event: Event) { lines.loop.nextTurn { [weak self] in self?.handler(event) } }
}
