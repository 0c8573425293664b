import Primitives

/// A URI with a display name and header parameters: From, To, Contact, Route, Refer-To … (RFC 3261 §20.10).
package struct NameAddress: Hashable, Sendable, CustomStringConvertible {
    /// As on the wire: a quoted string or tokens.
    private var displayText: OctetText?
    package var uri: SIPURI
    /// Parameters of the header; those of the URI are in `uri`.
    package var parameters: Parameters

    package init(_ uri: SIPURI, displayName: String? = nil, parameters: Parameters = [:]) {
        self.uri = uri
        self.parameters = parameters
        self.displayName = displayName
    }

    /// Without quotes and escapes; nil if there was none, empty if it was `""`. May contain control characters.
    package var displayName: String? {
        get { displayText?.unquoted }
        set { displayText = newValue.map { OctetText(quoted($0)) } }
    }

    package init(_ text: String) throws(ParseError) { try self.init(OctetText(text)) }

    init(_ text: OctetText) throws(ParseError) {
        var scanner = Scanner(text)
        self = try scanner.wholeAddress("address")
    }

    package var tag: String? {
        get { parameters["tag"] }
        set { parameters["tag"] = newValue }
    }

    package static func == (left: NameAddress, right: NameAddress) -> Bool {
        left.uri == right.uri && left.parameters == right.parameters
            && (left.displayText == right.displayText || left.displayName == right.displayName)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(uri)
        hasher.combine(parameters)
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
            displayText = scanner.slice(try scanner.quotedString())
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
            displayText = trimmed.isEmpty ? nil : scanner.slice(trimmed)
        }
        scanner.advance()
        scanner.skipWhitespace()
        let extent = try URIExtent(scanner.octets, scanner.position..<scanner.end)
        scanner.position = extent.range.upperBound
        scanner.skipWhitespace()
        guard scanner.take(0x3E) else { throw ParseError("address lacks its closing bracket") }
        uri = try SIPURI(scanner.octets, extent)
        parameters = try Parameters(&scanner)
    }
}

extension Scanner {
    /// One address that fills the rest.
    mutating func wholeAddress(_ what: String) throws(ParseError) -> NameAddress {
        let address = try NameAddress(&self)
        try finish(what)
        return address
    }

    /// Nothing but white space may follow.
    mutating func finish(_ what: String) throws(ParseError) {
        skipWhitespace()
        if !isAtEnd { throw ParseError("\(what) is malformed") }
    }
}
