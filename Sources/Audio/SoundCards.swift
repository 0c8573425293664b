import CALSA

/// The sound devices that this machine has, for `portero probe`.
package struct SoundCard: Equatable, Sendable {
    /// As `[audio]` and `[ringer]` name it: `plughw:CARD=Device,DEV=0`.
    package var name: String
    /// One line of the card's own words.
    package var description: String
    package var plays: Bool
    package var records: Bool

    /// Every card's devices by the card's id, which does not change when cards are plugged in another order.
    package static func all() -> [SoundCard] {
        var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        guard snd_device_name_hint(-1, "pcm", &hints) == 0, let list = hints else { return [] }
        defer { snd_device_name_free_hint(list) }
        var cards: [SoundCard] = []
        var place = list
        while let hint = place.pointee, cards.count < 64 {
            func text(_ key: String) -> String? {
                guard let value = snd_device_name_get_hint(hint, key) else { return nil }
                defer { free(value) }
                return String(cString: value)
            }
            if let name = text("NAME"), name.hasPrefix("plughw:") || name == "default" {
                let direction = text("IOID")
                let words = (text("DESC") ?? "").split(separator: "\n").joined(separator: ", ")
                cards.append(
                    SoundCard(
                        name: name, description: words, plays: direction != "Input", records: direction != "Output"))
            }
            place += 1
        }
        return cards
    }
}
