import Foundation
import Testing

/// What holds for the sources as a whole.
@Suite struct GuardTests {
    struct Source: CustomStringConvertible {
        let path: String
        let lines: [String]
        var description: String { path }
        var target: String { String(path.dropFirst("Sources/".count).prefix { $0 != "/" }) }
    }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let sources: [Source] = {
        let folder = root.appendingPathComponent("Sources")
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".swift") }.sorted().compactMap { name in
            (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)).map {
                Source(path: "Sources/" + name, lines: $0.components(separatedBy: "\n"))
            }
        }
    }()

    static let cores: Set = [
        "Primitives", "Configuration", "SIP", "SDP", "RTP", "UserAgent", "Intercom", "Exchange",
    ]

    private func imports(_ source: Source) -> [String] {
        source.lines.compactMap { line in
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "import"), index <= 1, words.count > index + 1 else { return nil }
            return String(words[index + 1])
        }
    }

    @Test func thereAreSources() { #expect(Self.sources.count > 100) }

    @Test func coresTouchNothing() {
        for source in Self.sources where Self.cores.contains(source.target) {
            let others = imports(source).filter { !Self.cores.contains($0) }
            #expect(others == [], "\(source)")
        }
    }

    @Test func nothingNeedsFoundation() {
        for source in Self.sources {
            #expect(!imports(source).contains { $0.hasPrefix("Foundation") || $0 == "Dispatch" }, "\(source)")
        }
    }

    /// Time is handed in; the loop's target alone reads a clock.
    @Test func clocksAreReadInOnePlace() {
        let calls = ["clock_gettime(", "gettimeofday(", "ContinuousClock", "SuspendingClock", "time(nil)"]
        for source in Self.sources where source.target != "EventLoop" {
            for (index, line) in source.lines.enumerated() {
                #expect(!calls.contains { line.contains($0) }, "\(source):\(index + 1)")
            }
        }
    }

    @Test func nothingIsForced() {
        for source in Self.sources {
            for (index, line) in source.lines.enumerated() {
                #expect(!line.contains("try!") && !line.contains(" as! "), "\(source):\(index + 1)")
            }
        }
    }

    /// A type that other targets see says what it is.
    @Test func sharedTypesAreDescribed() {
        let kinds = ["struct", "enum", "class", "protocol", "final", "indirect", "typealias"]
        for source in Self.sources {
            for (index, line) in source.lines.enumerated() where line.hasPrefix("package ") {
                guard let word = line.split(separator: " ").dropFirst().first, kinds.contains(String(word)) else {
                    continue
                }
                let before = source.lines[..<index].last { !$0.hasPrefix("@") }
                #expect(before?.hasPrefix("///") == true, "\(source):\(index + 1): \(line)")
            }
        }
    }
}
