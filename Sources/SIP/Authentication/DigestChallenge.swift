import Primitives

/// A digest challenge of a 401 or 407 that can be answered (RFC 7616 §3.3).
package struct DigestChallenge: Hashable, Sendable, CustomStringConvertible {
    package var realm: String
    package var nonce: String
    /// Echoed exactly, even if empty (A3).
    package var opaque: String?
    package var algorithm: DigestAlgorithm
    /// Whether the challenge named its algorithm; then the answer does.
    package var namesAlgorithm: Bool
    /// Nil for the form of RFC 2069, without `qop`.
    package var protection: DigestProtection?
    /// Whether only the nonce was refused, not the password.
    package var isStale: Bool
    /// Whether it came in Proxy-Authenticate.
    package var isProxy: Bool

    package init(
        realm: String, nonce: String, opaque: String? = nil, algorithm: DigestAlgorithm = DigestAlgorithm(.md5),
        protection: DigestProtection? = .auth, isStale: Bool = false, isProxy: Bool = false
    ) {
        self.realm = realm
        self.nonce = nonce
        self.opaque = opaque
        self.algorithm = algorithm
        namesAlgorithm = true
        self.protection = protection
        self.isStale = isStale
        self.isProxy = isProxy
    }

    /// What one challenge of a response turned out to be.
    package enum Reading: Hashable, Sendable {
        case usable(DigestChallenge)
        /// Another scheme (Basic is never answered), an unknown algorithm, or no known `qop`.
        case unsupported
        case malformed
    }

    /// Every challenge of a response in the order of its lines (A1).
    package static func all(in response: Response) -> [Reading] {
        var readings: [Reading] = []
        for field in response.headers.fields where field.name == .wwwAuthenticate || field.name == .proxyAuthenticate {
            readings += read(field.value, isProxy: field.name == .proxyAuthenticate)
        }
        return readings
    }

    /// The challenges of one header value.
    package static func read(_ text: String, isProxy: Bool) -> [Reading] {
        guard let list = try? AuthenticationParameters.list(OctetText(text)) else {
            // A foreign scheme may have a form of its own (`Bearer`, `Negotiate abc==`).
            return [text.prefix(6).lowercased() == "digest" ? .malformed : .unsupported]
        }
        return list.map { reading($0, isProxy: isProxy) }
    }

    private static func reading(_ parameters: AuthenticationParameters, isProxy: Bool) -> Reading {
        guard parameters.scheme.matches("Digest") else { return .unsupported }
        guard let realm = parameters["realm"], let nonce = parameters["nonce"], !nonce.isEmpty else {
            return .malformed
        }
        let name = parameters["algorithm"]
        guard let algorithm = DigestAlgorithm(name ?? "MD5") else { return .unsupported }
        var challenge = DigestChallenge(
            realm: realm, nonce: nonce, opaque: parameters["opaque"], algorithm: algorithm, protection: nil,
            isStale: parameters["stale"].map { equalIgnoringCase($0, "true") } ?? false, isProxy: isProxy)
        challenge.namesAlgorithm = name != nil
        if let offered = parameters["qop"] {
            let names = offered.lowercased().split(separator: ",").map {
                $0.filter { $0 != " " && $0 != "\t" }
            }
            guard let protection = [DigestProtection.auth, .authInt].first(where: { names.contains($0.rawValue) })
            else { return .unsupported }
            challenge.protection = protection
        }
        return .usable(challenge)
    }

    /// The header value of a challenge of ours.
    package var description: String {
        var text = "Digest realm=\(quoted(realm)), nonce=\(quoted(nonce))"
        if let opaque { text += ", opaque=\(quoted(opaque))" }
        if isStale { text += ", stale=true" }
        text += ", algorithm=\(algorithm)"
        if let protection { text += ", qop=\"\(protection.rawValue)\"" }
        return text
    }
}
