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
        "dial TARGET [via ACCOUNT], answer, hangup, answer-or-hangup, open DOOR, mute, volume +N, volume -N, ring, none",
        write: \.description.enclosed
    ) { (text: String) throws(Mismatch) -> Action in
        let words = text.bare.words
        let verbs = ["dial", "answer", "hangup", "answer-or-hangup", "open", "mute", "volume", "ring", "none"]
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
        case ("ring", 0): return .ring
        case ("none", 0): return .nothing
        case (let verb, _):
            if verbs.contains(verb) { throw .expected("\(verb) alone", found: text) }
            throw Mismatch("unknown action \"\(text.shortened)\"\(verb.hint(of: verbs))")
        }
    }
}

extension Form<[DoorCode]> {
    /// `[NAME:]DIGITS`, separated by commas. No message shows a digit.
    static let codes = Form(
        "list of [NAME:]DIGITS", isText: true,  // a code may begin with `#`; the check of its digits finds a comment
        write: { codes in
            codes.map { code in (code.name.map { "\($0):" } ?? "") + code.digits.revealed }.joined(separator: ", ")
        }
    ) { (text: String) throws(Mismatch) -> [DoorCode] in
        var codes: [DoorCode] = []
        for (index, element) in text.elements.enumerated() {
            let parts = element.bare.parts(at: UInt8(ascii: ":")).map(\.trimmed)
            let digits = parts.last ?? ""
            guard parts.count <= 2, (1...16).contains(digits.utf8.count),
                digits.utf8.allSatisfy({ $0.isDigit || "*#ABCD".utf8.contains($0) })
            else {
                throw Mismatch("code \(index + 1): expected 1 to 16 of the digits 0-9, *, #, A-D, optionally NAME:CODE")
            }
            let name = parts.count == 2 ? parts[0] : nil
            guard name.map(SectionName.isValid) ?? true else {
                throw Mismatch("code \(index + 1): its name is empty, too long or holds a blank or \"/\"")
            }
            guard !codes.contains(where: { equalInConstantTime(Array($0.digits.revealed.utf8), Array(digits.utf8)) })
            else { throw Mismatch("code \(index + 1) stands twice") }
            codes.append(DoorCode(name: name, digits: Secret(digits)))
            guard codes.count <= 256 else { throw Mismatch("more than 256 codes") }
        }
        return codes
    }
}

extension Form<Secret> {
    static let secret = Form("text", isText: true, write: \.revealed) { (text: String) throws(Mismatch) in
        Secret(text)
    }
}
