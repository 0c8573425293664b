package import Configuration
package import Primitives
package import UserAgent

/// The door station's logic: what buttons, calls, digits and requests lead to. A core: it owns no line, no socket and
/// no clock.
package struct Intercom {
    var configuration: Configuration
    let numbering: CallNumbering
    let hashes: Hashes

    var buttons: [Button] = []
    var lights: [Light] = []
    var doors: [Door] = []
    var calls: [CallKey: Leg] = [:]
    var attempts: [Int: DialAttempt] = [:]
    var nextAttempt = 1
    var accountStates: [String: AccountStatus.State] = [:]
    var hasFault = false
    /// Accounts with a switch, and where it stood last.
    var switches: [String: Bool] = [:]
    /// Watched phones of which something is known.
    var phones: [WatchedPhone: PhoneState] = [:]
    /// Accounts in whose mailboxes messages wait.
    var accountsWithMessages: Set<String> = []
    var lockOut: LockOut
    /// Codes are shut off, as was told last.
    var isLockedOut = false
    /// Every code there is.
    var permits: [Permit] = []
    var keypadEntry = CodeEntry()
    /// How often codes with a count of uses have opened, by name.
    var uses: [String: Int]
    /// Nil: nobody knows the time.
    package private(set) var localTime: LocalTime?
    var tone: (tone: CallTone, until: Instant?)?
    var isRinging = false
    /// Something other than a call rings until then.
    var chimeUntil: Instant?
    /// An answer pressed before its call; until when it counts.
    var armedUntil: Instant?

    package init(
        _ configuration: Configuration, numbering: CallNumbering, hashes: Hashes, lockOut: LockOut = LockOut(),
        uses: [String: Int] = [:], localTime: LocalTime? = nil, at now: Instant
    ) {
        self.configuration = configuration
        self.numbering = numbering
        self.hashes = hashes
        self.lockOut = lockOut
        self.uses = uses
        self.localTime = localTime
        permits = Permit.all(in: configuration)
        isLockedOut = lockOut.isLocked(at: now)
        buttons = configuration.panelButtons.map { Button($0) }
        lights = configuration.leds.map { Light($0, at: now) }
        doors = configuration.doors.map { Door($0) }
        for account in configuration.accounts {
            accountStates[account.name] = account.registersByItself ? .unregistered : .disabled
        }
        showInitialLights(at: now)
    }

    /// When `deadlineReached` is next due; nil while nothing is pending.
    package var deadline: Instant? {
        var deadlines: [Instant?] = [
            tone?.until, chimeUntil, armedUntil, isLockedOut ? lockOut.until : nil, keypadEntry.deadline,
        ]
        deadlines += buttons.map(\.deadline)
        deadlines += lights.map(\.deadline)
        deadlines += doors.map(\.deadline)
        deadlines += calls.values.map(\.deadline)
        deadlines += attempts.values.map(\.deadline)
        return deadlines.compactMap { $0 }.min()
    }

    package mutating func handle(_ input: IntercomInput, at now: Instant, _ out: inout [IntercomOutput]) {
        switch input {
        case .opened(.button(let name), let high): buttonOpened(name, high: high, at: now, &out)
        case .opened(let input, let high): doorOpened(input, high: high, at: now, &out)
        case .level(.button(let name), let high, let time): level(of: name, high, at: time, now, &out)
        case .level(let input, let high, let time): doorEdge(input, high: high, at: time, now, &out)
        case .clock(let time): localTime = time
        case .press(let button, let time): virtualPress(button, for: time, at: now, &out)
        case .account(let status): accountStates[status.name] = status.state
        case .incoming(let call): incoming(call, at: now, &out)
        case .call(let status): changed(status, at: now, &out)
        case .transfer(let status): transferred(status, at: now, &out)
        case .digit(let call, let digit, let source): self.digit(digit, in: call, by: source, at: now, &out)
        case .phone(let phone, let state): phones[phone] = state
        case .messages(let account, let wait):
            if wait { accountsWithMessages.insert(account) } else { accountsWithMessages.remove(account) }
        case .fault(let stands): hasFault = stands
        case .muted(let call, let muted): calls[call]?.isMuted = muted
        case .configure(let configuration): configure(configuration, at: now, &out)
        case .stop: stop(at: now, &out)
        case .deadlineReached: break
        }
        deadlinesReached(at: now, &out)
        followSwitches(&out)
        showLights(at: now, &out)
    }

    private mutating func deadlinesReached(at now: Instant, _ out: inout [IntercomOutput]) {
        buttonDeadlines(at: now, &out)
        doorDeadlines(at: now, &out)
        judgeKeypad(keypadEntry.passed(now), at: now, &out)
        callDeadlines(at: now, &out)
        if let until = chimeUntil, now >= until {
            chimeUntil = nil
            refreshRinging(at: now, &out)
        }
        if let until = armedUntil, now >= until { armedUntil = nil }
        if isLockedOut, !lockOut.isLocked(at: now) {
            isLockedOut = false
            out.append(.event(.codesCount))
        }
        if let until = tone?.until, now >= until { play(nil, at: now, &out) }
    }

    /// The states that hold, for the LEDs.
    var states: Set<LEDState> {
        var states: Set<LEDState> = [.idle]
        for door in doors {
            if door.tamper?.isOn == true { states.insert(.tamper) }
            switch door.sensor?.state {
            case .forced: states.insert(.doorForced)
            case .heldOpen: states.insert(.doorHeldOpen)
            case .open, .closed, nil: break
            }
            if door.isOpen { states.insert(.doorOpen) }
        }
        for leg in calls.values {
            switch leg.state {
            case .talking, .held, .heldByPeer: states.insert(.talking)
            case .incoming: states.insert(.ringing)
            case .dialing, .ringing, .early: states.insert(.calling)
            case .ended: break
            }
        }
        if hasFault { states.insert(.fault) }
        if !accountsWithMessages.isEmpty { states.insert(.messages) }
        let registering = accountStates.values.filter { $0 != .disabled }
        if registering.contains(where: { $0 != .registered }) {
            states.insert(.unregistered)
        } else if !registering.isEmpty {
            states.insert(.registered)
        }
        return states
    }

    private mutating func showInitialLights(at now: Instant) {
        let states = states
        for index in lights.indices { _ = lights[index].show(holding(for: lights[index], states), at: now) }
    }

    private mutating func showLights(at now: Instant, _ out: inout [IntercomOutput]) {
        let states = states
        for index in lights.indices {
            let isNews = lights[index].show(holding(for: lights[index], states), at: now)
            if let deadline = lights[index].deadline, now >= deadline { lights[index].step(at: now) }
            let light = lights[index]
            if light.isLit != light.isSaidLit {
                lights[index].isSaidLit = light.isLit
                out.append(.light(light.settings.name, lit: light.isLit))
            }
            if isNews { out.append(.event(.light(name: light.settings.name, state: light.state))) }
        }
    }

    /// Takes over a new configuration: what did not change keeps its state, calls and open doors go on.
    private mutating func configure(_ new: Configuration, at now: Instant, _ out: inout [IntercomOutput]) {
        for (index, door) in doors.enumerated().reversed()
        where !new.doors.contains(where: { $0.name == door.settings.name }) {
            close(index, by: "reload", at: now, &out)
            clearFaults(of: door, &out)
            doors.remove(at: index)
        }
        for (index, door) in doors.enumerated() {
            guard let settings = new.door(named: door.settings.name) else { continue }
            // Another line takes over at rest.
            if !door.drivesSameLines(as: settings) { close(index, by: "reload", at: now, &out) }
            if door.settings.tamper != settings.tamper || door.settings.exitButton != settings.exitButton {
                clearFaults(of: door, &out)
            }
            doors[index].configure(settings)
        }
        doors = new.doors.map { settings in doors.first { $0.settings.name == settings.name } ?? Door(settings) }
        for button in buttons
        where new.buttons.first(where: { $0.name == button.settings.name })?.line != button.settings.line {
            out.append(.fault("button \(button.settings.name) stuck", nil))
        }
        buttons = new.panelButtons.map { settings in
            guard var button = buttons.first(where: { $0.settings.name == settings.name }),
                button.settings.line == settings.line, button.settings.active == settings.active
            else { return Button(settings) }
            button.configure(settings)
            return button
        }
        lights = new.leds.map { settings in
            guard var light = lights.first(where: { $0.settings.name == settings.name }),
                light.settings.line == settings.line, light.settings.active == settings.active
            else { return Light(settings, at: now) }
            light.configure(settings, at: now)
            return light
        }
        accountsWithMessages.formIntersection(new.accounts.lazy.filter { $0.mwi != .no }.map(\.name))
        let watched = Self.watchedPhones(of: new)
        phones = phones.filter { watched.contains($0.key) }
        accountStates = accountStates.filter { state in new.accounts.contains { $0.name == state.key } }
        for account in new.accounts where accountStates[account.name] == nil {
            accountStates[account.name] = account.registersByItself ? .unregistered : .disabled
        }
        configuration = new
        permits = Permit.all(in: new)
        let counted = uses.filter { name, _ in new.codes.contains { $0.name == name && $0.uses > 0 } }
        if counted != uses {
            uses = counted
            out.append(.keepUses(uses))
        }
    }

    private func clearFaults(of door: Door, _ out: inout [IntercomOutput]) {
        let name = door.settings.name
        if door.tamper?.isOn == true { out.append(.fault("\(InputName.tamper(door: name))", nil)) }
        if door.exitStuck.isStuck { out.append(.fault("\(InputName.exitButton(door: name)) stuck", nil)) }
    }

    /// Everything to rest: relays first.
    private mutating func stop(at now: Instant, _ out: inout [IntercomOutput]) {
        for index in doors.indices { close(index, by: "stop", at: now, &out) }
        if isRinging { out.append(.stopRinging) }
        isRinging = false
        if tone != nil { out.append(.tone(nil)) }
        tone = nil
        attempts = [:]
    }

    // MARK: For the status document

    /// For how long door codes are shut off; nil: they count.
    package func lockedOut(at now: Instant) -> Duration? {
        lockOut.until.flatMap { $0 > now ? $0 - now : nil }
    }

    /// Which schedules hold now.
    package var scheduleStatuses: [(name: String, holds: Bool)] {
        configuration.schedules.map { ($0.name, configuration.holds(ScheduleCondition($0.name), at: localTime)) }
    }

    /// Codes with bounds: how often each may still open; nil: without bound.
    package var codeStatuses: [(name: String, door: String, usesLeft: Int?)] {
        configuration.codes.map { code in
            (code.name, code.door, code.uses == 0 ? nil : max(0, code.uses - uses[code.name, default: 0]))
        }
    }

    package var lightStatuses: [(name: String, line: LineReference, watch: DialTarget?, state: LEDState?, lit: Bool)] {
        lights.map { ($0.settings.name, $0.settings.line, $0.settings.watch, $0.state, $0.isLit) }
    }

    package var buttonStatuses: [(name: String, line: LineReference, pressed: Bool)] {
        buttons.map { ($0.settings.name, $0.settings.line, $0.isPressed) }
    }

    /// No state without a contact, none of the second relay where there is none.
    package var doorStatuses: [(name: String, state: DoorState?, relay: Bool, opener: Bool?, tamper: Bool?)] {
        doors.map { door in
            let opener = door.settings.opener == nil ? nil : door.opener.isOn
            return (door.settings.name, door.sensor?.state, door.isOn, opener, door.tamper?.isOn)
        }
    }

    /// The group that a call is a leg of.
    package func group(of call: CallKey) -> String? {
        calls[call]?.attempt.flatMap { attempts[$0]?.plan.group } ?? calls[call]?.group
    }

    package func isMuted(_ call: CallKey) -> Bool { calls[call]?.isMuted ?? false }
}
