import Primitives

/// Why a value does not fit; the message holds no secret.
struct Mismatch: Error {
    let message: String

    init(_ message: String) { self.message = message }

    static func expected(_ what: String, found text: String) -> Mismatch {
        Mismatch("expected \(what), found \"\(text.shortened)\"")
    }
}

/// How the text of one kind of value is read and written. `read(write(value))` is the value again.
struct Form<Value: Equatable & Sendable>: Sendable {
    /// What a manual says the value is: `duration, 1ms to 1s`.
    let summary: String
    /// Free text may hold ` #`; in every other value that is a comment out of place.
    var isText = false
    let read: @Sendable (String) throws(Mismatch) -> Value
    let write: @Sendable (Value) -> String

    init(
        _ summary: String, isText: Bool = false, write: @escaping @Sendable (Value) -> String,
        read: @escaping @Sendable (String) throws(Mismatch) -> Value
    ) {
        self.summary = summary
        self.isText = isText
        self.read = read
        self.write = write
    }

    /// From a parser that only says yes or no. `what` completes "expected …".
    init(
        _ summary: String, expected what: String, write: @escaping @Sendable (Value) -> String,
        read: @escaping @Sendable (String) -> Value?
    ) {
        self.init(summary, write: write) { (text: String) throws(Mismatch) -> Value in
            guard let value = read(text) else { throw .expected(what, found: text) }
            return value
        }
    }
}

extension Form where Value: CustomStringConvertible {
    init(_ summary: String, expected what: String, read: @escaping @Sendable (String) -> Value?) {
        self.init(summary, expected: what, write: \.description, read: read)
    }
}

/// `expected udp, tcp or auto, found "upd"; did you mean udp?`
private func choiceMismatch(_ words: [String], found text: String) -> Mismatch {
    let list = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
    return Mismatch("expected \(list), found \"\(text.shortened)\"\(text.hint(of: words))")
}

extension Form where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the cases of an enumeration.
    static var choice: Form {
        let words = Value.allCases.map(\.rawValue)
        return Form(words.joined(separator: ", "), write: \.rawValue) { (text: String) throws(Mismatch) -> Value in
            guard let value = Value(rawValue: text) else { throw choiceMismatch(words, found: text) }
            return value
        }
    }
}

extension Form<Bool> {
    static let boolean = Form("yes, no", expected: "yes or no", write: { $0 ? "yes" : "no" }) { text in
        switch String(octets: text.utf8.map(\.lowercased)) {
        case "yes", "true", "on", "1": true
        case "no", "false", "off", "0": false
        default: nil
        }
    }
}

extension Form<Int> {
    static func integer(_ range: ClosedRange<Int>) -> Form {
        let bounds = "\(range.lowerBound) to \(range.upperBound)"
        return Form("number, \(bounds)", expected: "a number from \(bounds)") { text in
            text.utf8.allSatisfy(\.isDigit) ? Int(text).flatMap { range.contains($0) ? $0 : nil } : nil
        }
    }
}

extension Form<Int?> {
    /// A number, or `auto` for nil.
    static func automatic(_ range: ClosedRange<Int>) -> Form {
        let bounds = "\(range.lowerBound) to \(range.upperBound)"
        return Form(
            "auto, or number, \(bounds)", expected: "auto or a number from \(bounds)",
            write: { $0.map(String.init) ?? "auto" }
        ) { text in
            if text == "auto" { return .some(nil) }
            guard text.utf8.allSatisfy(\.isDigit), let number = Int(text), range.contains(number) else { return nil }
            return .some(number)
        }
    }
}

extension Form<Duration> {
    /// `example` is what a message shows for the form. `zero` says what 0 means where the range does not hold it.
    static func duration(_ range: ClosedRange<Duration>, example: String, zero: String? = nil, whole: Bool = false)
        -> Form
    {
        let bounds = "\(range.lowerBound.unitText) to \(range.upperBound.unitText)"
        let more = zero.map { "; 0: \($0)" } ?? ""
        return Form("duration, \(bounds)\(more)", write: \.unitText) { (text: String) throws(Mismatch) -> Duration in
            guard let value = Duration(unitText: text) else {
                throw .expected("a duration such as \(example)", found: text)
            }
            if zero != nil, value == .zero { return value }
            guard range.contains(value) else { throw .expected("a duration from \(bounds)\(more)", found: text) }
            guard !whole || value.nanoseconds % 1_000_000_000 == 0 else {
                throw .expected("whole seconds", found: text)
            }
            return value
        }
    }
}

extension Form<String> {
    /// Free text: whatever stands there.
    static let text = Form("text", isText: true, write: { $0 }, read: { (text: String) throws(Mismatch) in text })

    static let path = Form("path", expected: "a path of at most 4095 octets", write: { $0 }) { text in
        text.utf8.count <= 4095 ? text : nil
    }
}

extension Form {
    /// Elements separated by commas, at least one; `what` names one element for messages.
    static func list<Element>(_ element: Form<Element>, unique: Bool = false, maximum: Int = 256) -> Form
    where Value == [Element], Element: Hashable {
        Form("list of \(element.summary)", write: { $0.map(element.write).joined(separator: ", ") }) {
            (text: String) throws(Mismatch) -> Value in
            var values: [Element] = []
            var known: Set<Element> = []
            for part in text.elements {
                guard !part.isEmpty else { throw Mismatch("an element of the list is empty") }
                let value = try element.read(part)
                guard known.insert(value).inserted || !unique else {
                    throw Mismatch("\(element.write(value)) stands twice")
                }
                values.append(value)
            }
            guard values.count <= maximum else { throw Mismatch("more than \(maximum) elements") }
            return values
        }
    }
}

extension Form<String> {
    /// A name as sections have it.
    static let name = Form("name", expected: "a name", write: { $0 }) { SectionName.isValid(name: $0) ? $0 : nil }

    /// The name of a systemd credential: it becomes the name of a file.
    static let credential = Form("name", expected: "a credential's name without \"/\"", write: { $0 }) { text in
        let isPlain = text.utf8.count <= 255 && !text.utf8.contains(UInt8(ascii: "/"))
        return isPlain && text != "." && text != ".." ? text : nil
    }
}
