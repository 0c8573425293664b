/// `[button NAME]`
package struct ButtonSettings: Equatable, Sendable {
    package let name: String
    package var line: LineReference
    /// The level that means pressed.
    package var active = ActiveLevel.low
    package var bias = LineBias.pullUp
    /// Zero: every edge counts.
    package var debounce = Duration.milliseconds(20)
    package var press = Action.nothing
    /// Nil: a press acts as soon as `debounce` is over; else on release before `holdTime`.
    package var hold: Action?
    package var holdTime = Duration.seconds(2)
    /// Overrides `press` while an incoming call rings; nil: does not.
    package var whileRinging: Action?
    /// Overrides `press` while a call is answered; nil: does not.
    package var whileTalking: Action?
    /// Presses that dial are refused then; nil: never.
    package var quiet: ScheduleCondition?
    /// More dials than these are refused; 0: none is.
    package var dialsPerMinute = 0
    /// Pressed for so long it is taken to be stuck: a fault; zero: never.
    package var stuckAfter = Duration.seconds(120)

    package init(name: String, line: LineReference) {
        self.name = name
        self.line = line
    }

    /// Every action that the button can have, with its key.
    package var actions: [(key: String, action: Action)] {
        [("press", press), ("hold", hold), ("while-ringing", whileRinging), ("while-talking", whileTalking)]
            .compactMap { key, action in action.map { (key, $0) } }
    }
}

/// `[led NAME]`
package struct LEDSettings: Equatable, Sendable {
    package let name: String
    package var line: LineReference
    /// The level that means lit.
    package var active = ActiveLevel.high
    /// A phone, a contact or a URI, of which it shows whether it is `idle`, `ringing` or `talking`, instead of what
    /// the appliance does; nil: none.
    package var watch: DialTarget?
    /// What to show for each state that this LED shows; a state without an entry passes to the next.
    package var patterns: [LEDState: LEDPattern] = [:]

    package init(name: String, line: LineReference) {
        self.name = name
        self.line = line
    }
}
