import Primitives

extension SIPURI {
    package init(_ text: String) throws(ParseError) {
        let text = OctetText(text)
        try self.init(text.octets, text.range)
    }

    /// Reads a URI that fills the range. Throws for bad escapes, ports, hosts, white space and control characters.
    package init(_ octets: [UInt8], _ range: Range<Int>) throws(ParseError) {
        let extent = try URIExtent(octets, range)
        if extent.range != range { throw ParseError("URI contains a forbidden character") }
        try self.init(octets, extent)
    }

    init(_ octets: [UInt8], _ extent: URIExtent) throws(ParseError) {
        if extent.range.count > Limits.uri { throw ParseError("URI is too long") }
        var scanner = Scanner(octets, extent.range)
        let schemeRange = scanner.take(in: .scheme)
        guard !schemeRange.isEmpty, octets[schemeRange.lowerBound].isLetter, scanner.take(0x3A) else {
            throw ParseError("URI has no scheme")
        }
        let name = scanner.slice(schemeRange)
        if name.matches("sip") {
            try self.init(.sip, &scanner, at: extent.at)
        } else if name.matches("sips") {
            try self.init(.sips, &scanner, at: extent.at)
        } else if name.matches("tel") {
            try self.init(telephone: &scanner)
        } else {
            if scanner.isAtEnd { throw ParseError("URI is empty") }
            self.init(.other(name.string.lowercased()), opaque: scanner.text(scanner.position..<scanner.end))
        }
    }

    private init(_ scheme: Scheme, opaque: String) {
        self.scheme = scheme
        self.opaque = opaque
    }

    /// - Parameter at: The first `@`: neither parameters nor headers may contain one, so it ends the user part.
    private init(_ scheme: Scheme, _ scanner: inout Scanner, at: Int?) throws(ParseError) {
        self.scheme = scheme
        if let at {
            let user = scanner.take { $0 == 0x3A || $0 == 0x40 }
            if user.isEmpty { throw ParseError("user part is empty") }
            userText = scanner.slice(user)
            if user.upperBound < at { passwordText = scanner.slice((user.upperBound + 1)..<at) }
            scanner.position = at + 1
        }
        host = try Host(&scanner)
        port = try scanner.port()
        try readParameters(&scanner)
        if scanner.take(0x3F) {
            while !scanner.isAtEnd {
                let name = scanner.take { $0 == 0x3D || $0 == 0x26 }
                if name.isEmpty { throw ParseError("URI header is malformed") }
                let value = scanner.take(0x3D) ? scanner.text(scanner.take { $0 == 0x26 }) : ""
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
        userText = scanner.slice(number)
        try readParameters(&scanner)
        if !scanner.isAtEnd { throw ParseError("telephone number is malformed") }
    }

    /// `*( ";" name [ "=" value ] )`; empty parameters are tolerated.
    private mutating func readParameters(_ scanner: inout Scanner) throws(ParseError) {
        let start = scanner.position
        var isTidy = true
        while scanner.take(0x3B) {
            let name = scanner.slice(scanner.take { $0 == 0x3D || $0 == 0x3B || $0 == 0x3F })
            let hasValue = scanner.take(0x3D)
            if hasValue { _ = scanner.take { $0 == 0x3B || $0 == 0x3F } }
            if name.isEmpty, hasValue { throw ParseError("URI parameter has no name") }
            if name.isEmpty || name.contains(0x25) { isTidy = false }
        }
        parameters = Parameters(wire: scanner.slice(start..<scanner.position))
        guard !isTidy else { return }
        parameters = Parameters(
            parameters.list.filter { !$0.name.isEmpty }.map { .init(Self.plainName($0.name), $0.text) })
    }

    /// A parameter name without escapes, unless it could not be written without them.
    private static func plainName(_ name: String) -> String {
        guard name.utf8.contains(0x25) else { return name }
        let decoded = percentDecodedOctets(name)
        return OctetSet.uriParameter.isSuperset(of: decoded) ? String(decoding: decoded, as: UTF8.self) : name
    }
}

/// How far a URI goes, up to white space, `>` or the end of the range, and where its first `@` is.
struct URIExtent {
    let range: Range<Int>
    let at: Int?

    /// Throws for control characters, other delimiters of a name-addr and broken escapes.
    init(_ octets: [UInt8], _ range: Range<Int>) throws(ParseError) {
        let end =
            octets[range].firstIndex { $0 <= 0x20 || $0 == 0x22 || $0 == 0x3C || $0 == 0x3E || $0 == 0x7F }
            ?? range.upperBound
        if end < range.upperBound, octets[end] != 0x20, octets[end] != 0x3E {
            throw ParseError("URI contains a forbidden character")
        }
        self.range = range.lowerBound..<end
        var rest = octets[range.lowerBound..<end]
        at = rest.firstIndex(of: 0x40)
        while let escape = rest.firstIndex(of: 0x25) {
            guard escape + 2 < end, octets[escape + 1].hexValue != nil, octets[escape + 2].hexValue != nil else {
                throw ParseError("URI contains a broken escape")
            }
            rest = octets[(escape + 3)..<end]
        }
    }
}
