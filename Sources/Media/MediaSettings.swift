package import Audio

/// `[audio]` and `[ringer]` as the engine uses them.
package struct MediaSettings: Equatable, Sendable {
    package var speaker: DeviceName
    package var microphone: DeviceName
    /// Nil: the speaker rings.
    package var ringer: DeviceName?
    /// Sample rate to ask of cards, Hz; nil: that of the call.
    package var rate: Int?
    /// Time between two interrupts of a card.
    package var period: Duration
    /// Duck the microphone while the far side talks.
    package var halfDuplex: Bool
    /// Whose tones are played: `eu`, `us`, …
    package var tones: String

    package init(
        speaker: DeviceName = .silent, microphone: DeviceName = .silent, ringer: DeviceName? = nil, rate: Int? = nil,
        period: Duration = .milliseconds(10), halfDuplex: Bool = false, tones: String = "eu"
    ) {
        self.speaker = speaker
        self.microphone = microphone
        self.ringer = ringer
        self.rate = rate
        self.period = period
        self.halfDuplex = halfDuplex
        self.tones = tones
    }
}

/// An incoming call's ring.
package struct Ring: Equatable, Sendable {
    /// A sound file; nil: the built-in ring, also if the file cannot be used.
    package var sound: String?
    /// Instead of the settings' ringer.
    package var device: DeviceName?
    /// 0…100.
    package var volume: Int
    /// From the start of one ring to the start of the next.
    package var every: Duration

    package init(
        sound: String? = nil, device: DeviceName? = nil, volume: Int = 80, every: Duration = .seconds(4)
    ) {
        self.sound = sound
        self.device = device
        self.volume = volume
        self.every = every
    }
}

/// How one call is treated beyond what its peer negotiated.
package struct CallOptions: Equatable, Sendable {
    /// 0…10: quality against processor time.
    package var opusComplexity: Int
    /// Listen for digits in the voice if telephone-event was not negotiated (I3).
    package var hearsInBandDigits: Bool
    /// Answered by itself: a beep is played and the microphone opens half a second later (I2).
    package var autoAnswered: Bool

    package init(opusComplexity: Int = 5, hearsInBandDigits: Bool = true, autoAnswered: Bool = false) {
        self.opusComplexity = opusComplexity
        self.hearsInBandDigits = hearsInBandDigits
        self.autoAnswered = autoAnswered
    }
}
