internal import UserAgent

/// Levels and switches that a person has set since the start; a reload keeps them.
struct SoundState {
    /// 0–100.
    var speakerVolume = 100
    var microphoneVolume = 100
    /// nil: as the configuration says.
    var ringerVolume: Int?
    /// Another loudspeaker for as long as a call lasts (`portero speaker`).
    var speaker: String?
}
