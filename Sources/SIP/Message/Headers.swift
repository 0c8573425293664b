import Primitives

/// Header fields in order, beside the ones that a message has as properties of their own (Via, From, To, Call-ID,
/// CSeq, Content-Length).
package struct Headers: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package struct Field: Hashable, Sendable {
        package var name: HeaderName
        /// Unfolded, without white space at its ends.
        package var value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(dictionaryLiteral elements: (HeaderName, String)...) {
        for (name, value) in elements { append(name, value) }
    }

    /// The value of the first line with this name.
    package func first(_ name: HeaderName) -> String? { fields.first { $0.name == name }?.value }

    /// The values of all lines with this name, each as it stands (for credentials and challenges, P3).
    package func all(_ name: HeaderName) -> [String] { fields.lazy.filter { $0.name == name }.map(\.value) }

    package func contains(_ name: HeaderName) -> Bool { fields.contains { $0.name == name } }

    /// Adds a line at the end. Line ends in the value become spaces when it is written.
    package mutating func append(_ name: HeaderName, _ value: String) { fields.append(Field(name: name, value: value)) }

    /// Adds a line before all others of this name, or at the end.
    package mutating func prepend(_ name: HeaderName, _ value: String) {
        let index = fields.firstIndex { $0.name == name } ?? fields.endIndex
        fields.insert(Field(name: name, value: value), at: index)
    }

    /// Puts one line in the place of all with this name.
    package mutating func set(_ name: HeaderName, _ value: String) {
        guard let index = fields.firstIndex(where: { $0.name == name }) else { return append(name, value) }
        remove(name)
        fields.insert(Field(name: name, value: value), at: index)
    }

    package mutating func remove(_ name: HeaderName) { fields.removeAll { $0.name == name } }

    /// Values of a list header over all its lines: commas inside quotes or `<>` do not split (P3). Empty ones are
    /// left out; at most `Limits.listValues` are read.
    package func list(_ name: HeaderName) -> [String] {
        var values: [String] = []
        for field in fields where field.name == name {
            guard field.value.utf8.contains(0x2C) else {
                if !field.value.isEmpty, values.count < Limits.listValues { values.append(field.value) }
                continue
            }
            let octets = Array(field.value.utf8)
            for range in splitList(octets) where values.count < Limits.listValues {
                values.append(String(decoding: octets[range], as: UTF8.self))
            }
        }
        return values
    }

    /// Values of a list header of tokens, in lower case (option tags are compared without letter case).
    package func tokens(_ name: HeaderName) -> [String] { list(name).map { $0.lowercased() } }
}

/// Ranges of the non-empty values of a comma-separated list, trimmed.
private func splitList(_ octets: [UInt8]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    var index = 0
    var isQuoted = false
    var isBracketed = false
    while index <= octets.count {
        let octet = index < octets.count ? octets[index] : 0x2C
        if index == octets.count || (octet == 0x2C && !isQuoted && !isBracketed) {
            let range = octets.trimmed(start..<index)
            if !range.isEmpty { ranges.append(range) }
            start = index + 1
        } else if isQuoted {
            if octet == 0x5C { index = min(index + 1, octets.count - 1) } else if octet == 0x22 { isQuoted = false }
        } else if octet == 0x22 {
            isQuoted = !isBracketed
        } else if octet == 0x3C {
            isBracketed = true
        } else if octet == 0x3E {
            isBracketed = false
        }
        index += 1
    }
    return ranges
}
