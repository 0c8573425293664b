/// What a `speaker`, `microphone` or `device` key of the configuration names.
package enum DeviceName: Hashable, Sendable, CustomStringConvertible {
    /// An ALSA PCM by its name: `default`, `hw:CARD=Speaker,DEV=0`, `plughw:1,0`.
    case alsa(String)
    /// A file: as a microphone it is heard once from its beginning, then silence; as a speaker it records all that is
    /// played, as 16-bit mono at ``Recording/rateHertz``.
    case wav(path: String)
    /// A sine wave as a microphone, 20…20 000 Hz; as a speaker nobody hears it.
    case tone(hertz: Int)
    /// A microphone in a silent room, a speaker that nobody hears.
    case silent

    /// Nil for an empty name, `wav:` without a path, `tone:` without a frequency in its range, and a pipe: ALSA's `file`
    /// runs what stands after `|` as a command.
    package init?(_ text: some StringProtocol) {
        if text.isEmpty { return nil }
        if text == "silent" {
            self = .silent
        } else if text.hasPrefix("wav:") {
            let path = text.dropFirst(4)
            if path.isEmpty { return nil }
            self = .wav(path: String(path))
        } else if text.hasPrefix("tone:") {
            guard let hertz = Int(text.dropFirst(5)), (20...20_000).contains(hertz) else { return nil }
            self = .tone(hertz: hertz)
        } else {
            if text.utf8.contains(UInt8(ascii: "|")) { return nil }
            self = .alsa(String(text))
        }
    }

    package var description: String {
        switch self {
        case .alsa(let name): name
        case .wav(let path): "wav:" + path
        case .tone(let hertz): "tone:\(hertz)"
        case .silent: "silent"
        }
    }
}
