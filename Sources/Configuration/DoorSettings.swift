/// `[door NAME]`
package struct DoorSettings: Equatable, Sendable {
    package let name: String
    package var relay: LineReference
    /// The level that energises the relay.
    package var active = ActiveLevel.high
    package var mode = RelayMode.pulse
    package var openTime = Duration.seconds(5)
    /// No order keeps a relay energised longer; nil: see `onLimit`.
    package var maxOn: Duration?
    /// A second relay, energised after the first: a lock, then its opener. Nil: none.
    package var opener: LineReference?
    package var openerActive = ActiveLevel.high
    /// From the first relay to the second.
    package var openerDelay = Duration.milliseconds(500)
    package var openerTime = Duration.seconds(1)
    /// Doors that must be shut while this one opens, and the reverse.
    package var interlock: [String] = []
    /// Empty: no digits open this door; there is no default code.
    package var codes: [DoorCode] = []
    /// Codes of which only the hash is known.
    package var codeHashes: [DoorCode] = []
    package var codeFrom = CodeFrom.any
    /// Whether buttons with the action `key` may form its codes.
    package var keypad = false
    package var hangUp = HangUpAfterOpening.never
    /// The request to exit; nil: none.
    package var exitButton: LineReference?
    package var exitActive = ActiveLevel.low
    package var exitBias = LineBias.pullUp
    /// The contact that tells whether the door is open; nil: none.
    package var sensor: LineReference?
    /// The level that means open.
    package var sensorActive = ActiveLevel.high
    package var sensorBias = LineBias.pullUp
    /// The contact that tells that somebody is at the box; nil: none.
    package var tamper: LineReference?
    /// The level that means tampered with.
    package var tamperActive = ActiveLevel.high
    package var tamperBias = LineBias.pullUp
    /// Of every input of the door.
    package var filter = InputFilter.stable
    /// Open for so long it is held open; zero: never.
    package var heldOpen = Duration.seconds(60)
    package var onForced: [Action] = []
    package var onHeldOpen: [Action] = []
    package var onTamper: [Action] = []

    package init(name: String, relay: LineReference) {
        self.name = name
        self.relay = relay
    }

    /// No order keeps a relay energised longer: `max-on`, else an hour with `mode = toggle`, else four times `open-time`
    /// (a pulse may be asked for again while it lasts).
    package var onLimit: Duration { maxOn ?? (mode == .toggle ? .seconds(3600) : openTime * 4) }

    /// Every output of the door, with its key.
    package var outputs: [(key: String, line: LineReference, active: ActiveLevel)] {
        [("relay", relay, active)] + (opener.map { [("opener", $0, openerActive)] } ?? [])
    }

    /// Every input of the door, with its key.
    package var inputs: [(key: String, line: LineReference, active: ActiveLevel, bias: LineBias)] {
        [
            exitButton.map { ("exit-button", $0, exitActive, exitBias) },
            sensor.map { ("sensor", $0, sensorActive, sensorBias) },
            tamper.map { ("tamper", $0, tamperActive, tamperBias) },
        ].compactMap { $0 }
    }

    /// What follows from what its inputs tell, with its key.
    package var reactions: [(key: String, actions: [Action])] {
        [("on-forced", onForced), ("on-held-open", onHeldOpen), ("on-tamper", onTamper)]
    }
}

/// What opening a door does to its relay.
package enum RelayMode: String, CaseIterable, Sendable {
    /// Energises it for `open-time`.
    case pulse
    /// Energises it, the next time brings it to rest.
    case toggle
}

/// When the level of an input counts.
package enum InputFilter: String, CaseIterable, Sendable {
    /// Once it has held for 20 ms.
    case stable
    /// At its first edge; what comes in the 20 ms after it counts only if it stays.
    case edge
}

/// When a call ends in which a code opened a door.
package enum HangUpAfterOpening: String, CaseIterable, Sendable {
    case never
    /// Two seconds after it.
    case opened
    /// Once the door is shut again, without a contact once its relay is at rest.
    case closed
}
