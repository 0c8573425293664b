import API

/// The status document for a person: a line each for what there is.
func statusText(_ status: JSON) -> String {
    var lines: [String] = []
    func text(_ value: JSON?) -> String {
        switch value {
        case .string(let text): printable(text)
        case .integer(let number): String(number)
        case .number(let number): String((number * 10).rounded() / 10)
        case .bool(let value): value ? "yes" : "no"
        default: ""
        }
    }
    func joined(_ parts: [String?]) -> String { parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ") }
    func labelled(_ label: String, _ value: JSON?, _ unit: String = "") -> String? {
        value.map { "\(label) \(text($0))\(unit)" }
    }

    if let device = status["device"] {
        let configuration = device["configuration"]
        lines.append(
            joined([
                text(device["name"]), "Portero \(text(device["version"]))", labelled("up", device["uptime"], " s"),
                "configuration \(text(configuration?["state"])) \(text(configuration?["file"]))",
            ]))
    }
    if let network = status["network"] {
        let addresses = network["addresses"]?.elements.map { text($0) }.joined(separator: " ") ?? ""
        lines.append(joined(["network \(text(network["state"]))", addresses, labelled("changes", network["changes"])]))
    }
    for account in status["accounts"]?.elements ?? [] {
        lines.append(
            joined([
                "account \(text(account["name"])): \(text(account["state"]))", text(account["uri"]),
                account["code"].map { "last answer \(text($0)) \(text(account["reason"]))" },
                labelled("expires in", account["expires-in"], " s"),
                labelled("next attempt in", account["next-attempt-in"], " s"),
            ]))
    }
    for call in status["calls"]?.elements ?? [] {
        let rtp = call["rtp"]
        lines.append(
            joined([
                "call \(text(call["id"])): \(text(call["state"]))", text(call["direction"]), text(call["remote"]),
                "account \(text(call["account"]))", call["codec"].map { text($0) },
                labelled("duration", call["duration"], " s"),
                rtp.map { "sent \(text($0["sent"])) received \(text($0["received"])) lost \(text($0["lost"]))" },
                labelled("MOS", rtp?["mos"]),
                labelled("hold", call["hold"].flatMap { $0 == .string("none") ? nil : $0 }),
                call["muted"] == .bool(true) ? "muted" : nil,
            ]))
    }
    for button in status["buttons"]?.elements ?? [] {
        let state = button["pressed"] == .bool(true) ? "pressed" : "released"
        lines.append("button \(text(button["name"])): \(state), \(text(button["line"]))")
    }
    for led in status["leds"]?.elements ?? [] {
        let light = led["lit"] == .bool(true) ? "lit" : "dark"
        lines.append("led \(text(led["name"])): \(text(led["state"])), \(light), \(text(led["line"]))")
    }
    for door in status["doors"]?.elements ?? [] {
        lines.append(
            joined([
                "door \(text(door["name"])): relay \(door["relay"] == .bool(true) ? "on" : "at rest")",
                door["state"].map(text),
                door["tamper"] == .bool(true) ? "tampered with" : nil,
            ]))
    }
    if let audio = status["audio"] {
        lines.append(
            joined([
                labelled("audio: speaker", audio["speaker"]), labelled("microphone", audio["microphone"]),
                labelled("ringer", audio["ringer"]), labelled("xruns", audio["xruns"]),
            ]))
    }
    for fault in status["faults"]?.elements ?? [] {
        lines.append("fault: \(text(fault["what"])): \(text(fault["message"])) (since \(text(fault["since"])))")
    }
    return lines.map { $0 + "\n" }.joined()
}

/// One event for a person: time, name, then what belongs to it.
func eventText(_ event: JSON) -> String {
    guard case .object(let members) = event else { return "" }
    var parts: [String] = []
    for member in members {
        let value =
            switch member.value {
            case .string(let text): printable(text)
            default: printable(member.value.text)
            }
        parts.append(member.name == "time" || member.name == "event" ? value : "\(member.name)=\(value)")
    }
    return parts.joined(separator: " ") + "\n"
}

/// Control characters, which a caller may have put into a name, as escapes: a terminal must not obey them.
func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
        let isControl = scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
        result += isControl ? "\\u{" + String(scalar.value, radix: 16) + "}" : String(scalar)
    }
    return result
}
