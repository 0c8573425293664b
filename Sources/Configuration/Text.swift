import Primitives

extension UInt8 {
    /// A space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// A C0 control character or DEL, the tab included.
    var isControl: Bool { self < 0x20 || self == 0x7F }
}

extension BidirectionalCollection<UInt8> {
    /// Without the blanks at both ends.
    var trimmed: SubSequence {
        guard let last = lastIndex(where: { !$0.isBlank }), let first = firstIndex(where: { !$0.isBlank }) else {
            return self[endIndex..<endIndex]
        }
        return self[first...last]
    }
}

extension String {
    init(octets: some Sequence<UInt8>) { self.init(decoding: Array(octets), as: UTF8.self) }

    var trimmed: String { String(octets: Array(utf8).trimmed) }

    /// What follows a prefix; nil if the text does not begin with it.
    func suffix(after prefix: String) -> String? {
        utf8.starts(with: prefix.utf8) ? String(octets: utf8.dropFirst(prefix.utf8.count)) : nil
    }

    /// Split at each such octet; empty parts are kept.
    func parts(at separator: UInt8) -> [String] {
        utf8.split(separator: separator, omittingEmptySubsequences: false).map { String(octets: $0) }
    }

    /// Split at blanks.
    var words: [String] { utf8.split(whereSeparator: \.isBlank).map { String(octets: $0) } }

    /// Split at commas that stand neither inside `<>` nor inside quotes; each element trimmed, empty ones kept.
    var elements: [String] {
        var elements: [String] = []
        var element: [UInt8] = []
        var (inQuotes, inBrackets) = (false, false)
        for octet in utf8 {
            switch octet {
            case UInt8(ascii: "\""): inQuotes.toggle()
            case UInt8(ascii: "<") where !inQuotes: inBrackets = true
            case UInt8(ascii: ">") where !inQuotes: inBrackets = false
            case UInt8(ascii: ",") where !inQuotes && !inBrackets:
                elements.append(String(octets: element.trimmed))
                element = []
                continue
            default: break
            }
            element.append(octet)
        }
        elements.append(String(octets: element.trimmed))
        return elements
    }

    /// Without the quotes, or the angle brackets, that enclose it whole.
    var bare: String {
        let octets = Array(utf8)
        guard octets.count >= 2, let first = octets.first, let last = octets.last else { return self }
        let inner = octets[1..<(octets.count - 1)]
        switch (first, last) {
        case (UInt8(ascii: "\""), UInt8(ascii: "\"")) where !inner.contains(first): return String(octets: inner)
        case (UInt8(ascii: "<"), UInt8(ascii: ">")): return String(octets: inner.trimmed)
        default: return self
        }
    }

    /// In angle brackets if a comma in it would otherwise end an element of a list; the reverse of `bare`.
    var enclosed: String { utf8.contains(UInt8(ascii: ",")) ? "<\(self)>" : self }

    /// `; did you mean NAME?` with the known name that is nearest by edit distance; empty if none is near.
    func hint(of names: some Sequence<String>) -> String { nearest(of: names).map { "; did you mean \($0)?" } ?? "" }

    private func nearest(of names: some Sequence<String>) -> String? {
        guard utf8.count <= 64 else { return nil }
        let limit = Swift.min(3, Swift.max(utf8.count / 3, 1), utf8.count - 1)
        return names.map { ($0, editDistance(self, $0)) }.filter { $0.1 <= limit }.min { $0.1 < $1.1 }?.0
    }

    /// At most 60 characters of it, for a message.
    var shortened: String { unicodeScalars.count <= 60 ? self : String(unicodeScalars.prefix(59)) + "…" }
}
