internal import Configuration
internal import Primitives
internal import UserAgent

/// A door: its relays, and what its inputs tell.
struct Door: Sendable {
    /// How long a finger holds an exit button at most.
    static let stuckExit = Duration.seconds(120)

    private(set) var settings: DoorSettings
    var relay = Relay()
    var opener = Relay()
    /// The second relay follows the first then.
    var openerStartsAt: Instant?
    /// Until then the door may be opened although its relay is at rest.
    var mayOpenUntil: Instant?
    var exit: Contact?
    var exitStuck = StuckWatch(after: Door.stuckExit)
    var sensor: DoorSensor?
    var tamper: Contact?

    init(_ settings: DoorSettings) {
        self.settings = settings
        takeInputs()
    }

    var isOn: Bool { relay.isOn }
    /// As far as is known: nobody can go through a door that is not.
    var isOpen: Bool { relay.isOn || opener.isOn || (sensor?.state ?? .closed) != .closed }

    var deadline: Instant? {
        earliest(
            relay.until, opener.until, openerStartsAt, exit?.deadline, exitStuck.deadline, sensor?.deadline,
            tamper?.deadline)
    }

    func mayOpen(at time: Instant) -> Bool { relay.isOn || mayOpenUntil.map { time <= $0 } ?? false }

    /// Whether the relays are still the ones that were energised.
    func drivesSameLines(as settings: DoorSettings) -> Bool {
        self.settings.outputs.map(\.line) == settings.outputs.map(\.line)
            && self.settings.outputs.map(\.active) == settings.outputs.map(\.active)
    }

    mutating func configure(_ settings: DoorSettings) {
        self.settings = settings
        takeInputs()
    }

    private mutating func takeInputs() {
        func contact(_ known: Contact?, _ line: LineReference?, _ active: ActiveLevel) -> Contact? {
            line.map { known?.carried(to: $0, active, settings.filter) ?? Contact($0, active, settings.filter) }
        }
        exit = contact(exit, settings.exitButton, settings.exitActive)
        tamper = contact(tamper, settings.tamper, settings.tamperActive)
        if let contact = contact(sensor?.contact, settings.sensor, settings.sensorActive) {
            if sensor?.contact.line != contact.line || sensor?.contact.active != contact.active {
                sensor = DoorSensor(contact, heldOpenAfter: settings.heldOpen)
            }
            sensor?.contact = contact
            sensor?.heldOpenAfter = settings.heldOpen
        } else {
            sensor = nil
        }
    }
}

extension Intercom {
    /// Pulses a door's relay, or switches it over (`mode`).
    mutating func open(
        _ name: String, by who: String, at now: Instant, _ out: inout [IntercomOutput]
    ) throws(IntercomRefusal) {
        guard let index = doors.firstIndex(where: { $0.settings.name == name }) else {
            throw .unknown("no door named \(name)")
        }
        let settings = doors[index].settings
        if settings.mode == .toggle, doors[index].isOn { return close(index, by: who, at: now, &out) }
        for other in doors
        where other.isOpen && other.settings.name != name
            && (settings.interlock.contains(other.settings.name) || other.settings.interlock.contains(name))
        {
            throw .impossible("door \(name): door \(other.settings.name) is open (interlock)")
        }
        let time = settings.mode == .toggle ? settings.onLimit : settings.openTime
        let wasAtRest = doors[index].relay.energise(for: time, limit: settings.onLimit, at: now)
        if wasAtRest { out.append(.relay(door: name, .relay, on: true)) }
        if settings.opener != nil, doors[index].openerStartsAt == nil, !doors[index].opener.isOn {
            doors[index].openerStartsAt = wasAtRest ? now + settings.openerDelay : now
        }
        doors[index].sensor?.relay(isOn: true, at: now)
        tell(index, by: who, &out)
        out.append(.note(IntercomNote(level: .notice, text: "door \(name): opened by \(who)")))
    }

    /// Both relays of a door to rest.
    mutating func close(_ index: Int, by who: String, at now: Instant, _ out: inout [IntercomOutput]) {
        let name = doors[index].settings.name
        doors[index].openerStartsAt = nil
        if doors[index].opener.rest() { out.append(.relay(door: name, .opener, on: false)) }
        guard doors[index].relay.rest() else { return }
        out.append(.relay(door: name, .relay, on: false))
        doors[index].mayOpenUntil = now + DoorSensor.grace
        doors[index].sensor?.relay(isOn: false, at: now)
        if doors[index].sensor == nil { endCalls(with: name, at: now) }
        tell(index, by: who, &out)
    }

    /// The state of a door: its contact's, else its relay's.
    private func tell(_ index: Int, by who: String, _ out: inout [IntercomOutput]) {
        let door = doors[index]
        let state = door.settings.sensor == nil ? (door.isOn ? .open : .closed) : door.sensor?.state
        out.append(.event(.door(name: door.settings.name, state, relay: door.isOn, by: who)))
    }

    // MARK: Inputs

