package import EventLoop
import Primitives

/// The board's lines and the simulated ones, in use by name.
///
/// A line that is missing, busy or taken away is a fault of that line alone: it is looked for every few seconds and at
/// once when a chip appears, and goes on where it left off.
package final class Lines {
    /// Between looks for lines with a fault.
    static let retryInterval: Duration = .seconds(2)

    let loop: EventLoop
    package let simulation: SimulatedLines
    private let list: () -> Board
    private var inputs: [WeakLine<InputLine>] = []
    private var outputs: [WeakLine<OutputLine>] = []
    private var timer: LoopTimer?
    private var deviceWatch: FolderWatch?

    /// - Parameter list: what the board has; a test injects another.
    package init(on loop: EventLoop, list: @escaping () -> Board = Board.current) throws(SystemError) {
        self.loop = loop
        self.list = list
        simulation = SimulatedLines(on: loop)
        timer = try loop.timer { [weak self] in self?.recover() }
        deviceWatch = try? FolderWatch(on: loop, files: ["/dev/"], contents: false) { [weak self] in
            self?.devicesChanged()
        }
    }

    /// Takes a line as input and reports its edges until the returned object goes.
    /// - Parameters:
    ///   - rest: the level, true for high, that a simulated line has until somebody sets it.
    ///   - handler: never called from within this call.
    package func input(
        _ name: LineName, bias: Bias, rest: Bool, _ handler: @escaping (InputLine.Event) -> Void
    ) -> InputLine {
        let line = InputLine(self, name, bias: bias, rest: rest, handler)
        inputs.removeAll { $0.line == nil }
        inputs.append(WeakLine(line))
        line.open(board(for: name))
        rearm()
        return line
    }

    /// Takes a line as output, driven to `level` (true: high) in the same step, until the returned object goes.
    /// - Parameters:
    ///   - limit: so long the line may have the other level; then it goes back by itself, whoever forgot it. Nil: for ever.
    ///   - handler: hears of faults and their ends; never called from within this call.
    package func output(
        _ name: LineName, level: Bool, limit: Duration? = nil, _ handler: @escaping (OutputLine.Event) -> Void
    ) -> OutputLine {
        let line = OutputLine(self, name, level: level, limit: limit, handler)
        outputs.removeAll { $0.line == nil }
        outputs.append(WeakLine(line))
        line.open(board(for: name))
        rearm()
        return line
    }

    private func board(for name: LineName) -> Board {
        if case .simulated = name { Board() } else { list() }
    }

    private var faulty: [any FaultyLine] {
        let all: [any FaultyLine] = inputs.compactMap(\.line) + outputs.compactMap(\.line)
        return all.filter { $0.fault != nil }
    }

    /// A chip may have come or gone. Nothing polls an output, so each is asked.
    private func devicesChanged() {
        for input in inputs { input.line?.verify() }
        for output in outputs { output.line?.verify() }
        recover()
    }

    private func recover() {
        let faulty = faulty
        if !faulty.isEmpty {
            let board = list()
            for line in faulty { line.open(board) }
        }
        rearm()
    }

    /// Wakes up only while a line has a fault.
    func rearm() { timer?.set(deadline: faulty.isEmpty ? nil : loop.now + Self.retryInterval) }
}

/// A line that may be taken again.
protocol FaultyLine {
    var fault: LineFault? { get }
    func open(_ board: Board)
}

private struct WeakLine<Line: AnyObject> {
    weak var line: Line?
    init(_ line: Line) { self.line = line }
}
