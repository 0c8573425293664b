import EventLoop
package import Primitives

/// Lines without hardware: wires by name. Whoever sets one, a test, the API or an output of the same name, every input
/// on it sees the edge.
package final class SimulatedLines {
    final class Observer {
        fileprivate let name: String
        fileprivate let handler: (Bool, Instant) -> Void
        private unowned let lines: SimulatedLines
        var level: Bool { lines.levels[name] ?? false }

        fileprivate init(_ lines: SimulatedLines, _ name: String, _ handler: @escaping (Bool, Instant) -> Void) {
            self.lines = lines
            self.name = name
            self.handler = handler
        }
    }

    private struct WeakObserver { weak var observer: Observer? }

    private let loop: EventLoop
    private var levels: [String: Bool] = [:]
    private var observers: [WeakObserver] = []

    /// Called with each change of a level, in a later turn: what a panel shows.
    package var changed: (_ name: String, _ level: Bool, _ at: Instant) -> Void = { _, _, _ in }

    init(on loop: EventLoop) { self.loop = loop }

    /// The level of a wire (true: high); nil if nobody has used it.
    package func level(_ name: String) -> Bool? { levels[name] }

    /// Sets a wire; inputs on it see the edge, at this instant, in a later turn.
    package func set(_ name: String, _ level: Bool) {
        if levels[name] == level { return }
        levels[name] = level
        let now = loop.now
        loop.nextTurn { [weak self] in
            guard let self else { return }
            observers.removeAll { $0.observer == nil }
            for entry in observers where entry.observer?.name == name { entry.observer?.handler(level, now) }
            changed(name, level, now)
        }
    }

    func observe(_ name: String, rest: Bool, _ handler: @escaping (Bool, Instant) -> Void) -> Observer {
        if levels[name] == nil { levels[name] = rest }
        let observer = Observer(self, name, handler)
        observers.append(WeakObserver(observer: observer))
        return observer
    }
}
