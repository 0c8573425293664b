import Primitives

extension SIPURI {
    package init(_ text: String) throws(ParseError) {
        let octets = Array(text.utf8)
        try self.init(octets, 0..<octets.count)
    }

    /// Reads a URI that fills the range. Throws for bad escapes, ports, hosts, white space and control characters.
    package init(_ octets: [UInt8], _ range: Range<Int>) throws(ParseError) {
        if range.count > Limits.uri { throw ParseError("URI is too long") }
        try Self.check(octets, range)
        var scanner = Scanner(octets, range)
        let schemeRange = scanner.take(in: .scheme)
        guard !schemeRange.isEmpty, octets[schemeRange.lowerBound].isLetter, scanner.take(0x3A) else {
            throw ParseError("URI has no scheme")
        }
        switch scanner.text(schemeRange).lowercased() {
        case "sip": try self.init(.sip, &scanner)
        case "sips": try self.init(.sips, &scanner)
        case "tel": try self.init(telephone: &scanner)
        case let name:
            if scanner.isAtEnd { throw ParseError("URI is empty") }
            self.init(.other(name), opaque: scanner.text(scanner.position..<scanner.end))
        }
    }

    private init(_ scheme: Scheme, opaque: String) {
        self.scheme = scheme
        self.opaque = opaque
    }

    private init(_ scheme: Scheme, _ scanner: inout Scanner) throws(ParseError) {
        self.scheme = scheme
        let start = scanner.position
        // Neither parameters nor headers may contain an unescaped "@", so the first one ends the user part.
        if let at = scanner.octets[start..<scanner.end].firstIndex(of: 0x40) {
            let user = scanner.take { $0 == 0x3A || $0 == 0x40 }
            if user.isEmpty { throw ParseError("user part is empty") }
            escapedUser = scanner.text(user)
            if scanner.take(0x3A) {
                escapedPassword = scanner.text(scanner.position..<at)
                _ = scanner.take { $0 == 0x40 }
            }
            scanner.advance()
        }
        host = try Host(&scanner)
        port = try scanner.port()
        try readParameters(&scanner)
        if scanner.take(0x3F) {
            while !scanner.isAtEnd {
                let name = scanner.take { $0 == 0x3D || $0 == 0x26 }
                if name.isEmpty { throw ParseError("URI header is malformed") }
                let value = scanner.take(0x3D) ? scanner.text(scanner.take { $0 == 0x26 }) : nil
                headers.append(.init(scanner.text(name), value))
                _ = scanner.take(0x26)
            }
        }
        if !scanner.isAtEnd { throw ParseError("URI is malformed after its host") }
    }

    private init(telephone scanner: inout Scanner) throws(ParseError) {
        scheme = .tel
        let number = scanner.take(in: .telephone)
        guard scanner.octets[number].contains(where: { $0.hexValue != nil || $0 == 0x2A || $0 == 0x23 }) else {
            throw ParseError("telephone number is missing")
        }
        escapedUser = scanner.text(number)
        try readParameters(&scanner)
        if !scanner.isAtEnd { throw ParseError("telephone number is malformed") }
    }

    /// `*( ";" name [ "=" value ] )`; empty parameters are tolerated.
    private mutating func readParameters(_ scanner: inout Scanner) throws(ParseError) {
        while scanner.take(0x3B) {
            let name = scanner.take { $0 == 0x3D || $0 == 0x3B || $0 == 0x3F }
            let value = scanner.take(0x3D) ? scanner.take { $0 == 0x3B || $0 == 0x3F } : nil
            if name.isEmpty {
                if value != nil { throw ParseError("URI parameter has no name") }
                continue
            }
            parameters.append(Self.plainName(scanner.text(name)), text: value.map { scanner.text($0) })
        }
    }

    /// A parameter name without escapes, unless it could not be written without them.
    private static func plainName(_ name: String) -> String {
        guard name.utf8.contains(0x25) else { return name }
        let decoded = percentDecodedOctets(name)
        return OctetSet.uriParameter.isSuperset(of: decoded) ? String(decoding: decoded, as: UTF8.self) : name
    }

    /// No white space, control characters or delimiters of a name-addr, and only whole escapes.
    private static func check(_ octets: [UInt8], _ range: Range<Int>) throws(ParseError) {
        var index = range.lowerBound
        while index < range.upperBound {
            switch octets[index] {
            case 0...0x20, 0x7F, 0x22, 0x3C, 0x3E: throw ParseError("URI contains a forbidden character")
            case 0x25:
                guard index + 2 < range.upperBound, octets[index + 1].hexValue != nil, octets[index + 2].hexValue != nil
                else { throw ParseError("URI contains a broken escape") }
                index += 3
            default: index += 1
            }
        }
    }
}
