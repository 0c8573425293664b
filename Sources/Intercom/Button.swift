internal import Configuration
internal import Primitives
internal import UserAgent

/// A button with what it waits for.
struct Button: Sendable {
    private(set) var settings: ButtonSettings
    private var debouncer: Debouncer
    private var detector: PressDetector
    /// So many presses by program may wait for the one before.
    private static let waitingLimit = 32

    /// A press by program ends then.
    private var virtualRelease: Instant?
    private var waitingPresses: [Duration] = []
    private(set) var stuck: StuckWatch
    /// When it dialled, for `dials-per-minute`.
    private var dials: [Instant] = []
    /// The dial that this button began, and when.
    var attempt: (number: Int, since: Instant)?

    init(_ settings: ButtonSettings) {
        self.settings = settings
        debouncer = Debouncer(period: settings.debounce, level: false)
        stuck = StuckWatch(after: settings.stuckAfter)
        detector = PressDetector(holdTime: settings.hold == nil ? nil : settings.holdTime)
    }

    var isPressed: Bool { detector.isPressed }
    var deadline: Instant? { earliest(debouncer.deadline, detector.deadline, virtualRelease, stuck.deadline) }

    mutating func configure(_ settings: ButtonSettings) {
        self.settings = settings
        debouncer.period = settings.debounce
        detector.holdTime = settings.hold == nil ? nil : settings.holdTime
        stuck.after = settings.stuckAfter
    }

    /// Counts a dial.
    /// - Returns: whether there have not been too many.
    mutating func mayDial(at now: Instant) -> Bool {
        dials.removeAll { now - $0 >= .seconds(60) }
        if settings.dialsPerMinute > 0, dials.count >= settings.dialsPerMinute { return false }
        dials.append(now)
        return true
    }

    /// The line was taken: a button that is pressed then has not been pressed now.
    /// - Returns: whether it had been stuck until now.
    mutating func opened(pressed: Bool, at now: Instant) -> Bool {
        debouncer = Debouncer(period: settings.debounce, level: pressed)
        detector = PressDetector(holdTime: detector.holdTime)
        return stuck.change(to: pressed, at: now)
    }

    /// - Returns: whether it is stuck since now.
    mutating func stuckPassed(_ now: Instant) -> Bool { stuck.passed(now) }

    /// Whether it was stuck and is not any more, for what its line showed.
    mutating func releasedAt(_ time: Instant) -> Bool { stuck.change(to: debouncer.level, at: time) }

    /// The line shows "pressed" or not since `time`.
    mutating func edge(toPressed pressed: Bool, at time: Instant) -> [PressDetector.Gesture] {
        gestures(debouncer.edge(to: pressed, at: time))
    }

    /// What the time alone has brought about.
    mutating func passed(_ now: Instant) -> [PressDetector.Gesture] {
        var gestures = self.gestures(debouncer.settle(at: now))
        if let release = virtualRelease, now >= release {
            virtualRelease = nil
            gestures += edge(toPressed: false, at: release)
            gestures += self.gestures(debouncer.settle(at: now))
        }
        gestures += detector.passed(now)
        if let time = waitingPresses.first, virtualRelease == nil, debouncer.deadline == nil, !debouncer.level {
            waitingPresses.removeFirst()
            gestures += press(for: time, at: now)
        }
        return gestures
    }

    /// A press by program, as a finger's: it begins when the one before has ended and been seen to.
    mutating func press(for time: Duration, at now: Instant) -> [PressDetector.Gesture] {
        guard virtualRelease == nil, debouncer.deadline == nil, !debouncer.level else {
            if waitingPresses.count < Self.waitingLimit { waitingPresses.append(time) }
            return []
        }
        virtualRelease = now + max(time, settings.debounce)
        return edge(toPressed: true, at: now)
    }

    private mutating func gestures(_ changes: [(level: Bool, at: Instant)]) -> [PressDetector.Gesture] {
        changes.flatMap { detector.change(toPressed: $0.level, at: $0.at) }
    }
}

extension Intercom {
    /// How long the action `ring` rings.
    static let chime = Duration.seconds(10)

    mutating func level(of name: String, _ high: Bool, at time: Instant, _ now: Instant, _ out: inout [IntercomOutput])
    {
        guard let index = buttons.firstIndex(where: { $0.settings.name == name }) else { return }
        let pressed = high == (buttons[index].settings.active == .high)
        act(on: buttons[index].edge(toPressed: pressed, at: time), index, at: now, &out)
    }

    mutating func buttonOpened(_ name: String, high: Bool, at now: Instant, _ out: inout [IntercomOutput]) {
        guard let index = buttons.firstIndex(where: { $0.settings.name == name }) else { return }
        let pressed = high == (buttons[index].settings.active == .high)
        if buttons[index].opened(pressed: pressed, at: now) { out.append(.fault("button \(name) stuck", nil)) }
    }

