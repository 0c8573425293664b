package import Primitives

/// A host of a URI or a Via: a name, or an address literal.
///
/// Keeps the spelling it came in, but compares names without letter case, and literals by value (P14).
package struct Host: Hashable, Sendable, CustomStringConvertible {
    private let spelling: OctetText
    /// The value of a literal.
    package let address: IPAddress?

    /// As written, without brackets; a name without its final dot.
    package var text: String { spelling.string }

    /// A zone has a meaning on one machine only and is left out.
    package init(_ address: IPAddress) {
        let plain = IPAddress(octets: address.octets) ?? address
        self.address = plain
        spelling = OctetText(plain.description)
    }

    /// A host name, or a literal with or without brackets; nil if it is neither.
    package init?(_ text: String) {
        if let address = IPAddress(text) {
            self.init(address)
            return
        }
        var scanner = Scanner(text)
        guard let host = try? Host(&scanner), scanner.isAtEnd else { return nil }
        self = host
    }

    init(_ scanner: inout Scanner) throws(ParseError) {
        if scanner.take(0x5B) {
            let literal = scanner.slice(scanner.take(in: .ipv6))
            guard scanner.take(0x5D), literal.contains(0x3A), let address = Self.tolerantly(literal) else {
                throw ParseError("IPv6 address is malformed")
            }
            spelling = literal
            self.address = address
        } else {
            var range = scanner.take(in: .hostName)
            if range.count > 1, scanner.octets[range.upperBound - 1] == 0x2E {
                range = range.lowerBound..<(range.upperBound - 1)
            }
            spelling = scanner.slice(range)
            guard let last = spelling.last, last != 0x2E else { throw ParseError("host is missing or malformed") }
            address = spelling.first?.isDigit == true ? IPAddress(spelling) : nil
        }
    }

    /// The grammar of RFC 3261 allowed three colons by mistake; receivers tolerate them (RFC 5118 §4.10).
    private static func tolerantly(_ literal: OctetText) -> IPAddress? {
        if let address = IPAddress(literal) { return address }
        var repaired: [UInt8] = []
        for octet in literal.octets[literal.range]
        where octet != 0x3A || !repaired.suffix(2).elementsEqual([0x3A, 0x3A]) {
            repaired.append(octet)
        }
        return IPAddress(OctetText(repaired, 0..<repaired.count))
    }

    package static func == (left: Host, right: Host) -> Bool {
        if let address = left.address { return address == right.address }
        return right.address == nil && (left.spelling == right.spelling || equalIgnoringCase(left.text, right.text))
    }

    package func hash(into hasher: inout Hasher) {
        if let address {
            hasher.combine(address)
        } else {
            for octet in spelling.octets[spelling.range] { hasher.combine(octet.lowercased) }
        }
    }

    /// With the brackets that an IPv6 literal needs.
    package var description: String { address?.isV6 == true || spelling.contains(0x3A) ? "[\(text)]" : text }
}

extension Scanner {
    /// `":" port` with 1…65535; nil where no colon is next.
    mutating func port() throws(ParseError) -> UInt16? {
        guard take(0x3A) else { return nil }
        guard let port = UInt16(exactly: try integer(max: 65_535, "port")), port > 0 else {
            throw ParseError("port is out of range")
        }
        return port
    }
}
