import Primitives

/// A `sip`, `sips` or `tel` URI (RFC 3261 §19.1, RFC 3966), or any other as opaque text.
///
/// Components are kept with their percent-escapes as received, so that a URI goes back to its owner as it came;
/// `user`, `password` and `parameter(_:)` are decoded, once (P5). `==` compares the components as they are spelt;
/// `isEquivalent(to:)` follows the RFC.
package struct SIPURI: Hashable, Sendable, CustomStringConvertible {
    package enum Scheme: Hashable, Sendable {
        case sip, sips, tel
        /// In lower case. The answer to a Request-URI with one is 416 (P13).
        case other(String)

        package var name: String {
            switch self {
            case .sip: "sip"
            case .sips: "sips"
            case .tel: "tel"
            case .other(let name): name
            }
        }
    }

    package var scheme: Scheme
    var userText: OctetText?
    var passwordText: OctetText?
    /// Nil for `tel` and other schemes only.
    package var host: Host?
    package var port: UInt16?
    /// Values with their escapes; see `parameter(_:)`.
    package var parameters = Parameters()
    /// The part after `?`: header names and values with their escapes. Never honoured in a Request-URI.
    package var headers: [Parameters.Parameter] = []
    /// What follows the colon of another scheme.
    package var opaque = ""

    /// A `sip` or `sips` URI; the user is escaped as needed.
    package init(
        scheme: Scheme = .sip, user: String? = nil, host: Host, port: UInt16? = nil, parameters: Parameters = [:]
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.parameters = parameters
        self.user = user
    }

    /// A `tel` URI of a number, global (`+4930…`) or local.
    package init(telephone number: String) {
        scheme = .tel
        escapedUser = number
    }

    /// The user part with its escapes; of a `tel` URI the number with its visual separators.
    package var escapedUser: String? {
        get { userText?.string }
        set { userText = newValue.map { OctetText($0) } }
    }

    package var escapedPassword: String? {
        get { passwordText?.string }
        set { passwordText = newValue.map { OctetText($0) } }
    }

    /// The user part without escapes, decoded lossily where it is not UTF-8. Setting escapes what must be.
    package var user: String? {
        get { escapedUser.map { percentDecoded($0) } }
        set { escapedUser = newValue.map { percentEncoded($0, keeping: .user) } }
    }

    package var password: String? {
        get { escapedPassword.map { percentDecoded($0) } }
        set { escapedPassword = newValue.map { percentEncoded($0, keeping: .password) } }
    }

    /// A parameter's value without escapes; nil if it is absent or has no value.
    package func parameter(_ name: String) -> String? { parameters.text(name).map { percentDecoded($0) } }

    /// Sets a parameter, escaping what must be; nil removes it.
    package mutating func setParameter(_ name: String, _ value: String?) {
        if let value {
            parameters.set(name, text: percentEncoded(value, keeping: .uriParameter))
        } else {
            parameters.remove(name)
        }
    }

    /// Adds a header to the part after `?` (Refer-To with Replaces), escaped.
    package mutating func addHeader(_ name: String, _ value: String) {
        headers.append(.init(name, percentEncoded(value, keeping: .uriHeader)))
    }

    /// A header of the part after `?`, without escapes.
    package func header(_ name: String) -> String? {
        headers.first { equalIgnoringCase($0.name, name) }.flatMap { $0.text.map { percentDecoded($0) } }
    }

    /// The `transport` parameter in lower case.
    package var transport: String? { parameter("transport")?.lowercased() }

    /// Whether the URI is of a loose router (RFC 3261 §16.12).
    package var isLooseRouter: Bool { parameters.contains("lr") }

    package var isSIP: Bool { scheme == .sip || scheme == .sips }

    /// Digits of a `tel` number or of a user part without visual separators (P15).
    package var numberDigits: String? {
        user.map { user in
            let number = user.utf8.prefix { $0 != 0x3B }
            return String(decoding: number.filter { !OctetSet.visualSeparators.contains($0) }, as: UTF8.self)
        }
    }

    /// Without password, parameters and headers: to show and to look up an account (`sip:user@host:port`).
    package var addressOfRecord: SIPURI {
        var uri = self
        uri.escapedPassword = nil
        uri.parameters = Parameters()
        uri.headers = []
        return uri
    }

    package var description: String {
        var text = scheme.name + ":"
        switch scheme {
        case .other: return text + opaque
        case .tel: return text + (escapedUser ?? "") + parameters.description
        case .sip, .sips: break
        }
        if let escapedUser {
            text += escapedUser
            if let escapedPassword { text += ":" + escapedPassword }
            text += "@"
        }
        text += host?.description ?? ""
        if let port { text += ":\(port)" }
        text += parameters.description
        for (index, header) in headers.enumerated() {
            text += (index == 0 ? "?" : "&") + header.name + "=" + (header.text ?? "")
        }
        return text
    }
}

/// Decodes percent-escapes, once; octets that are not UTF-8 become U+FFFD.
func percentDecoded(_ text: String) -> String {
    text.utf8.contains(0x25) ? String(decoding: percentDecodedOctets(text), as: UTF8.self) : text
}

/// Decodes percent-escapes, once. A `%` without two hexadecimal digits stays.
func percentDecodedOctets(_ text: String) -> [UInt8] {
    let octets = Array(text.utf8)
    var decoded: [UInt8] = []
    var index = 0
    while index < octets.count {
        if octets[index] == 0x25, index + 2 < octets.count, let high = octets[index + 1].hexValue,
            let low = octets[index + 2].hexValue
        {
            decoded.append(high << 4 | low)
            index += 3
        } else {
            decoded.append(octets[index])
            index += 1
        }
    }
    return decoded
}

/// Escapes every octet that is not in the set.
func percentEncoded(_ text: String, keeping set: OctetSet) -> String {
    if set.isSuperset(of: text.utf8) { return text }
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for octet in text.utf8 {
        if set.contains(octet) {
            encoded.append(octet)
        } else {
            encoded += [0x25, digits[Int(octet >> 4)], digits[Int(octet & 15)]]
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}
