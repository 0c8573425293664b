/// Where sound is played to or recorded from.
package enum SoundDevice: Hashable, Sendable, CustomStringConvertible {
    /// Any ALSA PCM name, such as `default`, `hw:1,0` or `plughw:CARD=Device`.
    case alsa(String)
    /// A WAV file: played as a microphone, written as a loudspeaker.
    case wav(String)
    /// A sine tone, in hertz (20–20000).
    case tone(hertz: Int)
    case silent

    /// As written in the file: `hw:1,0`, `wav:PATH`, `tone:440`, `silent`.
    package var description: String {
        switch self {
        case .alsa(let name): name
        case .wav(let path): "wav:\(path)"
        case .tone(let hertz): "tone:\(hertz)"
        case .silent: "silent"
        }
    }

    /// Reads the form of `description`; nil for an empty name or path, a tone outside its range, and a pipe: ALSA's
    /// `file` runs what stands after `|` as a command.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        if text == "silent" {
            self = .silent
        } else if let path = text.suffix(after: "wav:") {
            guard !path.isEmpty else { return nil }
            self = .wav(path)
        } else if let number = text.suffix(after: "tone:") {
            guard let hertz = Int(number), (20...20_000).contains(hertz) else { return nil }
            self = .tone(hertz: hertz)
        } else {
            guard !text.utf8.contains(UInt8(ascii: "|")) else { return nil }
            self = .alsa(text)
        }
    }
}
