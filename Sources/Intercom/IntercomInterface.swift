package import Configuration
package import Primitives
package import SIP
package import UserAgent

/// What happens to the door station: lines, calls, digits, requests, time.
package enum IntercomInput: Sendable {
    /// A line was taken and has this level: at start, and when it is there again.
    case opened(InputName, high: Bool)
    /// A line has this level since `time` (the kernel's stamp).
    case level(InputName, high: Bool, at: Instant)
    /// The time that a clock on the wall shows, at start, at each new minute and when the clock was set; nil: nobody
    /// knows it.
    case clock(LocalTime?)
    /// A press by program: the same way as a finger's, debounce included.
    case press(button: String, for: Duration)
    case account(AccountStatus)
    case incoming(IncomingCall)
    case call(CallStatus)
    case transfer(TransferStatus)
    /// A digit of the far side, in a confirmed call.
    case digit(CallKey, digit: UInt8, by: DigitSource)
    /// What a watched phone does; nil: nobody knows.
    case phone(WatchedPhone, PhoneState?)
    /// Whether messages wait in the mailbox of an account.
    case messages(account: String, Bool)
    /// Whether any fault stands, for the LEDs.
    case fault(Bool)
    case muted(CallKey, Bool)
    case configure(Configuration)
    case stop
    case deadlineReached
}

/// An input line, by what it is for.
package enum InputName: Hashable, Sendable, CustomStringConvertible {
    case button(String)
    case exitButton(door: String)
    case sensor(door: String)
    case tamper(door: String)

    /// The button's, or the door's.
    package var name: String {
        switch self {
        case .button(let name), .exitButton(let name), .sensor(let name), .tamper(let name): name
        }
    }

    /// As faults name it.
    package var description: String {
        switch self {
        case .button(let name): "button \(name)"
        case .exitButton(let door): "door \(door) exit-button"
        case .sensor(let door): "door \(door) sensor"
        case .tamper(let door): "door \(door) tamper"
        }
    }
}

/// Which relay of a door.
package enum RelayRole: String, Equatable, Sendable { case relay, opener }

/// How a digit came.
package enum DigitSource: String, Equatable, Sendable { case rfc4733, info }

/// What the door station does: lines, calls, sound, what is kept and told.
package enum IntercomOutput: Sendable {
    case light(String, lit: Bool)
    case relay(door: String, RelayRole, on: Bool)
    case dial(DialOrder)
    /// Their side hears that ours rings.
    case ring(CallKey)
    /// `byItself`: with a beep and half a second of muted microphone (I2).
    case answer(CallKey, byItself: Bool)
    case reject(CallKey, code: Int)
    /// The caller is sent to this URI instead.
    case redirect(CallKey, to: SIPURI)
    /// The account's switch is on or off: it registers, or its registration is taken away.
    case register(account: String, Bool)
    case hangUp(CallKey, HangUpReason)
    case hold(CallKey)
    case resume(CallKey)
    case transfer(CallKey, UserAgent.TransferTarget)
    case mute(CallKey, Bool)
    /// The ringer rings, for a call to this account if there is one.
    case startRinging(account: String?)
    case stopRinging
    /// On the speaker; nil: silence.
    case tone(CallTone?)
    /// A step of the speaker's volume.
    case volume(Int)
    /// A thing is wrong, or nil: is not any more.
    case fault(String, String?)
    /// Keep this over a restart.
    case keep(LockOut)
    /// How often codes with a count of uses have opened, by name: keep this over a restart.
    case keepUses([String: Int])
    case event(IntercomEvent)
    case note(IntercomNote)
}

/// What the speaker plays beside voices.
package enum CallTone: String, Equatable, Sendable {
    case ringback, busy, congestion, ended, waiting
    /// The call is about to end by its limit.
    case warning
}

/// What those who follow the events are told (INTERFACE section 5).
package enum IntercomEvent: Equatable, Sendable {
    /// `refused`: why the dial that it asks for is not made, `quiet` or `too-many`.
    case button(name: String, action: PressDetector.Gesture, refused: String?)
    case light(name: String, state: LEDState?)
    /// The state is the contact's, without one the relay's; nil: the contact has not told yet. `by`: `dtmf`,
    /// `button NAME`, `exit button`, `command`, `time`, `sensor`; for a code with a name, `dtmf NAME`.
    case door(name: String, DoorState?, relay: Bool, by: String)
    /// No digit in a call that may open a door.
    case digit(CallKey, digit: UInt8?, by: DigitSource)
    /// Door codes are shut off for so long.
    case lockedOut(Duration)
    /// Door codes count again.
    case codesCount
}

/// For the log: what was decided or survived, and why.
package struct IntercomNote: Equatable, Sendable {
    package enum Level: Sendable { case warning, notice, info }
    package var level: Level
    package var call: CallKey?
    package var text: String
}

/// What a person or program asks for; answered at once.
package enum IntercomRequest: Equatable, Sendable {
    case dial(target: DialTarget, headers: [HeaderField])
    case answer(CallKey?)
    case reject(CallKey?, code: Int)
    case hangUp(CallKey?)
    case hold(CallKey?)
    case resume(CallKey?)
    case mute(CallKey?, Bool)
    /// To a contact, a URI, or the id of another call.
    case transfer(CallKey?, to: String)
    case open(door: String)
}

/// Why a request is not carried out.
package enum IntercomRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    case unknown(String)
    case impossible(String)

    package var description: String {
        switch self {
        case .unknown(let text), .impossible(let text): text
        }
    }
}
