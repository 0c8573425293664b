internal import Audio
internal import GPIO
internal import Network

/// What this board has, and a configuration to start from (`portero probe`).
package enum Probe {
    package static func text() -> String {
        var lines = ["# What this board has"]
        let found = Board.current()
        lines.append("# GPIO lines:")
        for line in found.lines {
            let name = line.name.isEmpty ? "(no name)" : line.name
            let use = line.isUsed ? ", used\(line.consumer.isEmpty ? "" : " by \(line.consumer)")" : ""
            lines.append("#   \(name)  \(line.label):\(line.offset)\(line.isOutput ? ", output" : "")\(use)")
        }
        for (_, problem) in found.refused.sorted(by: { $0.key < $1.key }) { lines.append("#   \(problem)") }
        if found.lines.isEmpty { lines.append("#   none: use sim:NAME lines") }
        lines.append("# Sound devices:")
        let cards = SoundCard.all()
        for card in cards {
            let ways = [card.plays ? "playback" : nil, card.records ? "capture" : nil].compactMap { $0 }
            lines.append("#   \(card.name)  \(ways.joined(separator: " and ")), \(card.description)")
        }
        if cards.isEmpty { lines.append("#   none: use silent, tone:HZ or wav:PATH") }
        lines.append("# Addresses:")
        let addresses = (try? NetworkState.current())?.sources ?? []
        for address in addresses { lines.append("#   \(address)") }
        if addresses.isEmpty { lines.append("#   none") }

        func device(_ wanted: (SoundCard) -> Bool) -> String {
            cards.first { $0.name != "default" && wanted($0) }?.name ?? "silent"
        }
        func line(_ name: String, output: Bool, _ used: inout Set<String>) -> String {
            let free = found.lines.first {
                !$0.isUsed && !$0.name.isEmpty && $0.name.uppercased().hasPrefix("GPIO") && !used.contains($0.name)
            }
            guard let free else { return "sim:\(name)" }
            used.insert(free.name)
            return free.name
        }
        var used: Set<String> = []
        lines.append(
            """

            [device]
            name = Front door

            [account house]
            # Change these three to the account that your PBX or provider gave you.
            uri = sip:frontdoor@192.0.2.1
            password = change-me
            auto-answer = never

            [audio]
            speaker = \(device(\.plays))
            microphone = \(device(\.records))

            [contact indoor]
            uri = sip:100@192.0.2.1

            [button bell]
            line = \(line("bell", output: false, &used))
            press = dial indoor
            while-talking = hangup

            [led status]
            line = \(line("status", output: true, &used))
            registered = on
            unregistered = blink
            calling = pulse
            ringing = fast
            talking = on

            """)
        return lines.joined(separator: "\n")
    }
}
