/// A kind of section, whatever its settings' type.
struct SectionKind: Sendable {
    let name: String
    let isNamed: Bool
    let summary: String
    /// Name, form, default and one line for a manual, of each key.
    let keys: [KeyDescription]
    /// Puts what an INI section says into the configuration, key by key over what is there.
    let apply: @Sendable (INI.Section, inout Configuration, inout SectionContext) -> Void
    /// Every section of this kind as INI text, without what is the default.
    let write: @Sendable (Configuration) -> String
    /// What is new, gone, or different in which keys, from the first to the second.
    let compare: @Sendable (Configuration, Configuration, inout ConfigurationDifference) -> Void

    static let all: [SectionKind] = [
        SectionKind("device", "This appliance", \.device, \.device, DeviceSettings.keys),
        SectionKind("network", "Interfaces and ports", \.network, \.network, NetworkSettings.keys),
        SectionKind("account", "An identity at a SIP server", \.accounts, \.accounts, AccountSettings.keys),
        SectionKind("audio", "Loudspeaker and microphone", \.audio, \.audio, AudioSettings.keys),
        SectionKind("ringer", "The sound of an incoming call", \.ringer, \.ringer, RingerSettings.keys),
        SectionKind("button", "A button", \.buttons, \.buttons, ButtonSettings.keys),
        SectionKind(
            "led", "An LED; it shows the first state that holds and has a key", \.leds, \.leds, LEDSettings.keys),
        SectionKind("door", "A door with a relay", \.doors, \.doors, DoorSettings.keys),
        SectionKind("code", "Digits that open a door within bounds", \.codes, \.codes, CodeSettings.keys),
        SectionKind(
            "schedule", "Times that return; none holds before the clock is set", \.schedules, \.schedules,
            ScheduleSettings.keys),
        SectionKind("contact", "Somebody to call", \.contacts, \.contacts, ContactSettings.keys),
        SectionKind("group", "Several to call", \.groups, \.groups, GroupSettings.keys),
        SectionKind("call", "Limits of calls", \.call, \.call, CallSettings.keys),
        SectionKind(
            "provisioning", "Configuration from afar", \.provisioning, \.provisioning, ProvisioningSettings.keys),
        SectionKind("log", "What is logged", \.log, \.log, LogSettings.keys),
    ]

    static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    private init<S: Settings>(
        _ name: String, _ summary: String, _ path: Path<Configuration, S>,
        _ difference: Path<ConfigurationDifference, SectionChanges>, _ keys: [Key<S>]
    ) {
        self.name = name
        self.summary = summary
        isNamed = false
        let table = KeyTable(keys, defaults: S())
        self.keys = table.descriptions
        apply = { section, configuration, context in
            table.apply(section, to: &configuration[keyPath: path], &context)
        }
        write = { configuration in
            let lines = table.lines(configuration[keyPath: path])
            return lines.isEmpty ? "" : (["[\(name)]"] + lines).joined(separator: "\n") + "\n"
        }
        compare = { old, new, changes in
            let keys = table.changedKeys(old[keyPath: path], new[keyPath: path])
            if !keys.isEmpty { changes[keyPath: difference].changed = ["": keys] }
        }
    }

