/// What is known while files are read: where everything stands, and what is wrong with it.
struct SectionContext {
    /// Where something stands.
    struct Place: Equatable, Comparable {
        let file: Int
        let line: Int

        static func < (left: Place, right: Place) -> Bool { (left.file, left.line) < (right.file, right.line) }
    }

    /// No file of any use has more faults; what comes after is noise.
    static let maximumFindings = 200

    private let files: [ConfigurationFile]
    /// The file that is being read.
    private var file = 0
    private var indices: [SectionName: Int] = [:]
    private var headers: [SectionName: Place] = [:]
    private var places: [SectionName: [String: Place]] = [:]
    private var openedInFile: [SectionName: Int] = [:]
    private var required: [SectionName: [String]] = [:]
    private(set) var order: [SectionName] = []
    private var faultList: [(Place, ConfigurationFault)] = []
    private var warningList: [(Place, ConfigurationFault)] = []

    init(_ files: [ConfigurationFile]) { self.files = files }

    mutating func begin(file index: Int) {
        file = index
        openedInFile = [:]
    }

    /// The line in this file where the section was opened before, if it was.
    mutating func reopening(_ section: INI.Section) -> Int? {
        if let line = openedInFile[section.name] { return line }
        openedInFile[section.name] = section.line
        return nil
    }

    func index(of section: SectionName) -> Int? { indices[section] }
    mutating func remember(_ section: SectionName, at index: Int) { indices[section] = index }

    mutating func open(_ section: INI.Section, required keys: [String]) {
        guard headers[section.name] == nil else { return }
        headers[section.name] = Place(file: file, line: section.line)
        required[section.name] = keys
        order.append(section.name)
    }

    mutating func place(_ section: SectionName, _ key: String, at line: Int?) {
        places[section, default: [:]][key] = line.map { Place(file: file, line: $0) }
    }

    /// Where a key stands, else its section.
    func place(of section: SectionName, _ key: String?) -> Place {
        key.flatMap { places[section]?[$0] } ?? headers[section] ?? Place(file: 0, line: 1)
    }

    func isSet(_ section: SectionName, _ key: String) -> Bool { places[section]?[key] != nil }

    func missingKeys(of section: SectionName) -> [String] {
        (required[section] ?? []).filter { !isSet(section, $0) }
    }

    /// Whether a provisioned file speaks of what stays the device's own; warns if so.
    mutating func isOwn(_ section: SectionName, _ key: String?, at line: Int) -> Bool {
        guard files[file].isProvisioned,
            section.kind == "provisioning"
                || (section.kind == "device" && (key == "socket" || key == "state-directory"))
        else { return false }
        warn(Place(file: file, line: line), section, key, "ignored in a provisioned file: it stays the device's own")
        return true
    }

    mutating func fault(_ line: Int, _ section: SectionName?, _ key: String?, _ message: @autoclosure () -> String) {
        fault(Place(file: file, line: line), section, key, message())
    }

    /// The message, and the search for a near name in it, is made only for a fault that is kept.
    mutating func fault(
        _ place: Place, _ section: SectionName?, _ key: String?, _ message: @autoclosure () -> String
    ) {
        if faultList.count == Self.maximumFindings {
            faultList.append((place, finding(place, nil, nil, "too many faults; the rest is not shown")))
        } else if faultList.count < Self.maximumFindings {
            faultList.append((place, finding(place, section, key, message())))
        }
    }

    mutating func warn(_ place: Place, _ section: SectionName?, _ key: String?, _ message: String) {
        guard warningList.count < Self.maximumFindings else { return }
        warningList.append((place, finding(place, section, key, message)))
    }

    private func finding(_ place: Place, _ section: SectionName?, _ key: String?, _ message: String)
        -> ConfigurationFault
    {
        ConfigurationFault(
            file: place.file < files.count ? files[place.file].name : "", line: place.line,
            section: section?.description, key: key, message: message)
    }

    var faults: [ConfigurationFault] { Self.sorted(faultList) }
    var warnings: [ConfigurationFault] { Self.sorted(warningList) }

    private static func sorted(_ list: [(Place, ConfigurationFault)]) -> [ConfigurationFault] {
        list.enumerated().sorted { left, right in
            (left.element.0, left.offset) < (right.element.0, right.offset)
        }.map(\.element.1)
    }
}
