internal import Configuration
internal import Primitives

/// The digits of one caller, or of the keypad, on their way to being a door code (I5).
struct CodeEntry: Sendable {
    /// Wrong codes in one call; after them the rest of the call is ignored.
    static let attemptsPerCall = 3
    /// Between two digits; after it what was keyed counts as a wrong code.
    static let pause = Duration.seconds(4)
    static let longest = 16

    enum Verdict: Equatable {
        case incomplete
        case opens(Permit)
        case wrong
    }

    private var digits: [UInt8] = []
    private var lastDigit: Instant?
    private(set) var wrong = 0

    var isEmpty: Bool { digits.isEmpty }
    var isExhausted: Bool { wrong >= Self.attemptsPerCall }
    /// When what was keyed so far is given up.
    var deadline: Instant? { digits.isEmpty ? nil : lastDigit.map { $0 + Self.pause } }

    /// One more digit, against every code that may be used here. The codes are compared whole, all of them.
    /// - Parameter holds: whether a code counts now; one that does not is as wrong as any other.
    mutating func digit(
        _ digit: UInt8, permits: [Permit], hashes: Hashes, at now: Instant, holds: (Permit) -> Bool
    ) -> Verdict {
        digits.append(digit)
        lastDigit = now
        var match: Permit?
        for candidate in permits where candidate.code.matches(digits, hashes) && holds(candidate) {
            match = match ?? candidate
        }
        if let match {
            digits = []
            return .opens(match)
        }
        let longest = min(Self.longest, permits.map(\.code.count).max() ?? 0)
        // "#" ends an entry where no code has one inside.
        let ends = digit == UInt8(ascii: "#") && !permits.contains { $0.code.mayHold(digit) }
        if ends && digits.count == 1 {
            digits = []
            return .incomplete
        }
        guard digits.count >= longest || ends else { return .incomplete }
        return fail()
    }

    /// The pause after the last digit has become too long.
    mutating func passed(_ now: Instant) -> Verdict {
        guard let deadline, now >= deadline else { return .incomplete }
        return fail()
    }

    /// Hold or transfer: what was keyed is void and counts for nothing.
    mutating func clear() { digits = [] }

    private mutating func fail() -> Verdict {
        digits = []
        wrong += 1
        return .wrong
    }
}

extension DoorCode {
    /// Nobody knows that of a hash.
    fileprivate func mayHold(_ digit: UInt8) -> Bool {
        switch digits {
        case .plain(let digits): digits.revealed.utf8.contains(digit)
        case .hashed: true
        }
    }
}
