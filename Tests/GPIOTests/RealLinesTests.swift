import EventLoop
import Foundation
import GPIO
import Primitives
import Testing

/// Needs the kernel's gpio-sim with a chip labelled `doorbell` and lines BELL, LED, BUSY (see `board/vm`), whose folders
/// are below /run/gpio. One after the other: there is one chip.
@Suite(
    .serialized,
    .enabled(
        if: FileManager.default.fileExists(atPath: "/run/gpio/BELL/pull"),
        "no simulated chip: board/vm/vm-run --gpio doorbell=BELL,LED,BUSY"))
struct RealLinesTests {
    private let loop: EventLoop
    private let lines: Lines

    init() throws {
        loop = try EventLoop()
        lines = try Lines(on: loop)
        try Self.pull("BELL", "pull-down")
    }

    private static func pull(_ line: String, _ word: String) throws {
        try Data(word.utf8).write(to: URL(fileURLWithPath: "/run/gpio/\(line)/pull"))
    }

    private static func value(_ line: String) throws -> String {
        try String(contentsOfFile: "/run/gpio/\(line)/value", encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    private static func setLive(_ word: String) throws {
        try Data(word.utf8).write(to: URL(fileURLWithPath: "/sys/kernel/config/gpio-sim/doorbell/live"))
    }

    private func turn(until condition: () -> Bool) throws -> Bool {
        let end = loop.now + .seconds(60)
        while !condition() {
            if loop.now >= end { return false }
            try loop.turn(atMost: .milliseconds(50))
        }
        return true
    }

    @Test func theBoardListsItsLines() throws {
        let board = Board.current()
        let bell = try board.find(.named("BELL"))
        #expect(bell.label == "doorbell" && bell.offset == 0 && !bell.isUsed)
        #expect(try board.find(.chip("doorbell", offset: 1)).name == "LED")
        #expect(!Board.libraryVersion.isEmpty)
    }

    @Test func tenPressesAreTwentyEdgesWithTheirTimes() throws {
        var events: [InputLine.Event] = []
        let input = lines.input(.named("BELL"), bias: .asIs, rest: false) { events.append($0) }
        #expect(try turn(until: { events.count == 1 }))
        #expect(input.level == false)
        let before = Clock.now
        for count in 1...10 {
            // The simulated chip makes one edge of two that follow one another too fast.
            try Self.pull("BELL", "pull-up")
            #expect(try turn(until: { events.count == 2 * count }))
            try Self.pull("BELL", "pull-down")
            #expect(try turn(until: { events.count == 2 * count + 1 }))
        }
        var times: [Instant] = []
        for (index, event) in events.dropFirst().enumerated() {
            guard case .edge(let level, let time) = event else { return #expect(Bool(false), "\(event)") }
            #expect(level == (index % 2 == 0))
            times.append(time)
        }
        #expect(times == times.sorted())
        #expect(times.allSatisfy { $0 >= before - .milliseconds(1) && $0 <= Clock.now })
        withExtendedLifetime(input) {}
    }

    /// More edges than the kernel keeps: what is told last is how the line is.
    @Test func afterAnOverflowTheLevelIsRead() throws {
        var events: [InputLine.Event] = []
        let input = lines.input(.named("BELL"), bias: .asIs, rest: false) { events.append($0) }
        #expect(try turn(until: { events.count == 1 }))
        for count in 0..<80 {
            try Self.pull("BELL", count % 2 == 0 ? "pull-up" : "pull-down")
            // Or the simulated chip would make one edge of many.
            usleep(1000)
        }
        try Self.pull("BELL", "pull-up")
        #expect(try turn(until: { input.level == true }))
        guard case .edge(level: true, _)? = events.last else { return #expect(Bool(false), "\(events.count)") }
    }

    @Test func anOutputHasItsLevelFromTheFirstMoment() throws {
        for level in [true, false] {
            var events: [OutputLine.Event] = []
            let output = lines.output(.chip("doorbell", offset: 1), level: level) { events.append($0) }
            #expect(try Self.value("LED") == (level ? "1" : "0"))
            output.set(!level)
            #expect(try Self.value("LED") == (level ? "0" : "1"))
            #expect(try turn(until: { events == [.opened] }))
        }
    }

    @Test func aBusyLineNamesItsUserAndIsTakenOnceFree() throws {
        var first: OutputLine? = lines.output(.named("BUSY"), level: false) { _ in }
        #expect(first?.fault == nil)
        var events: [InputLine.Event] = []
        let second = lines.input(.named("BUSY"), bias: .asIs, rest: false) { events.append($0) }
        #expect(second.fault == .busy(consumer: "portero"))
        first = nil
        #expect(try turn(until: { second.fault == nil }))
        #expect(events.first == .fault(.busy(consumer: "portero")))
    }

    @Test func aChipMayGoAndComeBack() throws {
        var inputs: [InputLine.Event] = []
        var outputs: [OutputLine.Event] = []
        let input = lines.input(.named("BELL"), bias: .asIs, rest: false) { inputs.append($0) }
        let output = lines.output(.named("LED"), level: false) { outputs.append($0) }
        #expect(try turn(until: { inputs.count == 1 && outputs.count == 1 }))
        try Self.setLive("0")
        #expect(try turn(until: { inputs.last == .fault(.gone) && outputs.last == .fault(.gone) }))
        output.set(true)
        try Self.setLive("1")
        #expect(try turn(until: { input.fault == nil && output.fault == nil && outputs.last == .opened }))
        #expect(inputs.count == 3)
        #expect(outputs == [.opened, .fault(.gone), .opened])
        #expect(try Board.current().find(.named("LED")).isOutput)
    }
}
