/// What is asked of a device.
package struct DeviceFormat: Hashable, Sendable {
    /// The engine's rate: samples are taken and given in it.
    package var rateHertz: Int
    /// The rate to ask of a card; what it gives may differ.
    package var cardRateHertz: Int
    /// Time between two interrupts of a card.
    package var period: Duration

    package init(rateHertz: Int, cardRateHertz: Int, period: Duration) {
        self.rateHertz = rateHertz
        self.cardRateHertz = cardRateHertz
        self.period = period
    }
}

/// Opens a speaker or ringer. Blocks: never on the media thread or the loop.
/// - Parameter appending: go on behind the end of an existing recording.
package func openPlayback(
    _ name: DeviceName, _ format: DeviceFormat, appending: Bool
) throws(AudioError) -> any Playback {
    switch name {
    case .alsa(let pcm): try ALSAPlayback(pcm, format)
    case .wav(let path): try Recording(path: path, rateHertz: format.rateHertz, appending: appending)
    case .tone, .silent: SilentPlayback()
    }
}

/// Opens a microphone. Blocks: never on the media thread or the loop.
package func openCapture(_ name: DeviceName, _ format: DeviceFormat) throws(AudioError) -> any Capture {
    switch name {
    case .alsa(let pcm): try ALSACapture(pcm, format)
    case .wav(let path): SoundCapture(try Sound.load(path: path).resampled(to: format.rateHertz))
    case .tone(let hertz): ToneCapture(hertz: hertz, rateHertz: format.rateHertz)
    case .silent: UnclockedCapture()
    }
}