    /// A line was taken: how it is then is no press and no break-in.
    mutating func doorOpened(_ input: InputName, high: Bool, at now: Instant, _ out: inout [IntercomOutput]) {
        guard let index = doors.firstIndex(where: { $0.settings.name == input.name }) else { return }
        switch input {
        case .button: break
        case .exitButton:
            doors[index].exit?.opened(high: high)
            watchExit(index, doors[index].exit?.isOn == true, at: now, &out)
        case .sensor:
            let before = doors[index].sensor?.state
            doors[index].sensor?.opened(high: high, at: now)
            if doors[index].sensor?.state != before { tell(index, by: "sensor", &out) }
        case .tamper:
            doors[index].tamper?.opened(high: high)
            tellTamper(index, &out)
        }
    }

    mutating func doorEdge(
        _ input: InputName, high: Bool, at time: Instant, _ now: Instant, _ out: inout [IntercomOutput]
    ) {
        guard let index = doors.firstIndex(where: { $0.settings.name == input.name }) else { return }
        switch input {
        case .button: break
        case .exitButton: exit(index, doors[index].exit?.edge(high: high, at: time) ?? [], at: now, &out)
        case .sensor: sensed(index, doors[index].sensor?.contact.edge(high: high, at: time) ?? [], at: now, &out)
        case .tamper:
            for change in doors[index].tamper?.edge(high: high, at: time) ?? [] {
                tamper(index, change.isOn, at: now, &out)
            }
        }
    }

    mutating func doorDeadlines(at now: Instant, _ out: inout [IntercomOutput]) {
        for index in doors.indices {
            let settings = doors[index].settings
            if let until = doors[index].relay.until, now >= until { close(index, by: "time", at: now, &out) }
            if let until = doors[index].opener.until, now >= until, doors[index].opener.rest() {
                out.append(.relay(door: settings.name, .opener, on: false))
            }
            if let start = doors[index].openerStartsAt, now >= start {
                doors[index].openerStartsAt = nil
                if doors[index].opener.energise(for: settings.openerTime, limit: settings.onLimit, at: now) {
                    out.append(.relay(door: settings.name, .opener, on: true))
                }
            }
            exit(index, doors[index].exit?.passed(now) ?? [], at: now, &out)
            if doors[index].exitStuck.passed(now) { tellStuck(.exitButton(door: settings.name), Door.stuckExit, &out) }
            sensed(index, doors[index].sensor?.contact.passed(now) ?? [], at: now, &out)
            if doors[index].sensor?.passed(now) == true {
                tell(index, by: "sensor", &out)
                react(settings.onHeldOpen, of: settings.name, at: now, &out)
            }
            for change in doors[index].tamper?.passed(now) ?? [] { tamper(index, change.isOn, at: now, &out) }
        }
    }

    private mutating func exit(
        _ index: Int, _ changes: [(isOn: Bool, at: Instant)], at now: Instant, _ out: inout [IntercomOutput]
    ) {
        for change in changes {
            watchExit(index, change.isOn, at: change.at, &out)
            guard change.isOn else { continue }
            do throws(IntercomRefusal) {
                try open(doors[index].settings.name, by: "exit button", at: now, &out)
            } catch {
                note(.notice, nil, "exit button: \(error)", &out)
            }
        }
    }

    private mutating func watchExit(_ index: Int, _ on: Bool, at time: Instant, _ out: inout [IntercomOutput]) {
        guard doors[index].exitStuck.change(to: on, at: time) else { return }
        out.append(.fault("\(InputName.exitButton(door: doors[index].settings.name)) stuck", nil))
    }

    func tellStuck(_ input: InputName, _ time: Duration, _ out: inout [IntercomOutput]) {
        out.append(.fault("\(input) stuck", "pressed for \(Int(time.inSeconds)) s"))
    }

    private mutating func sensed(
        _ index: Int, _ changes: [(isOn: Bool, at: Instant)], at now: Instant, _ out: inout [IntercomOutput]
    ) {
        let door = doors[index]
        for state in doors[index].sensor?.changed(changes, mayOpen: { door.mayOpen(at: $0) }) ?? [] {
            // Through once: whoever opens it again needs leave again.
            if state == .closed {
                doors[index].mayOpenUntil = nil
                endCalls(with: door.settings.name, at: now)
            }
            if state == .open, door.isOn { doors[index].sensor?.relay(isOn: true, at: now) }
            tell(index, by: "sensor", &out)
            guard state == .forced else { continue }
            note(.warning, nil, "door \(door.settings.name): opened unbidden", &out)
            react(door.settings.onForced, of: door.settings.name, at: now, &out)
        }
    }

    private func tellTamper(_ index: Int, _ out: inout [IntercomOutput]) {
        let what = "\(InputName.tamper(door: doors[index].settings.name))"
        out.append(.fault(what, doors[index].tamper?.isOn == true ? "somebody is at the box" : nil))
    }

    private mutating func tamper(_ index: Int, _ on: Bool, at now: Instant, _ out: inout [IntercomOutput]) {
        let settings = doors[index].settings
        tellTamper(index, &out)
        if on { react(settings.onTamper, of: settings.name, at: now, &out) }
    }

    private mutating func react(
        _ actions: [Action], of door: String, at now: Instant, _ out: inout [IntercomOutput]
    ) {
        for action in actions { perform(action, by: "door \(door)", ofButton: nil, at: now, &out) }
    }
}
