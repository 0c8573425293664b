/// What differs in one kind of section.
package struct SectionChanges: Equatable, Sendable {
    /// Names, in the order of the new configuration.
    package var added: [String] = []
    /// Names, in the order of the old configuration.
    package var removed: [String] = []
    /// The keys that differ, by name; by "" for a kind that stands once.
    package var changed: [String: [String]] = [:]
    /// The sections that stay changed their order, which decides which account is the default.
    package var isReordered = false

    package var isEmpty: Bool { self == SectionChanges() }

    /// The keys that differ in a kind that stands once.
    package var keys: [String] { changed[""] ?? [] }
}

/// What a reload has to change, and what it must not.
package struct ConfigurationDifference: Equatable, Sendable {
    package var device = SectionChanges()
    package var network = SectionChanges()
    package var accounts = SectionChanges()
    package var audio = SectionChanges()
    package var ringer = SectionChanges()
    package var buttons = SectionChanges()
    package var leds = SectionChanges()
    package var doors = SectionChanges()
    package var codes = SectionChanges()
    package var schedules = SectionChanges()
    package var contacts = SectionChanges()
    package var groups = SectionChanges()
    package var call = SectionChanges()
    package var provisioning = SectionChanges()
    package var log = SectionChanges()

    /// Outputs that stay in use with another resting level, as `[led status]` or `[door front]` of the new
    /// configuration. A reload that has any is refused.
    package var polarityChanges: [String] = []

    package var isEmpty: Bool { self == ConfigurationDifference() }

    /// Keys of `[device]` that differ and wait for the next start.
    package var waitingForStart: [String] { device.keys.filter { $0 == "socket" || $0 == "state-directory" } }
}

extension Configuration {
    package static func difference(from old: Configuration, to new: Configuration) -> ConfigurationDifference {
        var difference = ConfigurationDifference()
        for kind in SectionKind.all { kind.compare(old, new, &difference) }
        let levels = Dictionary(old.outputs.map { ($0.line, $0.active) }, uniquingKeysWith: { first, _ in first })
        difference.polarityChanges = new.outputs.filter { (levels[$0.line] ?? $0.active) != $0.active }
            .map(\.section.description)
        return difference
    }

    private var outputs: [(line: LineReference, active: ActiveLevel, section: SectionName)] {
        leds.map { ($0.line, $0.active, SectionName(kind: "led", name: $0.name)) }
            + doors.flatMap { door in
                door.outputs.map { ($0.line, $0.active, SectionName(kind: "door", name: door.name)) }
            }
    }
}
