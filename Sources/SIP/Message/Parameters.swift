import Primitives

/// Parameters of a header value or a URI, in order. Names are compared without letter case.
///
/// They stay the text that they are on the wire; the subscript takes the quotes of a value off and puts them on where
/// needed.
package struct Parameters: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package struct Parameter: Hashable, Sendable {
        package var name: String
        /// As on the wire, with quotes or escapes; nil for a parameter without `=`.
        package var text: String?

        package init(_ name: String, _ text: String?) {
            self.name = name
            self.text = text
        }

        init(_ scanner: Scanner, _ name: Range<Int>, _ value: Range<Int>?) {
            self.init(scanner.text(name), value.map { scanner.text($0) })
        }
    }

    /// Each parameter with its leading semicolon and without white space around its parts; nil if there are none.
    private var wire: OctetText?

    package init() {}

    /// Values as the subscript takes them; nil makes a parameter without a value.
    package init(dictionaryLiteral elements: (String, String?)...) {
        for (name, value) in elements {
            if let value { self[name] = value } else { setFlag(name) }
        }
    }

    init(_ list: [Parameter]) {
        let text = list.map { ";" + $0.name + ($0.text.map { "=" + $0 } ?? "") }.joined()
        if !text.isEmpty { wire = OctetText(text) }
    }

    /// Parameters that stand in the octets as they are kept here.
    init(wire: OctetText) { if !wire.isEmpty { self.wire = wire } }

    /// `*( SEMI generic-param )`: stops before anything else.
    init(_ scanner: inout Scanner) throws(ParseError) {
        let start = scanner.position
        var tightCount = 0
        while let (name, value) = try scanner.parameter() {
            tightCount += 1 + name.count + (value.map { 1 + $0.count } ?? 0)
        }
        let whole = start..<scanner.position
        if tightCount == whole.count {
            self.init(wire: scanner.slice(whole))
        } else {
            scanner.position = start
            var list: [Parameter] = []
            while let (name, value) = try scanner.parameter() { list.append(Parameter(scanner, name, value)) }
            self.init(list)
        }
    }

    package var isEmpty: Bool { wire == nil }

    package var list: [Parameter] {
        var list: [Parameter] = []
        guard var scanner = wire.map({ Scanner($0) }) else { return list }
        while let (name, value) = scanner.tightParameter() { list.append(Parameter(scanner, name, value)) }
        return list
    }

    package func contains(_ name: String) -> Bool {
        if case .absent = find(name) { false } else { true }
    }

    /// The value without quotes; nil if the parameter is absent or has no value. Setting nil removes it.
    package subscript(name: String) -> String? {
        get { octets(name)?.unquoted }
        set {
            guard let newValue else { return remove(name) }
            let plain = !newValue.isEmpty && OctetSet.parameterValue.isSuperset(of: newValue.utf8)
            set(name, text: plain ? newValue : quoted(newValue))
        }
    }

    /// The value as on the wire; nil if the parameter is absent or has no value.
    package func text(_ name: String) -> String? { octets(name)?.string }

    /// The value as on the wire; nil if the parameter is absent or has no value.
    func octets(_ name: String) -> OctetText? {
        if case .value(let value) = find(name) { value } else { nil }
    }

    private enum Finding { case absent, flag, value(OctetText) }

    private func find(_ wanted: String) -> Finding {
        guard var scanner = wire.map({ Scanner($0) }) else { return .absent }
        while let (name, value) = scanner.tightParameter() {
            if scanner.octets.matches(name, wanted) { return value.map { .value(scanner.slice($0)) } ?? .flag }
        }
        return .absent
    }

    /// Sets a parameter without a value (`lr`, an empty `rport`).
    package mutating func setFlag(_ name: String) { set(name, text: nil) }

    package mutating func remove(_ name: String) {
        if contains(name) { self = Parameters(list.filter { !equalIgnoringCase($0.name, name) }) }
    }

    /// Sets the value as it goes on the wire, in the place of one already there.
    mutating func set(_ name: String, text: String?) {
        var list = list
        if let index = list.firstIndex(where: { equalIgnoringCase($0.name, name) }) {
            list[index].text = text
        } else {
            list.append(Parameter(name, text))
        }
        self = Parameters(list)
    }

    /// Each parameter with its leading semicolon.
    package var description: String { wire?.string ?? "" }
}

extension Scanner {
    /// `SEMI generic-param` with the white space that the grammar allows in it; nil where no semicolon is next.
    fileprivate mutating func parameter() throws(ParseError) -> (name: Range<Int>, value: Range<Int>?)? {
        guard takeSeparator(0x3B) else { return nil }
        let name = take(in: .token)
        if name.isEmpty { throw ParseError("parameter name is missing") }
        guard takeSeparator(0x3D) else { return (name, nil) }
        let value =
            peek == 0x22
            ? try quotedString() : take { $0.isBlank || $0 == 0x3B || $0 == 0x2C || $0 == 0x22 || $0 == 0x3E }
        if value.isEmpty { throw ParseError("parameter value is missing") }
        return (name, value)
    }

    /// The next of parameters that have been read before; nil at the end.
    fileprivate mutating func tightParameter() -> (name: Range<Int>, value: Range<Int>?)? {
        guard take(0x3B) else { return nil }
        let name = take { $0 == 0x3D || $0 == 0x3B }
        guard take(0x3D) else { return (name, nil) }
        return (name, peek == 0x22 ? try? quotedString() : take { $0 == 0x3B })
    }
}