    private init<S: NamedSettings>(
        _ name: String, _ summary: String, _ path: Path<Configuration, [S]>,
        _ difference: Path<ConfigurationDifference, SectionChanges>, _ keys: [Key<S>]
    ) {
        self.name = name
        self.summary = summary
        isNamed = true
        let table = KeyTable(keys, defaults: S(name: ""))
        self.keys = table.descriptions
        apply = { section, configuration, context in
            guard let own = section.name.name else { return }
            let index: Int
            if let known = context.index(of: section.name) {
                index = known
            } else {
                index = configuration[keyPath: path].count
                configuration[keyPath: path].append(S(name: own))
                context.remember(section.name, at: index)
            }
            table.apply(section, to: &configuration[keyPath: path][index], &context)
        }
        write = { configuration in
            configuration[keyPath: path].map { settings in
                (["[\(name) \(settings.name)]"] + table.lines(settings)).joined(separator: "\n") + "\n"
            }.joined(separator: "\n")
        }
        compare = { old, new, result in
            let before = Dictionary(old[keyPath: path].map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            let after = Set(new[keyPath: path].map(\.name))
            var changes = SectionChanges(removed: old[keyPath: path].map(\.name).filter { !after.contains($0) })
            for settings in new[keyPath: path] {
                if let former = before[settings.name] {
                    let keys = table.changedKeys(former, settings)
                    if !keys.isEmpty { changes.changed[settings.name] = keys }
                } else {
                    changes.added.append(settings.name)
                }
            }
            let kept = { (list: [S]) in list.map(\.name).filter { before[$0] != nil && after.contains($0) } }
            changes.isReordered = kept(old[keyPath: path]) != kept(new[keyPath: path])
            result[keyPath: difference] = changes
        }
    }
}

/// What a manual says about one key.
package struct KeyDescription: Sendable {
    package let name: String
    /// The form of the value in words.
    package let form: String
    /// As it would stand in a file; empty: none.
    package let defaultText: String
    package let summary: String
    package let repeats: Bool
    package let isRequired: Bool
}

/// The keys of one kind of settings.
struct KeyTable<Settings: Sendable>: Sendable {
    let keys: [Key<Settings>]
    let byName: [String: Key<Settings>]
    let defaults: Settings

    init(_ keys: [Key<Settings>], defaults: Settings) {
        self.keys = keys
        self.defaults = defaults
        byName = Dictionary(uniqueKeysWithValues: keys.map { ($0.name, $0) })
    }

    var descriptions: [KeyDescription] {
        keys.map { key in
            KeyDescription(
                name: key.name, form: key.form, defaultText: key.lines(defaults).joined(separator: ", "),
                summary: key.summary, repeats: key.repeats, isRequired: key.isRequired)
        }
    }

    /// The first line of a key in a section brings its default back before it says its own, so that an empty value,
    /// and all lines of a repeated key together, replace what an earlier file said.
    func apply(_ section: INI.Section, to settings: inout Settings, _ context: inout SectionContext) {
        context.open(section, required: keys.filter(\.isRequired).map(\.name))
        var seen: [String: Int] = [:]
        for entry in section.entries {
            guard let key = byName[entry.key] else {
                let key = entry.key.shortened
                context.fault(entry.line, section.name, key, "unknown key\(entry.key.hint(of: keys.map(\.name)))")
                continue
            }
            if context.isOwn(section.name, entry.key, at: entry.line) { continue }
            if let earlier = seen[entry.key], !key.repeats {
                context.fault(entry.line, section.name, entry.key, "stands twice; first in line \(earlier)")
                continue
            }
            if seen.updateValue(entry.line, forKey: entry.key) == nil { key.copy(defaults, &settings) }
            context.place(section.name, entry.key, at: entry.value.isEmpty ? nil : entry.line)
            if entry.value.isEmpty { continue }
            guard key.isText || entry.isQuoted || !INI.startsComment(entry.value) else {
                context.fault(entry.line, section.name, entry.key, "comments stand on lines of their own")
                continue
            }
            do {
                try key.assign(&settings, entry.value)
            } catch {
                context.fault(entry.line, section.name, entry.key, error.message)
            }
        }
    }

    func changedKeys(_ old: Settings, _ new: Settings) -> [String] {
        keys.filter { $0.differs(old, new) }.map(\.name)
    }

    /// The lines of every value that is not the default.
    func lines(_ settings: Settings) -> [String] {
        keys.filter { $0.differs(settings, defaults) }.flatMap { key in
            key.lines(settings).map { "\(key.name) = \(quoted($0))" }
        }
    }

    /// In quotes where bare text would lose a blank, its last `\`, or look like a comment.
    private func quoted(_ text: String) -> String {
        let needed = text.trimmed != text || text.utf8.last == UInt8(ascii: "\\") || INI.startsComment(text)
        return needed && !text.utf8.contains(UInt8(ascii: "\"")) ? "\"\(text)\"" : text
    }
}
