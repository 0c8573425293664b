internal import Configuration
internal import Primitives

/// An input of a door with its filter: pressed, open, tampered with, or not.
struct Contact: Sendable {
    /// How long a level must hold, or what comes after an edge is not looked at.
    static let period = Duration.milliseconds(20)

    let line: LineReference
    let active: ActiveLevel
    private var debouncer: Debouncer
    /// Nil until its line has told how it is.
    private(set) var isOn: Bool?

    init(_ line: LineReference, _ active: ActiveLevel, _ filter: InputFilter) {
        self.line = line
        self.active = active
        debouncer = Debouncer(period: Self.period, filter: filter, level: false)
    }

    var deadline: Instant? { debouncer.deadline }

    /// The line was taken and has this level, which is no change.
    mutating func opened(high: Bool) {
        let isOn = high == (active == .high)
        debouncer = Debouncer(period: Self.period, filter: debouncer.filter, level: isOn)
        self.isOn = isOn
    }

    mutating func edge(high: Bool, at time: Instant) -> [(isOn: Bool, at: Instant)] {
        told(debouncer.edge(to: high == (active == .high), at: time))
    }

    mutating func passed(_ now: Instant) -> [(isOn: Bool, at: Instant)] { told(debouncer.settle(at: now)) }

    private mutating func told(_ changes: [(level: Bool, at: Instant)]) -> [(isOn: Bool, at: Instant)] {
        if let last = changes.last { isOn = last.level }
        return changes.map { ($0.level, $0.at) }
    }

    /// The same input with what it knows, if the settings still mean it.
    func carried(to line: LineReference, _ active: ActiveLevel, _ filter: InputFilter) -> Contact {
        guard line == self.line, active == self.active else { return Contact(line, active, filter) }
        var contact = self
        contact.debouncer.filter = filter
        return contact
    }
}
