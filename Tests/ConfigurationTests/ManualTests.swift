import Configuration
import Foundation
import Testing

/// The README's table of keys is the schema's.
@Suite struct ManualTests {
    /// The table as it stands in the README.
    static var table: String {
        var lines: [String] = []
        for section in Configuration.manual {
            lines.append("`[\(section.kind)\(section.isNamed ? " NAME" : "")]` \(section.summary)\n")
            lines.append("| key | value | default | |")
            lines.append("| --- | --- | --- | --- |")
            for key in section.keys {
                let fallback = key.isRequired ? "required" : key.defaultText.isEmpty ? "" : "`\(key.defaultText)`"
                lines.append(
                    "| `\(key.name)` | \(escaped(key.form)) | \(escaped(fallback)) | \(escaped(key.summary)) |")
            }
            lines.append("")
        }
        return lines.joined(separator: "\n")
    }

    static func escaped(_ text: String) -> String { text.replacingOccurrences(of: "|", with: "\\|") }

    @Test func theReadmeNamesEveryKeyAsTheSchemaDoes() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(readme.contains(Self.table), "the table should be:\n\(Self.table)")
    }

    /// The example of the README works as it stands.
    @Test func theReadmesExampleHasNoFault() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let example = try #require(readme.components(separatedBy: "```ini\n").dropFirst().first)
        let text = try #require(example.components(separatedBy: "```").first)
        let reading = Configuration.read(files: [ConfigurationFile(name: "README.md", octets: Array(text.utf8))])
        #expect(reading.faults.map(\.description) == [])
        #expect(reading.warnings.map(\.description) == [])
    }
}
