import Primitives

/// Walks a range of octets; every step is bounds-checked against its end.
struct Scanner {
    let octets: [UInt8]
    var position: Int
    let end: Int

    init(_ octets: [UInt8], _ range: Range<Int>) {
        self.octets = octets
        position = range.lowerBound
        end = range.upperBound
    }

    init(_ text: OctetText) { self.init(text.octets, text.range) }

    init(_ text: String) { self.init(OctetText(text)) }

    var isAtEnd: Bool { position >= end }
    var peek: UInt8? { position < end ? octets[position] : nil }

    mutating func advance() { position += 1 }

    mutating func skipWhitespace() {
        while position < end, octets[position].isBlank { position += 1 }
    }

    /// Consumes the octet if it is next.
    mutating func take(_ octet: UInt8) -> Bool {
        guard position < end, octets[position] == octet else { return false }
        position += 1
        return true
    }

    /// Consumes the octet with white space around it (`SEMI`, `COMMA`, `EQUAL` of the grammar).
    mutating func takeSeparator(_ octet: UInt8) -> Bool {
        let start = position
        skipWhitespace()
        guard take(octet) else {
            position = start
            return false
        }
        skipWhitespace()
        return true
    }

    /// The longest run of octets in the set; may be empty.
    mutating func take(in set: OctetSet) -> Range<Int> {
        take { !set.contains($0) }
    }

    /// Octets up to (not including) the first that `isEnd` accepts, or all.
    mutating func take(until isEnd: (UInt8) -> Bool) -> Range<Int> {
        let start = position
        position = octets[start..<end].firstIndex(where: isEnd) ?? end
        return start..<position
    }

    /// A non-empty token.
    mutating func token(_ what: String) throws(ParseError) -> String {
        let range = take(in: .token)
        if range.isEmpty { throw ParseError("\(what) is missing") }
        return text(range)
    }

    /// The range of a quoted string with its quotes; the next octet is the opening one.
    mutating func quotedString() throws(ParseError) -> Range<Int> {
        let start = position
        guard take(0x22) else { throw ParseError("quoted string expected") }
        while position < end {
            switch octets[position] {
            case 0x22:
                position += 1
                return start..<position
            case 0x5C: position += 2
            default: position += 1
            }
        }
        position = end
        throw ParseError("unterminated quoted string")
    }

    func slice(_ range: Range<Int>) -> OctetText { OctetText(octets, range) }

    /// Text of octets; invalid UTF-8 becomes U+FFFD (P7).
    func text(_ range: Range<Int>) -> String { String(decoding: octets[range], as: UTF8.self) }

    /// Decimal digits up to the maximum: no sign, no other base (P6).
    mutating func integer(max: UInt64, _ what: String) throws(ParseError) -> UInt64 {
        var value: UInt64 = 0
        let start = position
        while position < end, octets[position].isDigit {
            let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = scaled.addingReportingOverflow(UInt64(octets[position] - 0x30))
            if overflow || carry || sum > max { throw ParseError("\(what) is out of range") }
            value = sum
            position += 1
        }
        if position == start { throw ParseError("\(what) is not a number") }
        return value
    }
}

extension UInt8 {
    /// Space or tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }
}

extension [UInt8] {
    /// The range without spaces and tabs at both ends.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, self[lower].isBlank { lower += 1 }
        while lower < upper, self[upper - 1].isBlank { upper -= 1 }
        return lower..<upper
    }
}

extension OctetText {
    /// Text of a quoted string without its quotes and escapes; other text as it is.
    var unquoted: String {
        guard first == 0x22, last == 0x22, count >= 2 else { return string }
        let inside = OctetText(octets, (range.lowerBound + 1)..<(range.upperBound - 1))
        guard inside.contains(0x5C) else { return inside.string }
        var plain: [UInt8] = []
        plain.reserveCapacity(inside.count)
        var isEscaped = false
        for octet in octets[inside.range] {
            isEscaped = !isEscaped && octet == 0x5C
            if !isEscaped { plain.append(octet) }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}

/// Text as a quoted string. Line ends become spaces: they cannot stand in one.
func quoted(_ text: String) -> String {
    var octets: [UInt8] = [0x22]
    for octet in text.utf8 {
        switch octet {
        case 0x22, 0x5C: octets += [0x5C, octet]
        case 0x0D, 0x0A: octets.append(0x20)
        default: octets.append(octet)
        }
    }
    octets.append(0x22)
    return String(decoding: octets, as: UTF8.self)
}

/// Whether two texts are the same but for ASCII letter case.
package func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
    left == right
        || left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { $0.lowercased == $1.lowercased }
}
