/// The states that an LED can show, the first that holds and has a pattern wins.
package enum LEDState: String, CaseIterable, Sendable {
    /// Somebody is at the box.
    case tamper
    /// A door opened unbidden.
    case doorForced = "door-forced"
    case doorHeldOpen = "door-held-open"
    case doorOpen = "door-open"
    case talking, ringing, calling, fault
    /// An account that should be registered is not.
    case unregistered
    /// Messages wait in the mailbox of an account.
    case messages
    /// Every account that should be registered is.
    case registered
    /// Holds always.
    case idle
}

/// What an LED does while its state holds, from the moment the state begins.
package enum LEDPattern: Hashable, Sendable, CustomStringConvertible {
    case off, on
    /// Times alternately lit and dark, beginning lit, repeated for ever. An even count of 2…`maximumSteps`, each from
    /// 10 ms to an hour.
    case flashing([Duration])

    /// A bound on what one line of a file can make an LED do.
    package static let maximumSteps = 64

    package static let blink = LEDPattern.flashing([.milliseconds(500), .milliseconds(500)])
    package static let fast = LEDPattern.flashing([.milliseconds(100), .milliseconds(100)])
    package static let pulse = LEDPattern.flashing([.milliseconds(100), .milliseconds(1900)])

    static let words: [(String, LEDPattern)] = [
        ("off", .off), ("on", .on), ("blink", .blink), ("fast", .fast), ("pulse", .pulse),
    ]

    package var description: String {
        if let word = Self.words.first(where: { $0.1 == self }) { return word.0 }
        guard case .flashing(let times) = self else { return "" }
        return times.map(\.unitText).joined(separator: "/")
    }

    /// Reads a word or `ON/OFF[/ON/OFF…]`; nil for anything else.
    package init?(_ text: String) {
        if let word = Self.words.first(where: { $0.0 == text }) {
            self = word.1
            return
        }
        let parts = text.parts(at: UInt8(ascii: "/"))
        guard parts.count >= 2, parts.count.isMultiple(of: 2), parts.count <= Self.maximumSteps else { return nil }
        var times: [Duration] = []
        for part in parts {
            guard let time = Duration(unitText: part), time >= .milliseconds(10), time <= .seconds(3600) else {
                return nil
            }
            times.append(time)
        }
        self = .flashing(times)
    }
}
