internal import Configuration
internal import Primitives

/// The digits of one caller on their way to being a door code (I5).
struct CodeEntry: Sendable {
    /// Wrong codes in one call; after them the rest of the call is ignored.
    static let attemptsPerCall = 3
    /// Between two digits; after it what was keyed counts as a wrong code.
    static let pause = Duration.seconds(4)
    static let longest = 16

    enum Verdict: Equatable {
        case incomplete
        /// The door's name, and the code's own name where it has one.
        case opens(door: String, code: String?)
        case wrong
    }

    private var digits: [UInt8] = []
    private var lastDigit: Instant?
    private(set) var wrong = 0

    var isExhausted: Bool { wrong >= Self.attemptsPerCall }
    /// When what was keyed so far is given up.
    var deadline: Instant? { digits.isEmpty ? nil : lastDigit.map { $0 + Self.pause } }

    /// One more digit, against every code that this caller may use. The codes are compared whole, all of them, each
    /// in constant time.
    mutating func digit(_ digit: UInt8, codes: [(door: String, code: DoorCode)], at now: Instant) -> Verdict {
        digits.append(digit)
        lastDigit = now
        var match: (door: String, code: DoorCode)?
        for candidate in codes where equalInConstantTime(digits, Array(candidate.code.digits.revealed.utf8)) {
            match = match ?? candidate
        }
        if let match {
            digits = []
            return .opens(door: match.door, code: match.code.name)
        }
        let longest = min(Self.longest, codes.map { $0.code.digits.revealed.utf8.count }.max() ?? 0)
        // "#" ends an entry where no code has one inside.
        let ends = digit == UInt8(ascii: "#") && !codes.contains { $0.code.digits.revealed.utf8.contains(digit) }
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
