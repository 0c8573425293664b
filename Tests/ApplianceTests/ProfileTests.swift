import Foundation
import Testing

/// `Tests/PROFILE.md` tells the truth: each rule is there, each rule of level M has a test, and each test exists.
@Suite struct ProfileTests {
    struct Rule: CustomStringConvertible {
        let name: String
        let level: String
        let tests: [String]
        let isOwed: Bool
        var description: String { name }
    }

    /// Rules with the number of the last of each kind; none is left out.
    private static let kinds = [
        ("P", 15), ("T", 14), ("D", 20), ("A", 5), ("R", 12), ("S", 10), ("MED", 9), ("I", 7), ("SEC", 14),
    ]

    /// What waits for SRTP, DTLS and ICE, and nothing else.
    private static let owed: Set = ["S8", "S9", "MED2", "MED4", "MED5", "MED7", "SEC9", "I3", "I5"]

    private static func text(_ path: String) -> String {
        (try? String(contentsOf: GuardTests.root.appendingPathComponent(path), encoding: .utf8)) ?? ""
    }

    static let rules: [Rule] = text("Tests/PROFILE.md").components(separatedBy: "\n").compactMap { line in
        let cells = line.components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == 6, cells[1].last?.isNumber == true else { return nil }
        let words = cells[4].components(separatedBy: " ")
        return Rule(
            name: cells[1], level: cells[2], tests: words.filter { $0.contains(".") }, isOwed: words[0] == "owed:")
    }

    /// `Suite.function` of every unit test, and `file.function` of every test against real peers.
    private static let existing: Set<String> = {
        var names: Set<String> = []
        let files = FileManager.default.enumerator(atPath: GuardTests.root.appendingPathComponent("Tests").path)
        for case let path as String in files ?? .init() {
            let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
            guard path.hasSuffix("Tests.swift") || path.hasSuffix(".py") && name.hasPrefix("test_") else { continue }
            var suite = name
            for line in text("Tests/" + path).components(separatedBy: "\n") {
                let words = line.split { " (<:{".contains($0) }.map(String.init)
                if let index = words.firstIndex(of: "struct"), !line.hasPrefix(" "), words.count > index + 1 {
                    suite = words[index + 1]
                }
                if let index = words.firstIndex(where: { $0 == "func" || $0 == "def" }), words.count > index + 1 {
                    names.insert("\(suite).\(words[index + 1])")
                }
            }
        }
        return names
    }()

    @Test func everyRuleIsThereOnce() {
        let all = Self.kinds.flatMap { kind, last in (1...last).map { "\(kind)\($0)" } }
        #expect(Self.rules.map(\.name).sorted() == all.sorted())
    }

    @Test func whatMustBeHasATest() {
        for rule in Self.rules where rule.level == "M" {
            #expect(!rule.tests.isEmpty || rule.isOwed && Self.owed.contains(rule.name), "\(rule)")
        }
    }

    @Test func theTestsExist() {
        for rule in Self.rules {
            for test in rule.tests { #expect(Self.existing.contains(test), "\(rule)") }
        }
    }
}
