internal import Configuration
internal import Hashing
internal import Primitives

/// Digits of a door code as a configuration may keep them (`portero hash-code`).
package enum HashedCode {
    /// Nil for what is no code.
    package static func text(for digits: String) -> String? {
        var random = Randomness.system
        return CodeHash(hashing: digits, salt: random.octets(16), .nettle)?.description
    }
}
