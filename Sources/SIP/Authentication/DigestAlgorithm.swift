package import Primitives

/// An algorithm of digest authentication (RFC 7616 §6.1, RFC 8760).
package struct DigestAlgorithm: Hashable, Sendable, CustomStringConvertible {
    /// From the weakest to the strongest.
    package enum Hash: Int, Comparable, Hashable, Sendable, CaseIterable {
        case md5, sha256, sha512_256

        package static func < (left: Hash, right: Hash) -> Bool { left.rawValue < right.rawValue }

        package var name: String {
            switch self {
            case .md5: "MD5"
            case .sha256: "SHA-256"
            case .sha512_256: "SHA-512-256"
            }
        }

        /// Lower-case hexadecimal digits of the hash.
        package func digest(_ octets: [UInt8], _ hashes: Hashes) -> String {
            switch self {
            case .md5: hexadecimal(hashes.md5(octets))
            case .sha256: hexadecimal(hashes.sha256(octets))
            case .sha512_256: hexadecimal(hashes.sha512_256(octets))
            }
        }

        func digest(_ parts: [String], _ hashes: Hashes) -> String {
            digest(Array(parts.joined(separator: ":").utf8), hashes)
        }
    }

    package var hash: Hash
    /// A `-sess` variant: its HA1 is bound to the nonces of the session.
    package var isSession: Bool

    package init(_ hash: Hash, isSession: Bool = false) {
        self.hash = hash
        self.isSession = isSession
    }

    /// Nil for an unknown name. Compared without letter case.
    package init?(_ name: String) {
        for hash in Hash.allCases {
            if equalIgnoringCase(name, hash.name) {
                self.init(hash)
                return
            }
            if equalIgnoringCase(name, hash.name + "-sess") {
                self.init(hash, isSession: true)
                return
            }
        }
        return nil
    }

    package var description: String { hash.name + (isSession ? "-sess" : "") }
}

/// A quality of protection: what the digest covers.
package enum DigestProtection: String, Hashable, Sendable {
    case auth
    /// The body too.
    case authInt = "auth-int"
}
