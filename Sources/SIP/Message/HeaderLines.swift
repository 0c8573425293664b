import Primitives

/// A header line, unfolded.
struct HeaderLine {
    let name: HeaderName
    /// The value, in the octets of the message, or of the unfolded line.
    let text: OctetText
}

/// Walks over header lines up to the empty line after them.
struct HeaderLines {
    private let octets: [UInt8]
    private let end: Int
    /// Where the next line starts; after the last one, what follows the empty line.
    private(set) var position: Int
    /// Whether the empty line was there.
    private(set) var isComplete = false

    /// Whether no further line will come.
    var isAtEnd: Bool { isComplete || position >= end }

    init(_ octets: [UInt8], _ range: Range<Int>) {
        self.octets = octets
        position = range.lowerBound
        end = range.upperBound
    }

    /// The next line without its end (CRLF, or LF alone: P12), and whether another CR is in it; nil if no line end
    /// follows.
    mutating func nextRaw() -> (line: Range<Int>, hasStrayReturn: Bool)? {
        let start = position
        var returns = 0
        var index = start
        while let control = octets[index..<end].firstIndex(where: { $0 <= 0x0D }) {
            index = control + 1
            if octets[control] == 0x0D { returns += 1 }
            if octets[control] == 0x0A {
                position = index
                let endsInReturn = control > start && octets[control - 1] == 0x0D
                return (start..<(endsInReturn ? control - 1 : control), returns > (endsInReturn ? 1 : 0))
            }
        }
        return nil
    }

    /// The next header line with its continuation lines; nil after the last. Can go on after it has thrown.
    mutating func next() throws(ParseError) -> HeaderLine? {
        guard var (line, hasStrayReturn) = nextRaw() else {
            position = end
            return nil
        }
        if line.isEmpty {
            isComplete = true
            return nil
        }
        let firstEnd = line.upperBound
        while position < end, octets[position].isBlank, let next = nextRaw() {
            line = line.lowerBound..<next.line.upperBound
            hasStrayReturn = false
        }
        if line.count > Limits.headerLine { throw ParseError(.headersTooLarge, "header line is too long") }
        var scanner = Scanner(octets, line)
        let name = scanner.take(in: .token)
        scanner.skipWhitespace()
        guard !name.isEmpty, scanner.take(0x3A), !hasStrayReturn else { throw ParseError("header line is malformed") }
        let value = octets.trimmed(scanner.position..<line.upperBound)
        let headerName = HeaderName(octets, name)
        guard line.upperBound > firstEnd else { return HeaderLine(name: headerName, text: scanner.slice(value)) }
        let unfolded = Self.unfolded(octets[value])
        return HeaderLine(name: headerName, text: OctetText(unfolded, unfolded.trimmed(unfolded.indices)))
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
