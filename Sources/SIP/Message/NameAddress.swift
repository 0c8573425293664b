import Primitives

/// A URI with a display name and header parameters: From, To, Contact, Route, Refer-To … (RFC 3261 §20.10).
package struct NameAddress: Hashable, Sendable, CustomStringConvertible {
    /// Without quotes and escapes; nil if there was none, empty if it was `""`. May contain control characters.
    package var displayName: String?
    package var uri: SIPURI
    /// Parameters of the header; those of the URI are in `uri`.
    package var parameters: Parameters

    package init(_ uri: SIPURI, displayName: String? = nil, parameters: Parameters = [:]) {
        self.uri = uri
        self.displayName = displayName
        self.parameters = parameters
    }

    package init(_ text: String) throws(ParseError) {
        var scanner = Scanner(text)
        self = try scanner.wholeAddress("address")
    }

    package var tag: String? {
        get { parameters["tag"] }
        set { parameters["tag"] = newValue }
    }

    /// Always with `<>` (P4).
    package var description: String {
        var text = ""
        if let displayName { text = quoted(displayName) + " " }
        return text + "<\(uri)>" + parameters.description
    }

    /// One address; stops before a comma or whatever else follows its parameters.
    init(_ scanner: inout Scanner) throws(ParseError) {
        scanner.skipWhitespace()
        if scanner.peek == 0x22 {
            displayName = unquoted(scanner.text(try scanner.quotedString()))
            scanner.skipWhitespace()
            if scanner.peek != 0x3C { throw ParseError("address is missing after a display name") }
        } else {
            // A display name of tokens ends at "<"; without one these octets are the URI itself, which then ends
            // at the first separator: parameters belong to the header (P4).
            let start = scanner.position
            let words = scanner.take { $0 == 0x3C || $0 == 0x3B || $0 == 0x2C || $0 == 0x22 }
            let trimmed = scanner.octets.trimmed(words)
            if scanner.peek != 0x3C {
                if trimmed.upperBound == start { throw ParseError("address is missing") }
                uri = try SIPURI(scanner.octets, trimmed)
                parameters = try Parameters(&scanner)
                return
            }
            displayName = trimmed.isEmpty ? nil : scanner.text(trimmed)
        }
        scanner.advance()
        let inside = scanner.take { $0 == 0x3E }
        guard scanner.take(0x3E) else { throw ParseError("address lacks its closing bracket") }
        uri = try SIPURI(scanner.octets, scanner.octets.trimmed(inside))
        parameters = try Parameters(&scanner)
    }
}

extension Scanner {
    /// One address that fills the rest.
    mutating func wholeAddress(_ what: String) throws(ParseError) -> NameAddress {
        let address = try NameAddress(&self)
        skipWhitespace()
        if !isAtEnd { throw ParseError("\(what) is malformed") }
        return address
    }

    /// A comma-separated list that fills the rest; throws beyond `limit` values.
    mutating func list<Value>(
        limit: Int, _ what: String, _ read: (inout Scanner) throws(ParseError) -> Value
    ) throws(ParseError) -> [Value] {
        var values: [Value] = []
        repeat {
            if values.count >= limit { throw ParseError(.headersTooLarge, "too many values in \(what)") }
            values.append(try read(&self))
        } while takeSeparator(0x2C)
        skipWhitespace()
        if !isAtEnd { throw ParseError("\(what) is malformed") }
        return values
    }
}
