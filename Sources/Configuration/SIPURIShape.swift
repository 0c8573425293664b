import Primitives

/// The parts of a `sip:` or `sips:` URI that the configuration needs (RFC 3261 §19.1.1). Parameters and headers are
/// checked for their octets only; whoever dials parses the text whole.
struct SIPURIShape {
    var user: String?
    /// Lower case; an IPv6 literal keeps its brackets.
    var host: String
    var port: UInt16?
    /// Neither port nor parameters nor headers follow the host.
    var isBareHost: Bool

    /// Nil unless the text has the shape of a URI. `wildcards` allows `*` in the host; a user may hold it anyway.
    init?(_ text: String, wildcards: Bool = false) {
        let octets = Array(text.utf8)
        let scheme = octets.prefix(5).map(\.lowercased)
        let start: Int
        if scheme.starts(with: "sip:".utf8) {
            start = 4
        } else if scheme.starts(with: "sips:".utf8) {
            start = 5
        } else {
            return nil
        }
        var rest = octets[start...]
        guard octets.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"<>\"\\^`{|}".utf8.contains($0) }) else { return nil }
        if let at = rest.firstIndex(of: UInt8(ascii: "@")) {
            let userInfo = rest[..<at]
            let name = userInfo.prefix { $0 != UInt8(ascii: ":") }
            guard !name.isEmpty, userInfo.allSatisfy({ $0.isUserOctet || $0 == UInt8(ascii: ":") }) else { return nil }
            user = String(decoding: name, as: UTF8.self)
            rest = rest[(at + 1)...]
        }
        let hostEnd: Int
        if rest.first == UInt8(ascii: "[") {
            guard let bracket = rest.firstIndex(of: UInt8(ascii: "]")),
                let address = IPAddress(String(decoding: rest[...bracket], as: UTF8.self)), address.isV6
            else { return nil }
            hostEnd = bracket + 1
        } else {
            hostEnd = rest.firstIndex { ":;?".utf8.contains($0) } ?? rest.endIndex
            let host = rest[..<hostEnd]
            guard !host.isEmpty, host.count <= 255, host.allSatisfy({ $0.isHostOctet || (wildcards && $0 == 0x2A) })
            else { return nil }
            // A name's last label begins with a letter: what ends in a number is an address, or a mistyped one.
            let label = host.split(separator: UInt8(ascii: ".")).last ?? []
            guard
                !label.allSatisfy(\.isDigit) || host.contains(0x2A)
                    || IPAddress(String(decoding: host, as: UTF8.self)) != nil
            else { return nil }
        }
        host = String(decoding: rest[..<hostEnd].map(\.lowercased), as: UTF8.self)
        rest = rest[hostEnd...]
        isBareHost = rest.isEmpty
        if rest.first == UInt8(ascii: ":") {
            let digits = rest.dropFirst().prefix { $0.isDigit }
            guard let number = UInt16(String(decoding: digits, as: UTF8.self)), number > 0 else { return nil }
            port = number
            rest = rest[digits.endIndex...]
        }
        guard rest.isEmpty || rest.first == UInt8(ascii: ";") || rest.first == UInt8(ascii: "?"),
            !rest.contains(UInt8(ascii: "@"))
        else { return nil }
    }
}

extension String {
    /// Whether the text begins like a SIP URI, right or wrong.
    var isSIPURI: Bool {
        let scheme = utf8.prefix(5).map(\.lowercased)
        return scheme.starts(with: "sip:".utf8) || scheme.starts(with: "sips:".utf8)
    }

    /// Whether the text can be the user part of a SIP URI.
    var isSIPUser: Bool { !isEmpty && utf8.allSatisfy(\.isUserOctet) }
}

extension UInt8 {
    /// unreserved, escaped or user-unreserved (RFC 3261 §25.1), and `#`, which phones send bare.
    fileprivate var isUserOctet: Bool {
        isLetter || isDigit || "-_.!~*'()%&=+$,;?/#".utf8.contains(self)
    }

    /// Letters, digits, hyphen and dot; the underscore that names in a local network do have.
    fileprivate var isHostOctet: Bool { isLetter || isDigit || "-._".utf8.contains(self) }
}
