import Primitives

extension Form<[DoorCode]> {
    /// `[NAME:]DIGITS`, separated by commas. No message shows a digit.
    static let codes = Form(
        "list of [NAME:]DIGITS", isText: true,  // a code may begin with `#`; the check of its digits finds a comment
        write: \.text
    ) { (text: String) throws(Mismatch) -> [DoorCode] in
        try read(text, "1 to 16 of the digits 0-9, *, #, A-D, optionally NAME:CODE") { digits in
            DoorCode.isCode(digits) ? .plain(Secret(digits)) : nil
        }
    }

    /// `[NAME:]HASH`, separated by commas.
    static let codeHashes = Form("list of [NAME:]HASH", write: \.text) {
        (text: String) throws(Mismatch) -> [DoorCode] in
        try read(text, "what portero hash-code prints, optionally NAME:HASH") { CodeHash($0).map { .hashed($0) } }
    }

    private static func read(
        _ text: String, _ expected: String, _ digits: (String) -> DoorCode.Digits?
    ) throws(Mismatch) -> [DoorCode] {
        var codes: [DoorCode] = []
        for (index, element) in text.elements.enumerated() {
            let parts = element.bare.parts(at: UInt8(ascii: ":")).map(\.trimmed)
            let last = parts.last ?? ""
            guard parts.count <= 2, let digits = digits(last) else {
                throw Mismatch("code \(index + 1): expected \(expected)\(INI.commentHint(last))")
            }
            let name = parts.count == 2 ? parts[0] : nil
            guard name.map(SectionName.isValid) ?? true else {
                throw Mismatch("code \(index + 1): its name is empty, too long or holds a blank or \"/\"")
            }
            guard !codes.contains(where: { $0.digits == digits }) else {
                throw Mismatch("code \(index + 1) stands twice")
            }
            codes.append(DoorCode(name: name, digits))
            guard codes.count <= 256 else { throw Mismatch("more than 256 codes") }
        }
        return codes
    }
}

extension [DoorCode] {
    fileprivate var text: String {
        map { code in
            let digits =
                switch code.digits {
                case .plain(let digits): digits.revealed
                case .hashed(let hash): hash.description
                }
            return (code.name.map { "\($0):" } ?? "") + digits
        }.joined(separator: ", ")
    }
}

extension Form<CodeHash> {
    static let codeHash = Form("hash of a code", expected: "what portero hash-code prints") { CodeHash($0) }
}