    mutating func virtualPress(_ name: String, for time: Duration, at now: Instant, _ out: inout [IntercomOutput]) {
        guard let index = buttons.firstIndex(where: { $0.settings.name == name }) else { return }
        act(on: buttons[index].press(for: time, at: now), index, at: now, &out)
    }

    mutating func buttonDeadlines(at now: Instant, _ out: inout [IntercomOutput]) {
        for index in buttons.indices {
            if let deadline = buttons[index].deadline, now >= deadline {
                act(on: buttons[index].passed(now), index, at: now, &out)
                if buttons[index].stuckPassed(now) {
                    tellStuck(.button(buttons[index].settings.name), buttons[index].settings.stuckAfter, &out)
                }
            }
        }
    }

    private mutating func act(
        on gestures: [PressDetector.Gesture], _ index: Int, at now: Instant, _ out: inout [IntercomOutput]
    ) {
        let settings = buttons[index].settings
        if buttons[index].releasedAt(now) { out.append(.fault("button \(settings.name) stuck", nil)) }
        let who = "button \(settings.name)"
        for gesture in gestures {
            let action: Action =
                switch gesture {
                case .press: self.action(of: settings)
                case .hold: settings.hold ?? .nothing
                case .release: .nothing
                }
            let refusal = refusal(of: action, index, at: now)
            out.append(.event(.button(name: settings.name, action: gesture, refused: refusal)))
            if let refusal {
                note(.notice, nil, "\(who): \(action) refused: \(refusal)", &out)
                play(.busy, at: now, &out)
            } else {
                perform(action, by: who, ofButton: index, at: now, &out)
            }
        }
    }

    /// Why a dial by this button is refused; nil: it is none, or is not. Its own call may always be ended.
    private mutating func refusal(of action: Action, _ index: Int, at now: Instant) -> String? {
        guard case .dial = action, !hasAttempt(index) else { return nil }
        let settings = buttons[index].settings
        if let quiet = settings.quiet, configuration.holds(quiet, at: localTime) { return "quiet" }
        return buttons[index].mayDial(at: now) ? nil : "too-many"
    }

    private func hasAttempt(_ index: Int) -> Bool { buttons[index].attempt.map { attempts[$0.number] != nil } ?? false }

    /// What a press means now.
    private func action(of settings: ButtonSettings) -> Action {
        if let action = settings.whileRinging, calls.values.contains(where: { $0.state == .incoming }) { return action }
        if let action = settings.whileTalking, calls.values.contains(where: \.isAnswered) { return action }
        return settings.press
    }

    /// - Parameter index: the button that was pressed; nil: something else asks for it.
    mutating func perform(
        _ action: Action, by who: String, ofButton index: Int?, at now: Instant, _ out: inout [IntercomOutput]
    ) {
        do throws(IntercomRefusal) {
            switch action {
            case .nothing: break
            case .dial(let target): try dial(target, byButton: index, at: now, &out)
            case .answer:
                if oldest(where: { $0.state == .incoming }) == nil, configuration.call.answerArm > .zero {
                    armedUntil = armedUntil == nil ? now + configuration.call.answerArm : nil
                } else {
                    _ = try request(.answer(nil), at: now, &out)
                }
            case .hangUp: _ = try request(.hangUp(nil), at: now, &out)
            case .answerOrHangUp:
                let rings = oldest { $0.state == .incoming } != nil
                _ = try request(rings ? .answer(nil) : .hangUp(nil), at: now, &out)
            case .open(let door): try open(door, by: who, at: now, &out)
            case .mute:
                let call = try find(nil, "mute") { $0.isAnswered }
                _ = try request(.mute(call, !isMuted(call)), at: now, &out)
            case .volume(let step): out.append(.volume(step))
            case .key(let digit): keypad(digit, at: now, &out)
            case .ring:
                chimeUntil = now + Self.chime
                refreshRinging(at: now, &out)
            }
        } catch {
            out.append(.note(IntercomNote(level: .info, text: "\(who): \(action): \(error)")))
        }
    }

    /// A second press of the button whose call still goes on ends it; in the first 5 s it changes nothing (I6).
    private mutating func dial(
        _ target: DialTarget, byButton index: Int?, at now: Instant, _ out: inout [IntercomOutput]
    ) throws(IntercomRefusal) {
        guard let index else { return _ = try request(.dial(target: target, headers: []), at: now, &out) }
        if let (number, since) = buttons[index].attempt, attempts[number] != nil {
            if now - since >= .seconds(5) { end(number, .normal, at: now, &out) }
            return
        }
        let number = nextAttempt
        buttons[index].attempt = (number, now)
        _ = try request(.dial(target: target, headers: []), at: now, &out)
    }
}
