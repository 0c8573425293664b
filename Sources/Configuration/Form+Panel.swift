import Primitives

extension Form<LineReference> {
    static let line = Form(
        "GPIO line: name, CHIP:OFFSET, or sim:NAME", expected: "a line's name, CHIP:OFFSET or sim:NAME"
    ) { LineReference($0) }
}

extension Form<SoundDevice> {
    static let device = Form(
        "ALSA PCM, wav:PATH, tone:HZ, or silent", expected: "an ALSA PCM, wav:PATH, tone:20 to tone:20000 or silent"
    ) { SoundDevice($0) }
}

extension Form<LEDPattern> {
    static let pattern = Form(
        "off, on, blink, fast, pulse, or ON/OFF times", write: \.description
    ) { (text: String) throws(Mismatch) -> LEDPattern in
        guard let pattern = LEDPattern(text) else {
            throw Mismatch(
                "expected off, on, blink, fast, pulse or times of at least 10ms such as 100ms/100ms, "
                    + "found \"\(text.shortened)\"\(text.hint(of: LEDPattern.words.map(\.0)))")
        }
        return pattern
    }
}

extension Form<DialTarget> {
    /// `TARGET [via ACCOUNT]`: a contact, a group or a URI. That names exist is checked when all are known.
    static let target = Form(
        "contact, group or SIP URI, [via ACCOUNT]",
        write: { target in
            let destination = target.destination.description.enclosed
            return target.account.map { "\(destination) via \($0)" } ?? destination
        }
    ) {
        (text: String) throws(Mismatch) -> DialTarget in
        let words = text.words
        guard words.count == 1 || (words.count == 3 && words[1] == "via") else {
            throw .expected("TARGET or TARGET via ACCOUNT", found: text)
        }
        let account = words.count == 3 ? words[2] : nil
        let target = words[0].bare
        if target.isSIPURI || target.isEmpty {
            return DialTarget(.uri(try Form<String>.uri(user: false).read(target)), via: account)
        }
        return DialTarget(.name(target), via: account)
    }
}

extension Form<DialTarget> {
    /// As a target; that it is no group is checked when all names are known.
    static let watched = Form(
        "contact or SIP URI, [via ACCOUNT]", write: Form.target.write,
        read: { (text: String) throws(Mismatch) in try Form.target.read(text) })
}

extension Form<Action> {
    static let action = Form(
        "action",
        write: \.description.enclosed
    ) { (text: String) throws(Mismatch) -> Action in
        let words = text.bare.words
        let verbs = ["dial", "answer", "hangup", "answer-or-hangup", "open", "mute", "volume", "key", "ring", "none"]
        let operands = Array(words.dropFirst())
        switch (words.first ?? "", operands.count) {
        case ("dial", 1...): return .dial(try Form<DialTarget>.target.read(operands.joined(separator: " ")))
        case ("dial", _): throw .expected("dial TARGET or dial TARGET via ACCOUNT", found: text)
        case ("answer", 0): return .answer
        case ("hangup", 0): return .hangUp
        case ("answer-or-hangup", 0): return .answerOrHangUp
        case ("open", 1): return .open(door: operands[0])
        case ("open", _): throw .expected("open DOOR", found: text)
        case ("mute", 0): return .mute
        case ("volume", 1):
            guard operands[0].utf8.first == UInt8(ascii: "+") || operands[0].utf8.first == UInt8(ascii: "-"),
                let change = Int(operands[0]), (-100...100).contains(change), change != 0
            else { fallthrough }
            return .volume(change)
        case ("volume", _): throw .expected("volume +N or volume -N, N from 1 to 100", found: text)
        case ("key", 1):
            guard let digit = try? Form<UInt8>.digit.read(operands[0]) else {
                throw .expected("key and one of the digits 0-9, *, #, A-D", found: text)
            }
            return .key(digit)
        case ("ring", 0): return .ring
        case ("none", 0): return .nothing
        case (let verb, _):
            if verbs.contains(verb) { throw .expected("\(verb) alone", found: text) }
            throw Mismatch("unknown action \"\(text.shortened)\"\(verb.hint(of: verbs))")
        }
    }
}

extension Form<UInt8> {
    /// A key of a telephone.
    static let digit = Form("one of 0-9, *, #, A-D", isText: true, write: { String(UnicodeScalar($0)) }) {
        (text: String) throws(Mismatch) in
        guard DoorCode.isCode(text), text.utf8.count == 1, let digit = text.utf8.first else {
            throw .expected("one of the digits 0-9, *, #, A-D", found: text)
        }
        return digit
    }
}

extension Form<Secret> {
    /// Digits of a code. No message shows them.
    static let code = Form("1 to 16 of 0-9, *, #, A-D", isText: true, write: \.revealed) {
        (text: String) throws(Mismatch) in
        guard DoorCode.isCode(text) else { throw Mismatch("expected 1 to 16 of the digits 0-9, *, #, A-D") }
        return Secret(text)
    }

    static let secret = Form("text", isText: true, write: \.revealed) { (text: String) throws(Mismatch) in
        Secret(text)
    }
}
