extension Configuration {
    /// The most octets of one file; more are one fault.
    package static let maximumFileSize = 1 << 20

    /// Reads the main file and its drop-ins, in this order, as one configuration. A provisioned file is the last.
    ///
    /// A file that is missing, or cannot be read, is for the caller to report: no file at all reads as no fault.
    package static func read(files: [ConfigurationFile]) -> ConfigurationReading {
        var draft = Configuration()
        var context = SectionContext(files)
        for (index, file) in files.enumerated() {
            context.begin(file: index)
            guard file.octets.count <= maximumFileSize else {
                context.fault(1, nil, nil, "the file is larger than \(maximumFileSize) octets")
                continue
            }
            let ini = INI(file.octets) { line, section, message in context.fault(line, section, nil, message) }
            for section in ini.sections { draft.apply(section, &context) }
        }
        draft.checkReferences(&context)
        // What is not read whole cannot be judged whole.
        if context.faults.isEmpty { draft.checkSense(&context) }
        let faults = context.faults
        return ConfigurationReading(
            configuration: faults.isEmpty ? draft : nil, faults: faults, warnings: context.warnings,
            socket: draft.device.socket, stateDirectory: draft.device.stateDirectory)
    }

    private mutating func apply(_ section: INI.Section, _ context: inout SectionContext) {
        if section.name == .unreadable { return }
        guard let kind = SectionKind.byName[section.name.kind] else {
            let kind = section.name.kind
            context.fault(
                section.line, nil, nil,
                "unknown section [\(kind.shortened)]\(kind.hint(of: SectionKind.all.map(\.name)))")
            return
        }
        switch section.name.name {
        case nil where kind.isNamed:
            return context.fault(section.line, section.name, nil, "needs a name: [\(kind.name) NAME]")
        case .some where !kind.isNamed:
            return context.fault(section.line, section.name, nil, "has no name: [\(kind.name)]")
        case let name? where !SectionName.isValid(name: name):
            let message = "a name has 1 to 64 characters and no blank, control character, comma, / or ]"
            return context.fault(section.line, SectionName(kind: kind.name, name: name.shortened), nil, message)
        default: break
        }
        if context.isOwn(section.name, nil, at: section.line) { return }
        if let earlier = context.reopening(section) {
            return context.fault(section.line, section.name, nil, "stands twice; first in line \(earlier)")
        }
        kind.apply(section, &self, &context)
    }

    /// The configuration as one INI file without what is the default, secrets in clear. Reading it gives the same value.
    package var text: String {
        SectionKind.all.map { $0.write(self) }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// What a manual says: every kind of section with its keys.
    package static var manual: [(kind: String, isNamed: Bool, summary: String, keys: [KeyDescription])] {
        SectionKind.all.map { ($0.name, $0.isNamed, $0.summary, $0.keys) }
    }
}
