import EventLoop
import Primitives

/// An output. The level that is wanted outlives a fault: the line takes it in the step in which it comes back.
package final class OutputLine: FaultyLine {
    package enum Event: Equatable {
        /// The line is in use, or is again, and has the wanted level.
        case opened
        case fault(LineFault)
        /// It had another level than its resting one for as long as it may, and was brought back.
        case limited
    }

    package let name: LineName
    /// The level that is wanted; true: high.
    package private(set) var level: Bool
    package private(set) var fault: LineFault?
    private unowned let lines: Lines
    private let handler: (Event) -> Void
    private var request: Request?
    private let rest: Bool
    /// So long the line may have another level than the one it was opened with; nil: for ever.
    package var limit: Duration? { didSet { watchLimit() } }
    private var leftRestAt: Instant?
    private var limitTimer: LoopTimer?

    init(_ lines: Lines, _ name: LineName, level: Bool, limit: Duration?, _ handler: @escaping (Event) -> Void) {
        self.lines = lines
        self.name = name
        self.level = level
        rest = level
        self.limit = limit
        self.handler = handler
    }

    /// Drives the line; while it has a fault the level is kept for later.
    package func set(_ level: Bool) {
        if level == rest { leftRestAt = nil } else { leftRestAt = leftRestAt ?? lines.loop.now }
        watchLimit()
        drive(level)
    }

    /// Counts from the moment at which the line left its rest, whatever is asked for meanwhile.
    private func watchLimit() {
        if limit != nil, leftRestAt != nil, limitTimer == nil {
            limitTimer = try? lines.loop.timer { [weak self] in self?.limitReached() }
        }
        limitTimer?.set(deadline: leftRestAt.flatMap { since in limit.map { since + $0 } })
    }

    private func limitReached() {
        guard leftRestAt != nil else { return }
        set(rest)
        report(.limited)
    }

    private func drive(_ level: Bool) {
        self.level = level
        if case .simulated(let name) = name {
            lines.simulation.set(name, level)
        } else if request?.set(level) == false {
            lose()
        }
    }

    func open(_ board: Board) {
        if case .simulated(let name) = name {
            fault = nil
            lines.simulation.set(name, level)
            report(.opened)
            return
        }
        do throws(LineFault) {
            let request = try Request.output(try board.find(name), level: level)
            self.request = consume request
            fault = nil
            report(.opened)
        } catch {
            fail(error)
        }
    }

    /// Looks whether the chip is still there.
    func verify() {
        if request != nil, request?.level() == nil { lose() }
    }

    private func lose() {
        fail(.gone)
        lines.rearm()
    }

    private func fail(_ found: LineFault) {
        // While its chip is away there is no line of that name either: that is no other fault.
        let fault = found == .notFound && self.fault == .gone ? .gone : found
        request = nil
        if fault == self.fault { return }
        self.fault = fault
        report(.fault(fault))
    }

    private func report(_ event: Event) { lines.loop.nextTurn { [weak self] in self?.handler(event) } }
}
