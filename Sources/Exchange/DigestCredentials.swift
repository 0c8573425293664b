import Primitives

/// Digest credentials as a client sent them (RFC 7616 §3.4).
struct DigestCredentials {
    /// More parameters than these are no honest client's (SEC3).
    private static let parameterLimit = 32

    let username: String
    let realm: String
    let nonce: String
    let uri: String
    let response: String
    /// As spelt; nil means MD5.
    let algorithm: String?
    let qop: String?
    let cnonce: String?
    /// Eight hexadecimal digits.
    let nonceCount: String?

    /// The value of an Authorization or Proxy-Authorization header; nil for another scheme, and for one that is
    /// malformed or lacks a part.
    init?(_ value: String) {
        let octets = Array(value.utf8)
        guard let blank = octets.firstIndex(of: 0x20), octets[..<blank].map(\.lowercased) == Array("digest".utf8),
            let parameters = Self.parameters(octets, from: blank), let username = parameters["username"],
            let realm = parameters["realm"], let nonce = parameters["nonce"], let uri = parameters["uri"],
            let response = parameters["response"]
        else { return nil }
        self.username = username
        self.realm = realm
        self.nonce = nonce
        self.uri = uri
        self.response = response
        algorithm = parameters["algorithm"]
        qop = parameters["qop"]
        cnonce = parameters["cnonce"]
        nonceCount = parameters["nc"]
    }

    /// `name = value` or `name = "value"`, separated by commas; nil if malformed or if a name stands twice.
    private static func parameters(_ octets: [UInt8], from start: Int) -> [String: String]? {
        var parameters: [String: String] = [:]
        var index = start
        func skipBlanks() {
            while index < octets.count, octets[index] == 0x20 || octets[index] == 0x09 { index += 1 }
        }
        while true {
            skipBlanks()
            let nameStart = index
            while index < octets.count, octets[index] != 0x3D, octets[index] != 0x20, octets[index] != 0x2C {
                index += 1
            }
            let name = String(decoding: octets[nameStart..<index].map(\.lowercased), as: UTF8.self)
            skipBlanks()
            guard !name.isEmpty, index < octets.count, octets[index] == 0x3D else { return nil }
            index += 1
            skipBlanks()
            guard let text = value(octets, &index), parameters[name] == nil, parameters.count < parameterLimit
            else { return nil }
            parameters[name] = text
            skipBlanks()
            if index == octets.count { return parameters }
            guard octets[index] == 0x2C else { return nil }
            index += 1
        }
    }

    /// A token, or a quoted string without its quotes and escapes.
    private static func value(_ octets: [UInt8], _ index: inout Int) -> String? {
        var text: [UInt8] = []
        guard index < octets.count, octets[index] == 0x22 else {
            while index < octets.count, octets[index] != 0x2C, octets[index] != 0x20 {
                text.append(octets[index])
                index += 1
            }
            return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
        }
        index += 1
        while index < octets.count {
            switch octets[index] {
            case 0x22:
                index += 1
                return String(decoding: text, as: UTF8.self)
            case 0x5C where index + 1 < octets.count:
                text.append(octets[index + 1])
                index += 2
            default:
                text.append(octets[index])
                index += 1
            }
        }
        return nil
    }
}
