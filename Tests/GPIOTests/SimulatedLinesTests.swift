import EventLoop
import GPIO
import Primitives
import Testing

@Suite struct SimulatedLinesTests {
    private let loop: EventLoop
    private let lines: Lines

    init() throws {
        loop = try EventLoop()
        lines = try Lines(on: loop) { Board() }
    }

    @Test func anInputSeesEveryEdgeInALaterTurn() throws {
        var events: [InputLine.Event] = []
        let input = lines.input(.simulated("bell"), bias: .pullUp, rest: true) { events.append($0) }
        #expect(events.isEmpty)
        #expect(input.level == true)
        try loop.turn(atMost: .zero)
        guard case .opened(level: true, _)? = events.first else { return #expect(Bool(false), "\(events)") }
        let before = loop.now
        for level in [false, true, true, false] { lines.simulation.set("bell", level) }
        #expect(events.count == 1)
        try loop.turn(atMost: .zero)
        let edges = events.dropFirst().compactMap { event -> (Bool, Instant)? in
            if case .edge(let level, let time) = event { (level, time) } else { nil }
        }
        #expect(edges.map(\.0) == [false, true, false])
        #expect(edges.allSatisfy { $0.1 >= before && $0.1 <= loop.now })
        #expect(input.level == false)
    }

    @Test func aReleasedInputHearsNothing() throws {
        var count = 0
        var input: InputLine? = lines.input(.simulated("bell"), bias: .asIs, rest: false) { _ in count += 1 }
        try loop.turn(atMost: .zero)
        #expect(input != nil && count == 1)
        lines.simulation.set("bell", true)
        input = nil
        try loop.turn(atMost: .zero)
        #expect(count == 1)
    }

    @Test func outputsAreSeenAndMayBeWiredToInputs() throws {
        var shown: [Bool] = []
        lines.simulation.changed = { name, level, _ in if name == "relay" { shown.append(level) } }
        var opened = 0
        let output = lines.output(.simulated("relay"), level: true) { if $0 == .opened { opened += 1 } }
        #expect(lines.simulation.level("relay") == true)
        var sensor: [InputLine.Event] = []
        let input = lines.input(.simulated("relay"), bias: .asIs, rest: false) { sensor.append($0) }
        #expect(input.level == true)
        output.set(false)
        output.set(false)
        try loop.turn(atMost: .zero)
        #expect(shown == [true, false])
        #expect(opened == 1)
        guard case .edge(level: false, _)? = sensor.last else { return #expect(Bool(false), "\(sensor)") }
        #expect(lines.simulation.level("none") == nil)
    }

    /// Whoever forgets a relay, its line goes back to rest; asking again does not prolong it.
    @Test func anOutputComesBackToRestByItself() throws {
        var levels: [(Bool, Instant)] = []
        lines.simulation.changed = { _, level, time in levels.append((level, time)) }
        var limited = 0
        let output = lines.output(.simulated("relay"), level: true, limit: .milliseconds(200)) {
            if $0 == .limited { limited += 1 }
        }
        output.set(false)
        let end = loop.now + .seconds(10)
        while levels.count < 3, loop.now < end {
            try loop.turn(atMost: .milliseconds(20))
            if loop.now < end - .milliseconds(9900) { output.set(false) }
        }
        try loop.turn(atMost: .zero)
        #expect(levels.map(\.0) == [true, false, true])
        #expect(output.level && limited == 1)
        guard levels.count == 3 else { return }
        #expect(levels[2].1 - levels[1].1 >= .milliseconds(200))
        #expect(levels[2].1 - levels[1].1 < .seconds(5))
    }

    @Test func aLineThatIsMissingIsAFaultAndNoMore() throws {
        var events: [InputLine.Event] = []
        var faults: [OutputLine.Event] = []
        let input = lines.input(.named("BELL"), bias: .asIs, rest: false) { events.append($0) }
        let output = lines.output(.chip("none", offset: 1), level: false) { faults.append($0) }
        output.set(true)
        try loop.turn(atMost: .zero)
        #expect(events == [.fault(.notFound)] && faults == [.fault(.notFound)])
        #expect(input.fault == .notFound && output.fault == .notFound)
        #expect(output.level)
    }
}
