internal import Configuration
internal import Primitives
internal import SIP
internal import UserAgent

/// A call as the door sees it.
struct Leg: Sendable {
    let call: CallKey
    let direction: CallStatus.Direction
    let account: String
    var remote: SIPURI
    var state: CallStatus.State
    let since: Instant
    /// The dial that it is part of.
    var attempt: Int?
    var group: String?
    var answeredAt: Instant?
    /// Answer by itself then.
    var answersAt: Instant?
    /// It rings here until then.
    var ringsUntil: Instant?
    /// It may talk until then.
    var talksUntil: Instant?
    /// The call that it takes the place of once it is answered.
    var succeeds: CallKey?
    /// A tone tells then that it ends soon.
    var warnsAt: Instant?
    /// It ends then, after a code of it has opened a door.
    var endsAt: Instant?
    /// It ends once this door is shut again.
    var endsWithDoor: String?
    /// Its second ringing is a tone on the speaker.
    var isWaiting = false
    var isMuted = false
    /// We have hung it up, or refused it, and wait for its end.
    var isEnding = false
    var entry = CodeEntry()

    var isAnswered: Bool { state == .talking || state == .held || state == .heldByPeer }
    var deadline: Instant? {
        isEnding ? nil : earliest(answersAt, ringsUntil, warnsAt, talksUntil, endsAt, entry.deadline)
    }
    var host: String { remote.host?.description ?? "" }
}

/// A dial under way: its plan, the stage that rings now, and the phones of it.
struct DialAttempt: Sendable {
    let number: Int
    let plan: DialPlan
    let headers: [HeaderField]
    var stage = -1
    var legs: [CallKey] = []
    /// The stage is over then.
    var stageEnds: Instant?
    /// The phone that answered.
    var winner: CallKey?
    /// How the last phone failed, for the tone at the end.
    var lastCause: String?

    var deadline: Instant? { winner == nil ? stageEnds : nil }
}
