import Primitives

/// Header fields in order, beside the ones that a message has as properties of their own (Via, From, To, Call-ID,
/// CSeq, Content-Length).
package struct Headers: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package struct Field: Hashable, Sendable {
        package let name: HeaderName
        let text: OctetText

        /// Unfolded, without white space at its ends.
        package var value: String { text.string }

        init(_ name: HeaderName, _ text: OctetText) {
            self.name = name
            self.text = text
        }
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(dictionaryLiteral elements: (HeaderName, String)...) {
        for (name, value) in elements { append(name, value) }
    }

    /// The value of the first line with this name.
    package func first(_ name: HeaderName) -> String? { firstText(name)?.string }

    func firstText(_ name: HeaderName) -> OctetText? {
        fields.firstIndex { $0.name == name }.map { fields[$0].text }
    }

    /// The values of all lines with this name, each as it stands (for credentials and challenges, P3).
    package func all(_ name: HeaderName) -> [String] { fields.lazy.filter { $0.name == name }.map(\.value) }

    package func contains(_ name: HeaderName) -> Bool { fields.contains { $0.name == name } }

    /// Adds a line at the end. Line ends in the value become spaces when it is written.
    package mutating func append(_ name: HeaderName, _ value: String) { append(name, OctetText(value)) }

    mutating func append(_ name: HeaderName, _ text: OctetText) { fields.append(Field(name, text)) }

    mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    /// Adds a line before all others of this name, or at the end.
    package mutating func prepend(_ name: HeaderName, _ value: String) {
        let index = fields.firstIndex { $0.name == name } ?? fields.endIndex
        fields.insert(Field(name, OctetText(value)), at: index)
    }

    /// Puts one line in the place of all with this name.
    package mutating func set(_ name: HeaderName, _ value: String) {
        guard let index = fields.firstIndex(where: { $0.name == name }) else { return append(name, value) }
        remove(name)
        fields.insert(Field(name, OctetText(value)), at: index)
    }

    package mutating func remove(_ name: HeaderName) { fields.removeAll { $0.name == name } }

    /// Values of a list header over all its lines: commas inside quotes or `<>` do not split (P3). Empty ones are
    /// left out; at most `Limits.listValues` are read.
    package func list(_ name: HeaderName) -> [String] { texts(name).map(\.string) }

    func texts(_ name: HeaderName) -> [OctetText] {
        var values: [OctetText] = []
        for index in fields.indices where fields[index].name == name {
            var scanner = Scanner(fields[index].text)
            while !scanner.isAtEnd, values.count < Limits.listValues {
                let value = scanner.listValue()
                if values.isEmpty { values.reserveCapacity(scanner.isAtEnd ? 1 : 12) }
                if !value.isEmpty { values.append(value) }
            }
        }
        return values
    }

    /// Values of a list header of tokens, in lower case (option tags are compared without letter case).
    package func tokens(_ name: HeaderName) -> [String] { texts(name).map { $0.string.lowercased() } }
}

extension Scanner {
    /// What stands before the next comma outside quotes and `<>`, trimmed; consumes the comma too.
    fileprivate mutating func listValue() -> OctetText {
        let start = position
        var index = start
        var isQuoted = false
        var isBracketed = false
        while index < end {
            let octet = octets[index]
            if isQuoted {
                if octet == 0x5C { index &+= 1 } else if octet == 0x22 { isQuoted = false }
            } else if octet <= 0x3E {
                if octet == 0x2C, !isBracketed { break }
                if octet == 0x22 { isQuoted = !isBracketed }
                if octet == 0x3C { isBracketed = true }
                if octet == 0x3E { isBracketed = false }
            }
            index &+= 1
        }
        position = min(index &+ 1, end)
        return slice(octets.trimmed(start..<min(index, end)))
    }
}
