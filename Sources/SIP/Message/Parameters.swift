/// Parameters of a header value or a URI, in order. Names are compared without letter case.
///
/// Values are kept as they stand on the wire; the subscript takes the quotes off and puts them on where needed.
package struct Parameters: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package struct Parameter: Hashable, Sendable {
        package var name: String
        /// As on the wire, with quotes or escapes; nil for a parameter without `=`.
        package var text: String?

        package init(_ name: String, _ text: String?) {
            self.name = name
            self.text = text
        }
    }

    package private(set) var list: [Parameter] = []

    package init() {}

    /// Values as the subscript takes them; nil makes a parameter without a value.
    package init(dictionaryLiteral elements: (String, String?)...) {
        for (name, value) in elements {
            if let value { self[name] = value } else { setFlag(name) }
        }
    }

    package var isEmpty: Bool { list.isEmpty }

    package func contains(_ name: String) -> Bool { list.contains { equalIgnoringCase($0.name, name) } }

    /// The value without quotes; nil if the parameter is absent or has no value. Setting nil removes it.
    package subscript(name: String) -> String? {
        get { text(name).map { unquoted($0) } }
        set {
            guard let newValue else { return remove(name) }
            let plain = !newValue.isEmpty && OctetSet.parameterValue.isSuperset(of: newValue.utf8)
            set(name, text: plain ? newValue : quoted(newValue))
        }
    }

    /// The value as on the wire; nil if the parameter is absent or has no value.
    package func text(_ name: String) -> String? { list.first { equalIgnoringCase($0.name, name) }?.text }

    /// Sets a parameter without a value (`lr`, an empty `rport`).
    package mutating func setFlag(_ name: String) { set(name, text: nil) }

    package mutating func remove(_ name: String) { list.removeAll { equalIgnoringCase($0.name, name) } }

    /// Sets the value as it goes on the wire, in the place of one already there.
    mutating func set(_ name: String, text: String?) {
        if let index = list.firstIndex(where: { equalIgnoringCase($0.name, name) }) {
            list[index].text = text
        } else {
            append(name, text: text)
        }
    }

    mutating func append(_ name: String, text: String?) { list.append(Parameter(name, text)) }

    /// Each parameter with its leading semicolon.
    package var description: String {
        var description = ""
        for parameter in list {
            description += ";" + parameter.name
            if let text = parameter.text { description += "=" + text }
        }
        return description
    }

    /// `*( SEMI generic-param )`: stops before anything else.
    init(_ scanner: inout Scanner) throws(ParseError) {
        while scanner.takeSeparator(0x3B) { try append(&scanner) }
    }

    /// One `generic-param`.
    mutating func append(_ scanner: inout Scanner) throws(ParseError) {
        let name = try scanner.token("parameter name")
        var text: String?
        if scanner.takeSeparator(0x3D) {
            let range =
                scanner.peek == 0x22
                ? try scanner.quotedString()
                : scanner.take { $0.isBlank || $0 == 0x3B || $0 == 0x2C || $0 == 0x22 || $0 == 0x3E }
            if range.isEmpty { throw ParseError("parameter value is missing") }
            text = scanner.text(range)
        }
        append(name, text: text)
    }
}
