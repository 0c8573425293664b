@testable import EventLoop
import Primitives
import Testing

@Suite struct JournalTests {
    private final class Lines { var all: [String] = [] }

    private func journal(_ level: LogLevel = .info) throws -> (EventLoop, Journal, Lines) {
        let loop = try EventLoop()
        let lines = Lines()
        return (loop, Journal(on: loop, level: level, output: .lines { lines.all.append($0) }), lines)
    }

    @Test func writesDomainLevelTextAndFields() throws {
        let (_, journal, lines) = try journal()
        journal.log(.sip, .warning, "registrar refused: \(403)", .account("house"), .callID("abc"))
        #expect(lines.all.count == 1)
        #expect(lines.all[0].hasSuffix("Z sip warning: registrar refused: 403 account=house sip_call_id=abc"))
    }

    @Test func levelsChangeLiveAndTheTextOfAHiddenLineIsNeverBuilt() throws {
        let (_, journal, lines) = try journal(.notice)
        var built = 0
        func value() -> Int {
            built += 1
            return built
        }
        journal.log(.gpio, .debug, "\(value())")
        #expect(built == 0)
        journal.set(.trace, for: .gpio)
        journal.log(.gpio, .debug, "\(value())")
        journal.log(.sip, .debug, "\(value())")
        #expect(lines.all.count == 1)
        #expect(journal.level(of: .sip) == .notice)
        journal.set(.error)
        #expect(!journal.shows(.gpio, .warning))
        #expect(journal.shows(.gpio, .error))
    }

    @Test func repeatedLinesBecomeACount() throws {
        let (_, journal, lines) = try journal()
        for _ in 0..<4 { journal.log(.network, .info, "unreachable") }
        journal.log(.network, .info, "other")
        #expect(lines.all.count == 2)
        journal.flush()
        #expect(lines.all.count == 3)
        #expect(lines.all[2].hasSuffix("network info: unreachable (3 more)"))
    }

    @Test(arguments: [
        ("a\r\nb", #"a\x0d\x0ab"#), ("\u{1B}[31m", #"\x1b[31m"#), (#"\x41"#, #"\x5cx41"#), ("Küche", "Küche"),
        ("\u{202E}gpj", #"\u{202e}gpj"#), ("\u{85}", #"\x85"#),
    ])
    func valuesAreEscaped(value: String, shown: String) {
        let text: LogText = "<\(value)>"
        #expect(text.text == "<\(shown)>")
        #expect(LogField.account(value).value == shown)
    }

    @Test func valuesAreCutAndWholeTextsAreNot() {
        let long = String(repeating: "x", count: 1000)
        let text: LogText = "\(long)"
        #expect(text.text == String(repeating: "x", count: 256) + "…")
        let whole: LogText = "\(lines: "INVITE\r\n\u{7}" + long)"
        #expect(whole.text == "INVITE\n\\x07" + long)
    }

    @Test func filterCountsWithinItsWindowAndForgetsTheOldest() {
        var filter = RepeatFilter<Int>()
        var due: [(Int, Int)] = []
        let start = Instant.zero
        #expect(filter.accept(1, at: start, due: &due))
        #expect(filter.deadline == nil)
        #expect(!filter.accept(1, at: start + .seconds(1), due: &due))
        #expect(filter.deadline == start + .seconds(5))
        filter.expire(at: start + .seconds(5), due: &due)
        #expect(due.map(\.0) == [1] && due.map(\.1) == [1])
        #expect(filter.accept(1, at: start + .seconds(5), due: &due))
        #expect(!filter.accept(1, at: start + .seconds(6), due: &due))
        due = []
        for line in 100..<116 { #expect(filter.accept(line, at: start + .seconds(6), due: &due)) }
        #expect(due.map(\.0) == [1])
    }
}
