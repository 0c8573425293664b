/// The number of a call in this process: `c1`, `c2`, …
package struct CallKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var number: Int

    package init(_ number: Int) { self.number = number }

    /// Reads `c7`; nil for anything else.
    package init?(_ text: String) {
        guard text.first == "c", let number = Int(text.dropFirst()), number > 0 else { return nil }
        self.number = number
    }

    package var description: String { "c\(number)" }
    package static func < (left: CallKey, right: CallKey) -> Bool { left.number < right.number }
}

/// Numbers calls of both directions in one sequence: shared by the user agent and the door logic.
package final class CallNumbering {
    private var last = 0
    package init() {}

    package func next() -> CallKey {
        last += 1
        return CallKey(last)
    }
}
