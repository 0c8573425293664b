package import Configuration
package import Primitives

/// One LED: which of the states that hold it shows, and whether it is lit now.
package struct Light: Sendable {
    package private(set) var settings: LEDSettings
    /// The state shown; nil: it has a pattern for none that holds, and is dark.
    package private(set) var state: LEDState?
    package private(set) var isLit = false
    /// As last put out; its line starts dark.
    var isSaidLit = false
    private var since: Instant

    package init(_ settings: LEDSettings, at now: Instant) {
        self.settings = settings
        since = now
    }

    /// Of a light that watches a phone, where its settings say nothing else.
    private static let watchPatterns: [LEDState: LEDPattern] = [.idle: .off, .ringing: .blink, .talking: .on]

    private func pattern(of state: LEDState) -> LEDPattern? {
        settings.patterns[state] ?? (settings.watch == nil ? nil : Self.watchPatterns[state])
    }

    private var pattern: LEDPattern { state.flatMap { pattern(of: $0) } ?? .off }

    /// When the LED next changes by its pattern; nil: never.
    package private(set) var deadline: Instant?

    /// Shows the first of the states that hold (in the order of `LEDState`) for which there is a pattern.
    /// - Returns: whether another state is shown than before.
    package mutating func show(_ holding: Set<LEDState>, at now: Instant) -> Bool {
        let shown = LEDState.allCases.first { holding.contains($0) && pattern(of: $0) != nil }
        if shown == state { return false }
        state = shown
        since = now
        step(at: now)
        return true
    }

    /// Takes over new settings; the pattern begins anew if it is another.
    package mutating func configure(_ settings: LEDSettings, at now: Instant) {
        let before = pattern
        self.settings = settings
        if pattern != before { since = now }
        step(at: now)
    }

    /// Brings `isLit` and `deadline` to what the pattern says at `now`.
    package mutating func step(at now: Instant) {
        switch pattern {
        case .off: (isLit, deadline) = (false, nil)
        case .on: (isLit, deadline) = (true, nil)
        case .flashing(let times):
            let cycle = times.reduce(Int64(0)) { $0 &+ $1.nanoseconds }
            guard cycle > 0 else { return (isLit, deadline) = (false, nil) }
            let elapsed = max(0, (now - since).nanoseconds)
            let cycleStart = elapsed / cycle * cycle
            var end = cycleStart
            for (index, time) in times.enumerated() {
                end &+= time.nanoseconds
                if elapsed < end {
                    isLit = index.isMultiple(of: 2)
                    deadline = since + .nanoseconds(end)
                    return
                }
            }
        }
    }
}
