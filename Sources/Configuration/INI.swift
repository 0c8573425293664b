import Primitives

/// One file's text as sections of entries, before anything in it is understood.
struct INI {
    struct Section {
        let name: SectionName
        let line: Int
        var entries: [Entry] = []
    }

    struct Entry {
        let key: String
        /// Trimmed, continuation lines joined, enclosing quotes dropped.
        let value: String
        let isQuoted: Bool
        /// Of the key.
        let line: Int
    }

    private(set) var sections: [Section] = []

    init(_ octets: [UInt8], _ report: (_ line: Int, SectionName?, _ message: String) -> Void) {
        for (line, octets) in Self.logicalLines(octets) {
            guard let text = String(validating: octets, as: UTF8.self) else {
                report(line, sections.last?.name, "the line is not UTF-8")
                continue
            }
            guard !octets.contains(where: { $0.isControl && !$0.isBlank }) else {
                report(line, sections.last?.name, "the line holds a control character")
                continue
            }
            if octets.first == UInt8(ascii: "[") {
                guard octets.last == UInt8(ascii: "]"), let name = SectionName(header: octets.dropFirst().dropLast())
                else {
                    let expected = "expected [kind] or [kind name]"
                    report(line, nil, "\(expected), found \"\(text.shortened)\"\(Self.commentHint(text))")
                    // What follows belongs to no section that is known.
                    sections.append(Section(name: .unreadable, line: line))
                    continue
                }
                sections.append(Section(name: name, line: line))
            } else if let entry = Self.entry(octets, line) {
                guard !sections.isEmpty else {
                    report(line, nil, "\(entry.key.shortened) stands before any [section]")
                    continue
                }
                sections[sections.count - 1].entries.append(entry)
            } else {
                // The line is not quoted: it may be the rest of a password.
                report(line, sections.last?.name, "expected key = value")
            }
        }
    }

    static func commentHint(_ text: String) -> String {
        startsComment(text) ? "; comments stand on lines of their own" : ""
    }

    /// Whether a value holds what was probably meant as a comment: `#` or `;` at its start or after a blank.
    static func startsComment(_ text: String) -> Bool {
        var afterBlank = true
        for octet in text.utf8 {
            if afterBlank, octet == UInt8(ascii: "#") || octet == UInt8(ascii: ";") { return true }
            afterBlank = octet.isBlank
        }
        return false
    }

    private static func entry(_ octets: ArraySlice<UInt8>, _ line: Int) -> Entry? {
        guard let equals = octets.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let key = octets[..<equals].trimmed
        guard !key.isEmpty else { return nil }
        var value = octets[(equals + 1)...].trimmed
        let quote = UInt8(ascii: "\"")
        let isQuoted =
            value.count >= 2 && value.first == quote && value.last == quote
            && !value.dropFirst().dropLast().contains(quote)
        if isQuoted { value = value.dropFirst().dropLast() }
        return Entry(key: String(octets: key), value: String(octets: value), isQuoted: isQuoted, line: line)
    }

    /// Lines that say something, trimmed, with those that end in `\` joined to the next by one blank. Comment lines
    /// inside a continued line are skipped, as systemd does.
    private static func logicalLines(_ octets: [UInt8]) -> [(line: Int, octets: ArraySlice<UInt8>)] {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = octets.starts(with: mark) ? octets.dropFirst(mark.count) : octets[...]
        var lines: [(Int, ArraySlice<UInt8>)] = []
        var pending: (line: Int, octets: [UInt8])?
        for (index, raw) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let physical = raw.last == UInt8(ascii: "\r") ? raw.dropLast() : raw
            let line = physical.trimmed
            if line.first == UInt8(ascii: "#") || line.first == UInt8(ascii: ";") { continue }
            let goesOn = physical.last == UInt8(ascii: "\\")
            let part = goesOn ? line.dropLast().trimmed : line
            if pending != nil {
                if !part.isEmpty { pending?.octets.append(0x20) }
                pending?.octets.append(contentsOf: part)
                if !goesOn, let whole = pending {
                    lines.append((whole.line, whole.octets.trimmed))
                    pending = nil
                }
            } else if goesOn {
                pending = (index + 1, Array(part))
            } else if !line.isEmpty {
                lines.append((index + 1, line))
            }
        }
        if let pending { lines.append((pending.line, pending.octets.trimmed)) }
        return lines.filter { !$0.1.isEmpty }
    }
}

/// `[kind]` or `[kind name]`
struct SectionName: Hashable, CustomStringConvertible {
    let kind: String
    let name: String?

    /// Stands for a header that could not be read; no kind has an empty name.
    static let unreadable = SectionName(kind: "", name: nil)

    init(kind: String, name: String?) {
        self.kind = kind
        self.name = name
    }

    /// From what stands between the brackets; nil unless it is one or two words.
    init?(header: some BidirectionalCollection<UInt8>) {
        let words = header.split(whereSeparator: \.isBlank)
        guard let kind = words.first, words.count <= 2, !header.contains(UInt8(ascii: "]")) else { return nil }
        self.init(kind: String(octets: kind), name: words.count == 2 ? String(octets: words[1]) : nil)
    }

    var description: String { name.map { "[\(kind) \($0)]" } ?? "[\(kind)]" }

    /// Whether a name is 1–64 characters without comma, `/` or `]`; blanks and control characters cannot come here.
    static func isValid(name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.count <= 64
            && name.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && !$0.properties.isWhitespace && $0 != "," && $0 != "/"
                    && $0 != "]"
            }
    }
}
