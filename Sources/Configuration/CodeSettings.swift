package import Primitives

/// `[code NAME]`: digits that open a door within bounds.
package struct CodeSettings: Equatable, Sendable {
    package let name: String
    package var door: String
    package var digits: Secret?
    package var hash: CodeHash?
    /// Nil: always.
    package var when: ScheduleCondition?
    /// Nil: never over.
    package var until: Expiry?
    /// How often it opens; 0: without bound.
    package var uses = 0
    package var from = CodeFrom.any
    /// In calls of this account alone; nil: of any.
    package var account: String?

    package init(name: String, door: String) {
        self.name = name
        self.door = door
    }

    /// The digits in either form; a configuration that was read has one.
    package var code: DoorCode? {
        if let digits { return DoorCode(name: name, .plain(digits)) }
        return hash.map { DoorCode(name: name, .hashed($0)) }
    }
}

/// Digits that open a door.
package struct DoorCode: Hashable, Sendable {
    /// How the configuration knows them.
    package enum Digits: Hashable, Sendable {
        /// 1–16 of `0`–`9`, `*`, `#`, `A`–`D` (I5).
        case plain(Secret)
        case hashed(CodeHash)
    }

    /// For the log; nil: none was given.
    package let name: String?
    package let digits: Digits

    package init(name: String? = nil, _ digits: Digits) {
        self.name = name
        self.digits = digits
    }

    /// How many digits it has.
    package var count: Int {
        switch digits {
        case .plain(let digits): digits.revealed.utf8.count
        case .hashed(let hash): hash.count
        }
    }

    /// In constant time for codes in clear (I5); a hash is computed for what has its count of digits alone.
    package func matches(_ keyed: [UInt8], _ hashes: Hashes) -> Bool {
        switch digits {
        case .plain(let digits): equalInConstantTime(keyed, Array(digits.revealed.utf8))
        case .hashed(let hash): keyed.count == hash.count && hash.matches(keyed, hashes)
        }
    }
}

/// Digits of a code of which only a salted hash is known: `pbkdf2-sha256$COUNT$ITERATIONS$SALT$HASH`.
package struct CodeHash: Hashable, Sendable, CustomStringConvertible {
    /// More would hold the loop up.
    static let maximumIterations = 100_000
    private static let kind = "pbkdf2-sha256"

    /// Of digits: an entry is over with its last one.
    package let count: Int
    let iterations: Int
    let salt: [UInt8]
    let hash: [UInt8]

    /// Reads the form of `description`; nil for anything else.
    package init?(_ text: String) {
        let parts = text.parts(at: UInt8(ascii: "$"))
        guard parts.count == 5, parts[0] == Self.kind, let count = Int(parts[1]), 1...16 ~= count,
            let iterations = Int(parts[2]), 1...Self.maximumIterations ~= iterations,
            let salt = octets(hexadecimal: parts[3]), 8...64 ~= salt.count,
            let hash = octets(hexadecimal: parts[4]), hash.count == 32
        else { return nil }
        (self.count, self.iterations, self.salt, self.hash) = (count, iterations, salt, hash)
    }

    /// Nil for what is no code.
    package init?(hashing digits: String, salt: [UInt8], iterations: Int = 4096, _ hashes: Hashes) {
        guard DoorCode.isCode(digits), 8...64 ~= salt.count else { return nil }
        count = digits.utf8.count
        (self.iterations, self.salt) = (iterations, salt)
        hash = hashes.pbkdf2SHA256(Array(digits.utf8), salt: salt, iterations: iterations)
    }

    func matches(_ digits: [UInt8], _ hashes: Hashes) -> Bool {
        equalInConstantTime(hash, hashes.pbkdf2SHA256(digits, salt: salt, iterations: iterations))
    }

    package var description: String {
        "\(Self.kind)$\(count)$\(iterations)$\(hexadecimal(salt))$\(hexadecimal(hash))"
    }
}

extension DoorCode {
    /// 1 to 16 of the digits 0-9, *, #, A-D.
    package static func isCode(_ digits: String) -> Bool {
        1...16 ~= digits.utf8.count && digits.utf8.allSatisfy { $0.isDigit || "*#ABCD".utf8.contains($0) }
    }
}
