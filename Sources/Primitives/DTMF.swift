/// A key of a telephone, by its RFC 4733 event number.
package struct DTMFSignal: Hashable, Sendable {
    /// 0–9: digits, 10: `*`, 11: `#`, 12–15: `A`–`D`, 16: flash (hook).
    package let event: UInt8

    /// Nil for any other event.
    package init?(event: UInt8) {
        guard event <= 16 else { return nil }
        self.event = event
    }

    /// From `0`–`9`, `*`, `#`, `A`–`D`, letters in any case.
    package init?(character: UInt8) {
        switch character {
        case 0x30...0x39: event = character - 0x30
        case 0x2A: event = 10
        case 0x23: event = 11
        case 0x41...0x44: event = character - 0x41 + 12
        case 0x61...0x64: event = character - 0x61 + 12
        default: return nil
        }
    }

    package static let flash = DTMFSignal(known: 16)

    private init(known event: UInt8) { self.event = event }

    /// The ASCII character; nil for flash.
    package var character: UInt8? {
        switch event {
        case 0...9: event + 0x30
        case 10: 0x2A
        case 11: 0x23
        case 12...15: event - 12 + 0x41
        default: nil
        }
    }
}

/// How a digit came.
package enum DTMFPath: Hashable, Sendable { case rtp, info, inBand }

/// Recognises a digit that comes by two ways (I3): peers send the same key as RFC 4733 event and as INFO or tone.
package struct DigitCollector: Sendable {
    /// Within this time the same digit by another way is the same key press (I3).
    package static let sameness: Duration = .milliseconds(200)
    /// Key presses that are remembered; more in 200 ms are no person's.
    private static let memory = 16

    private struct Press {
        var signal: DTMFSignal
        var at: Instant
        var paths: Set<DTMFPath>
    }

    private var recent: [Press] = []

    package init() {}

    /// Whether this is a new key press.
    package mutating func accept(_ signal: DTMFSignal, by path: DTMFPath, at now: Instant) -> Bool {
        recent.removeAll { now - $0.at > Self.sameness }
        if let index = recent.firstIndex(where: { $0.signal == signal && !$0.paths.contains(path) }) {
            recent[index].paths.insert(path)
            return false
        }
        if recent.count == Self.memory { recent.removeFirst() }
        recent.append(Press(signal: signal, at: now, paths: [path]))
        return true
    }
}
