import Primitives

/// A header line, unfolded.
struct HeaderLine {
    let name: HeaderName
    /// The octets of the message, or of the unfolded line.
    let octets: [UInt8]
    let value: Range<Int>

    var scanner: Scanner { Scanner(octets, value) }
    var text: String { String(decoding: octets[value], as: UTF8.self) }
}

/// Walks over header lines up to the empty line after them.
struct HeaderLines {
    private let octets: [UInt8]
    private let end: Int
    /// Where the next line starts; after the last one, what follows the empty line.
    private(set) var position: Int
    /// Whether the empty line was there.
    private(set) var isComplete = false

    init(_ octets: [UInt8], _ range: Range<Int>) {
        self.octets = octets
        position = range.lowerBound
        end = range.upperBound
    }

    /// The next line without its end (CRLF, or LF alone: P12); nil if no line end follows.
    mutating func nextRaw() -> Range<Int>? {
        guard let lineFeed = octets[position..<end].firstIndex(of: 0x0A) else { return nil }
        var lineEnd = lineFeed
        if lineEnd > position, octets[lineEnd - 1] == 0x0D { lineEnd -= 1 }
        defer { position = lineFeed + 1 }
        return position..<lineEnd
    }

    /// The next header line with its continuation lines; nil after the last. Can go on after it has thrown.
    mutating func next() throws(ParseError) -> HeaderLine? {
        guard let first = nextRaw() else {
            position = end
            return nil
        }
        if first.isEmpty {
            isComplete = true
            return nil
        }
        var line = first
        while position < end, octets[position].isBlank, let next = nextRaw() {
            line = first.lowerBound..<next.upperBound
        }
        if line.count > Limits.headerLine { throw ParseError(.headersTooLarge, "header line is too long") }
        var scanner = Scanner(octets, line)
        let name = scanner.take(in: .token)
        scanner.skipWhitespace()
        guard !name.isEmpty, scanner.take(0x3A) else { throw ParseError("header line is malformed") }
        let value = octets.trimmed(scanner.position..<line.upperBound)
        let headerName = HeaderName(octets, name)
        if line.upperBound > first.upperBound {
            let unfolded = Self.unfolded(octets[value])
            return HeaderLine(name: headerName, octets: unfolded, value: unfolded.trimmed(0..<unfolded.count))
        }
        if octets[value].contains(0x0D) { throw ParseError("header line is malformed") }
        return HeaderLine(name: headerName, octets: octets, value: value)
    }

    /// Each line end with the white space around it becomes one space (P2).
    private static func unfolded(_ octets: ArraySlice<UInt8>) -> [UInt8] {
        var unfolded: [UInt8] = []
        var isInFold = false
        for octet in octets {
            if octet == 0x0D || octet == 0x0A {
                while unfolded.last?.isBlank == true { unfolded.removeLast() }
                isInFold = true
            } else if !isInFold || !octet.isBlank {
                if isInFold { unfolded.append(0x20) }
                isInFold = false
                unfolded.append(octet)
            }
        }
        return unfolded
    }
}
