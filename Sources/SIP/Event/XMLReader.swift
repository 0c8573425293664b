import Primitives

/// Walks the elements of a small XML document: the part of XML 1.0 that event packages use.
///
/// A reader of our own and not expat, because cores import no C library, an event's document is some hundred octets
/// of elements and attributes, and what makes XML dangerous (document types, entities, references to elsewhere) is
/// refused here instead of being switched off. Every step goes forward, so reading is linear in the document.
struct XMLReader {
    enum Token: Equatable {
        /// Names stand without their namespace's prefix; values have their references resolved.
        case start(String, attributes: [String: String])
        case text(String)
        case end(String)
    }

    /// Octets of a document, elements within each other, and attributes of one element; more is malformed (SEC12).
    static let sizeLimit = 32 * 1024
    static let depthLimit = 16
    static let attributeLimit = 16

    private var scanner: Scanner
    private var open: [String] = []
    /// The end of an element that has no content.
    private var pendingEnd: String?
    private var hasRoot = false

    init(_ octets: [UInt8]) throws(ParseError) {
        guard octets.count <= Self.sizeLimit else { throw ParseError("document is too large") }
        guard String(validating: octets, as: UTF8.self) != nil else { throw ParseError("document is not UTF-8") }
        let start = octets.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        scanner = Scanner(octets, start..<octets.count)
    }

    /// The next token; nil after the root element's end.
    mutating func next() throws(ParseError) -> Token? {
        if let name = pendingEnd {
            pendingEnd = nil
            return .end(name)
        }
        while !scanner.isAtEnd {
            if scanner.peek != 0x3C {
                let text = scanner.take { $0 == 0x3C }
                if !open.isEmpty { return .text(try resolved(scanner.text(text))) }
                guard scanner.octets[text].allSatisfy(\.isXMLBlank) else { throw malformed }
                continue
            }
            scanner.advance()
            switch scanner.peek {
            case 0x3F: try skip("?", to: "?>")
            case 0x21: try skip("!--", to: "-->")
            case 0x2F:
                scanner.advance()
                let name = try name()
                skipBlanks()
                guard scanner.take(0x3E), open.popLast() == name else { throw malformed }
                return .end(Self.local(name))
            default: return try element()
            }
        }
        guard hasRoot, open.isEmpty else { throw malformed }
        return nil
    }

    private var malformed: ParseError { ParseError("document is malformed") }

    private mutating func element() throws(ParseError) -> Token {
        guard !open.isEmpty || !hasRoot, open.count < Self.depthLimit else { throw malformed }
        hasRoot = true
        let name = try name()
        var attributes: [String: String] = [:]
        var count = 0
        while true {
            skipBlanks()
            if scanner.take(0x3E) {
                open.append(name)
                break
            }
            if scanner.take(0x2F) {
                guard scanner.take(0x3E) else { throw malformed }
                pendingEnd = Self.local(name)
                break
            }
            let (attribute, value) = try attribute()
            count += 1
            guard count <= Self.attributeLimit else { throw malformed }
            if !attribute.hasPrefix("xmlns") { attributes[Self.local(attribute)] = value }
        }
        return .start(Self.local(name), attributes: attributes)
    }

    private mutating func attribute() throws(ParseError) -> (name: String, value: String) {
        let name = try name()
        skipBlanks()
        guard scanner.take(0x3D) else { throw malformed }
        skipBlanks()
        guard let quote = scanner.peek, quote == 0x22 || quote == 0x27 else { throw malformed }
        scanner.advance()
        let value = scanner.take { $0 == quote || $0 == 0x3C }
        guard scanner.take(quote) else { throw malformed }
        return (name, try resolved(scanner.text(value)))
    }

    private mutating func name() throws(ParseError) -> String {
        let range = scanner.take { $0.isXMLBlank || "=/><\"'&?!".utf8.contains($0) }
        guard !range.isEmpty else { throw malformed }
        return scanner.text(range)
    }

    private mutating func skipBlanks() { _ = scanner.take { !$0.isXMLBlank } }

    /// What is between the two marks says nothing to us. Another construct that begins with `<!` is refused.
    private mutating func skip(_ begin: String, to end: String) throws(ParseError) {
        for octet in begin.utf8 { guard scanner.take(octet) else { throw malformed } }
        let mark = Array(end.utf8)
        var matched = 0
        while matched < mark.count {
            guard let octet = scanner.peek else { throw malformed }
            scanner.advance()
            if octet == mark[matched] {
                matched += 1
            } else if !(matched == 2 && octet == mark[1]) {
                // "--->" ends a comment too: its third hyphen stands for the second.
                matched = octet == mark[0] ? 1 : 0
            }
        }
    }

    /// Resolves `&amp;` and its like; there are no other entities, for there is no document type.
    private func resolved(_ text: String) throws(ParseError) -> String {
        guard text.utf8.contains(0x26) else { return text }
        var result = ""
        var rest = text[...]
        while let ampersand = rest.firstIndex(of: "&") {
            result += rest[..<ampersand]
            rest = rest[rest.index(after: ampersand)...]
            guard let end = rest.firstIndex(of: ";") else { throw malformed }
            result += try character(rest[..<end])
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private func character(_ reference: Substring) throws(ParseError) -> String {
        switch reference {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let number =
                reference.hasPrefix("#x")
                ? UInt32(reference.dropFirst(2), radix: 16)
                : reference.hasPrefix("#") ? UInt32(reference.dropFirst()) : nil
            guard let scalar = number.flatMap({ Unicode.Scalar($0) }), scalar.value != 0 else { throw malformed }
            return String(scalar)
        }
    }

    private static func local(_ name: String) -> String {
        name.utf8.firstIndex(of: 0x3A).map { String(name[name.utf8.index(after: $0)...]) } ?? name
    }
}

extension UInt8 {
    fileprivate var isXMLBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
