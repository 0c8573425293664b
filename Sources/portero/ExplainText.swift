import API

/// Why things are as they are, for a person: the accounts, then the last call step by step, then the last one that
/// nobody heard of.
func explainText(_ document: JSON) -> String {
    var lines: [String] = []
    for account in document["accounts"]?.elements ?? [] {
        lines.append("account \(text(account["name"])): \(text(account["text"]))")
    }
    if let call = document["calls"]?.elements.last {
        lines.append(headline(call))
        for step in call["steps"]?.elements ?? [] { lines.append("  \(text(step))") }
        lines.append("  \(text(call["text"]))")
    } else {
        lines.append("no call since the start")
    }
    if let refusal = document["refused"]?.elements.last {
        lines.append("\(text(refusal["time"])) \(text(refusal["text"]))")
    }
    if let dropped = document["dropped"]?.integer, dropped > 0 {
        lines.append("calls of strangers dropped since the start: \(dropped)")
    }
    return lines.map { $0 + "\n" }.joined()
}

/// A line each for the last calls.
func historyText(_ document: JSON) -> String {
    (document["calls"]?.elements ?? []).map { call in "\(headline(call)): \(text(call["text"]))\n" }.joined()
}

private func headline(_ call: JSON) -> String {
    var words = ["\(text(call["since"])) call \(text(call["id"]))"]
    words.append(call["direction"] == .string("incoming") ? "of" : "to")
    words.append(text(call["remote"]))
    if let group = call["group"] { words.append("(group \(text(group)))") }
    if let account = call["account"] { words.append("account \(text(account))") }
    return words.joined(separator: " ")
}

private func text(_ value: JSON?) -> String { printable(value?.string ?? "") }
