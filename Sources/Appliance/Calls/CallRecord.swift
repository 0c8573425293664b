internal import Primitives
internal import UserAgent

/// What the appliance keeps of a call beside its cores.
struct CallRecord {
    /// Name of its account.
    var account: String
    /// The far side's display name; empty: none.
    var name = ""
    var status: CallStatus?
    /// When the call began, on the wall clock.
    var since: UTCTime?
    /// Since when RTP is expected without a pause: for the media watchdog (MED3).
    var expectsMediaSince: Instant?
    /// Answered by itself: a beep, and the microphone opens half a second later.
    var answersByItself = false
    /// The far side's keys.
    var digits = DigitCollector()
    /// Digits of ours that wait for media.
    var waitingDigits: [UInt8] = []
}
