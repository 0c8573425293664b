/// What a button does.
package enum Action: Hashable, Sendable, CustomStringConvertible {
    case dial(DialTarget)
    /// Answers the call that rings here.
    case answer
    /// Ends the call that is dialing, talking or ringing here.
    case hangUp
    case answerOrHangUp
    /// Pulses the relay of the door of this name.
    case open(door: String)
    /// Mutes the microphone, or the reverse.
    case mute
    /// Changes the loudspeaker's volume by so many percent (−100…100, not 0).
    case volume(Int)
    /// A key of the keypad: `0`–`9`, `*`, `#`, `A`–`D`.
    case key(UInt8)
    /// Rings here for ten seconds.
    case ring
    /// `none`
    case nothing

    /// As written in the file.
    package var description: String {
        switch self {
        case .dial(let target): "dial \(target)"
        case .answer: "answer"
        case .hangUp: "hangup"
        case .answerOrHangUp: "answer-or-hangup"
        case .open(let door): "open \(door)"
        case .mute: "mute"
        case .volume(let change): change < 0 ? "volume \(change)" : "volume +\(change)"
        case .key(let digit): "key \(UnicodeScalar(digit))"
        case .ring: "ring"
        case .nothing: "none"
        }
    }
}

/// Whom to call, and through which account if that is said.
package struct DialTarget: Hashable, Sendable, CustomStringConvertible {
    package enum Destination: Hashable, Sendable, CustomStringConvertible {
        /// A contact or a group; they share one set of names.
        case name(String)
        /// A SIP URI, checked in its shape.
        case uri(String)

        package var description: String {
            switch self {
            case .name(let name): name
            case .uri(let uri): uri
            }
        }
    }

    package var destination: Destination
    /// The account named after `via`.
    package var account: String?

    package init(_ destination: Destination, via account: String? = nil) {
        self.destination = destination
        self.account = account
    }

    package var description: String { account.map { "\(destination) via \($0)" } ?? destination.description }
}
