/// A way to a property that any thread may take.
typealias Path<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

/// One key of a section: how it is read, where its value goes, what a manual says about it.
struct Key<Settings: Sendable>: Sendable {
    let name: String
    /// The form of the value in words.
    let form: String
    /// One line for the manual.
    let summary: String
    /// It may stand more than once; every line adds one value.
    var repeats = false
    /// The section makes no sense without it.
    var isRequired = false
    let isText: Bool
    /// Reads the text and puts the value in its place.
    let assign: @Sendable (inout Settings, String) throws(Mismatch) -> Void
    /// Copies the value of other settings: how a default comes back.
    let copy: @Sendable (_ from: Settings, _ to: inout Settings) -> Void
    let differs: @Sendable (Settings, Settings) -> Bool
    /// The lines that would say this value; none if it is absent.
    let lines: @Sendable (Settings) -> [String]

    init<Value>(
        _ name: String, _ path: Path<Settings, Value>, _ form: Form<Value>,
        isRequired: Bool = false, _ summary: String
    ) {
        self.name = name
        self.form = form.summary
        self.summary = summary
        self.isRequired = isRequired
        isText = form.isText
        assign = { (settings: inout Settings, text: String) throws(Mismatch) in
            settings[keyPath: path] = try form.read(text)
        }
        copy = { $1[keyPath: path] = $0[keyPath: path] }
        differs = { $0[keyPath: path] != $1[keyPath: path] }
        lines = { [form.write($0[keyPath: path])].filter { !$0.isEmpty } }
    }

    /// A value that may be absent.
    init<Value>(
        _ name: String, _ path: Path<Settings, Value?>, _ form: Form<Value>, _ summary: String
    ) {
        self.name = name
        self.form = form.summary
        self.summary = summary
        isText = form.isText
        assign = { (settings: inout Settings, text: String) throws(Mismatch) in
            settings[keyPath: path] = try form.read(text)
        }
        copy = { $1[keyPath: path] = $0[keyPath: path] }
        differs = { $0[keyPath: path] != $1[keyPath: path] }
        lines = { $0[keyPath: path].map { [form.write($0)] } ?? [] }
    }

    /// A key of which every line adds one value.
    init<Value>(
        repeated name: String, _ path: Path<Settings, [Value]>, _ form: Form<Value>,
        _ summary: String
    ) {
        self.name = name
        self.form = form.summary
        self.summary = summary
        repeats = true
        isText = form.isText
        assign = { (settings: inout Settings, text: String) throws(Mismatch) in
            settings[keyPath: path].append(try form.read(text))
        }
        copy = { $1[keyPath: path] = $0[keyPath: path] }
        differs = { $0[keyPath: path] != $1[keyPath: path] }
        lines = { $0[keyPath: path].map(form.write) }
    }
}

/// Settings of a kind that stands once, without a name, and makes sense when left out.
protocol Settings: Sendable, Equatable {
    init()
}

/// Settings of a kind of which there are many, each with a name.
protocol NamedSettings: Sendable, Equatable {
    var name: String { get }
    /// Required values are empty until they are read.
    init(name: String)
}

extension DeviceSettings: Settings {}
extension NetworkSettings: Settings {}
extension AudioSettings: Settings {}
extension RingerSettings: Settings {}
extension CallSettings: Settings {}
extension ProvisioningSettings: Settings {}
extension LogSettings: Settings {}

extension AccountSettings: NamedSettings {
    init(name: String) { self.init(name: name, uri: "") }
}
extension ButtonSettings: NamedSettings {
    init(name: String) { self.init(name: name, line: .named("")) }
}
extension LEDSettings: NamedSettings {
    init(name: String) { self.init(name: name, line: .named("")) }
}
extension DoorSettings: NamedSettings {
    init(name: String) { self.init(name: name, relay: .named("")) }
}
extension CodeSettings: NamedSettings {
    init(name: String) { self.init(name: name, door: "") }
}
extension ScheduleSettings: NamedSettings {}
extension ContactSettings: NamedSettings {
    init(name: String) { self.init(name: name, uri: "") }
}
extension GroupSettings: NamedSettings {
    init(name: String) { self.init(name: name, targets: []) }
}
