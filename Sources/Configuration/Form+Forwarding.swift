import Primitives

extension Form<Forwarding> {
    /// `always URI; busy URI; no-answer TIME URI`: each at most once.
    static let forwarding = Form(
        "always URI; busy URI; no-answer TIME URI", write: \.text
    ) { (text: String) throws(Mismatch) -> Forwarding in
        let example = "always sip:300@pbx.example.org, busy …, or no-answer 20s …, separated by semicolons"
        var forwarding = Forwarding()
        for rule in text.rules {
            let words = rule.words
            let uri = try Form<String>.uri(user: true).read(words.last ?? "")
            switch (words.first, words.count) {
            case ("always", 2) where forwarding.always == nil: forwarding.always = uri
            case ("busy", 2) where forwarding.busy == nil: forwarding.busy = uri
            case ("no-answer", 3) where forwarding.noAnswer == nil:
                let range = Duration.seconds(1) ... .seconds(3600)
                let time = try Form<Duration>.duration(range, example: "20s").read(words[1])
                forwarding.noAnswer = Forwarding.NoAnswer(after: time, uri: uri)
            default: throw .expected(example, found: rule)
            }
        }
        return forwarding
    }
}

extension Forwarding {
    fileprivate var text: String {
        var rules: [String] = []
        if let always { rules.append("always <\(always)>") }
        if let busy { rules.append("busy <\(busy)>") }
        if let noAnswer { rules.append("no-answer \(noAnswer.after.unitText) <\(noAnswer.uri)>") }
        return rules.joined(separator: "; ")
    }
}

extension String {
    /// Separated by semicolons outside angle brackets, and trimmed.
    fileprivate var rules: [String] {
        var rules: [[UInt8]] = [[]]
        var isBracketed = false
        for octet in utf8 {
            if octet == UInt8(ascii: "<") { isBracketed = true }
            if octet == UInt8(ascii: ">") { isBracketed = false }
            if octet == UInt8(ascii: ";"), !isBracketed {
                rules.append([])
            } else {
                rules[rules.count - 1].append(octet)
            }
        }
        return rules.map { String(octets: $0.trimmed) }
    }
}
