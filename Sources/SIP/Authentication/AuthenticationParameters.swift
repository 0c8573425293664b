import Primitives

/// `scheme name=value, name="value" …` of challenges and credentials (RFC 3261 §25.1).
struct AuthenticationParameters {
    let scheme: OctetText
    private var values: [(name: OctetText, value: OctetText)] = []

    /// How many parameters of one challenge are kept; the rest is read over.
    static let maximumCount = 32

    /// All challenges of a header value: several may be joined by commas (P3). Throws where the text is malformed or
    /// contains a line end, which must never reach a header of ours.
    static func list(_ text: OctetText) throws(ParseError) -> [AuthenticationParameters] {
        if text.contains(0x0D) || text.contains(0x0A) { throw ParseError("challenge contains a line end") }
        var scanner = Scanner(text)
        var list: [AuthenticationParameters] = []
        scanner.skipWhitespace()
        while !scanner.isAtEnd {
            if list.count >= Limits.listValues { throw ParseError("too many challenges") }
            list.append(try AuthenticationParameters(&scanner))
        }
        return list
    }

    /// The parameters of an Authentication-Info, which has no scheme.
    init(withoutScheme text: String) {
        var scanner = Scanner(text)
        scheme = OctetText("")
        try? read(&scanner)
    }

    /// The value without its quotes, of the first parameter with this name.
    subscript(name: String) -> String? {
        values.firstIndex { $0.name.matches(name) }.map { values[$0].value.unquoted }
    }

    private init(_ scanner: inout Scanner) throws(ParseError) {
        scheme = scanner.slice(scanner.take(in: .token))
        if scheme.isEmpty { throw ParseError("authentication scheme is missing") }
        values.reserveCapacity(12)
        scanner.skipWhitespace()
        try read(&scanner)
    }

    /// Reads up to the end or the scheme of another challenge.
    private mutating func read(_ scanner: inout Scanner) throws(ParseError) {
        scanner.skipWhitespace()
        while !scanner.isAtEnd {
            let name = scanner.slice(scanner.take(in: .token))
            if name.isEmpty { throw ParseError("authentication parameter is missing") }
            guard scanner.takeSeparator(0x3D) else {
                // A token without "=" starts the next challenge; this one needs something of its own before it.
                if values.isEmpty { throw ParseError("authentication parameter is malformed") }
                scanner.position = name.range.lowerBound
                return
            }
            let value =
                scanner.peek == 0x22
                ? try scanner.quotedString() : scanner.take { $0.isBlank || $0 == 0x2C || $0 == 0x22 }
            if values.count < Self.maximumCount { values.append((name, scanner.slice(value))) }
            scanner.skipWhitespace()
            if scanner.isAtEnd { return }
            guard scanner.takeSeparator(0x2C) else { throw ParseError("authentication parameter is malformed") }
            while scanner.takeSeparator(0x2C) {}
        }
    }
}
