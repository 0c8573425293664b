/// `[audio]`
package struct AudioSettings: Equatable, Sendable {
    package var speaker = SoundDevice.alsa("default")
    package var microphone = SoundDevice.alsa("default")
    /// Hertz, 8000–192000; nil: the device's choice.
    package var rate: Int?
    /// 2–60 ms.
    package var period = Duration.milliseconds(10)
    /// Ducks the microphone while the far side talks.
    package var halfDuplex = false

    package init() {}
}

/// `[ringer]`
package struct RingerSettings: Equatable, Sendable {
    /// Nil: the speaker.
    package var device: SoundDevice?
    /// Path of a WAV file; nil: the built-in ring.
    package var sound: String?
    /// 0–100.
    package var volume = 80
    /// From the start of one ring to the start of the next.
    package var repeatEvery = Duration.seconds(4)

    package init() {}
}
