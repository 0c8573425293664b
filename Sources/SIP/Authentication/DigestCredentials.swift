package import Primitives

/// The value of Authorization or Proxy-Authorization (RFC 7616 §3.4).
package struct DigestCredentials: Hashable, Sendable, CustomStringConvertible {
    package var username: String
    package var realm: String
    package var nonce: String
    package var uri: String
    package var opaque: String?
    package var algorithm: DigestAlgorithm
    /// Whether `algorithm` is written.
    package var namesAlgorithm: Bool
    package var protection: DigestProtection?
    package var cnonce: String
    /// From 1 for each nonce.
    package var nonceCount: UInt32
    /// Hexadecimal digits.
    package var response = ""

    /// Answers a challenge. `ha1` is that of `algorithm.hash`, before a `-sess` variant is applied.
    package init(
        _ challenge: DigestChallenge, username: String, ha1: String, method: SIPMethod, uri: String, body: [UInt8],
        cnonce: String, nonceCount: UInt32, hashes: Hashes
    ) {
        self.username = username
        realm = challenge.realm
        nonce = challenge.nonce
        self.uri = uri
        opaque = challenge.opaque
        algorithm = challenge.algorithm
        namesAlgorithm = challenge.namesAlgorithm
        protection = challenge.protection
        self.cnonce = cnonce
        self.nonceCount = nonceCount
        response = expectedResponse(ha1: ha1, method: method, body: body, hashes: hashes)
    }

    /// Reads a header value; nil for another scheme or a malformed value.
    package init?(_ text: String) { self.init(OctetText(text)) }

    init?(_ text: OctetText) {
        guard let parameters = try? AuthenticationParameters.list(text).first,
            parameters.scheme.matches("Digest"),
            let username = parameters["username"], let realm = parameters["realm"],
            let nonce = parameters["nonce"], let uri = parameters["uri"],
            let response = parameters["response"],
            let algorithm = DigestAlgorithm(parameters["algorithm"] ?? "MD5")
        else { return nil }
        self.username = username
        self.realm = realm
        self.nonce = nonce
        self.uri = uri
        self.response = response
        self.algorithm = algorithm
        namesAlgorithm = parameters["algorithm"] != nil
        opaque = parameters["opaque"]
        cnonce = parameters["cnonce"] ?? ""
        nonceCount = 0
        if let name = parameters["qop"] {
            guard let protection = DigestProtection(rawValue: name.lowercased()),
                let count = parameters["nc"].flatMap({ UInt32($0, radix: 16) }), !cnonce.isEmpty
            else { return nil }
            self.protection = protection
            nonceCount = count
        }
    }

    /// HA1 of a password: what is stored in its place.
    package static func ha1(
        username: String, realm: String, password: String, _ hash: DigestAlgorithm.Hash, _ hashes: Hashes
    ) -> String {
        hash.digest([username, realm, password], hashes)
    }

    /// Whether the response was made with the password behind `ha1`.
    package func isValid(ha1: String, method: SIPMethod, body: [UInt8], hashes: Hashes) -> Bool {
        let expected = expectedResponse(ha1: ha1, method: method, body: body, hashes: hashes)
        return equalInConstantTime(Array(expected.utf8), Array(response.lowercased().utf8))
    }

    private func expectedResponse(ha1: String, method: SIPMethod, body: [UInt8], hashes: Hashes) -> String {
        let hash = algorithm.hash
        let key = algorithm.isSession ? hash.digest([ha1, nonce, cnonce], hashes) : ha1
        var message = [method.name, uri]
        if protection == .authInt { message.append(hash.digest(body, hashes)) }
        let ha2 = hash.digest(message, hashes)
        guard let protection else { return hash.digest([key, nonce, ha2], hashes) }
        return hash.digest([key, nonce, nonceCountText, cnonce, protection.rawValue, ha2], hashes)
    }

    /// Eight hexadecimal digits (A3).
    private var nonceCountText: String {
        let digits = String(nonceCount, radix: 16)
        return String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits
    }

    package var description: String {
        var text = "Digest username=\(quoted(username)), realm=\(quoted(realm)), nonce=\(quoted(nonce))"
        text += ", uri=\(quoted(uri)), response=\"\(response)\""
        if namesAlgorithm { text += ", algorithm=\(algorithm)" }
        if let opaque { text += ", opaque=\(quoted(opaque))" }
        if let protection {
            text += ", cnonce=\(quoted(cnonce)), qop=\(protection.rawValue), nc=\(nonceCountText)"
        } else if algorithm.isSession {
            text += ", cnonce=\(quoted(cnonce))"
        }
        return text
    }
}
