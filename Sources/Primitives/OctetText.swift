/// A stretch of octets as they came over the wire, kept where it is: a parser cuts a message into these without a copy,
/// and text is made of one when somebody asks.
///
/// It holds on to all the octets that it is a part of. Not yet text: any octet may stand in it.
package struct OctetText: Sendable {
    /// What it is a part of.
    package let octets: [UInt8]
    @usableFromInline package let start: UInt32
    @usableFromInline package let end: UInt32

    /// - Parameter range: Within the octets, of which there are less than 2^32.
    @inlinable package init(_ octets: [UInt8], _ range: Range<Int>) {
        self.octets = octets
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        end = UInt32(truncatingIfNeeded: range.upperBound)
    }

    @inlinable package init(_ string: String) {
        let octets = Array(string.utf8)
        self.init(octets, 0..<octets.count)
    }

    @inlinable package var range: Range<Int> { Range(uncheckedBounds: (Int(start), Int(end))) }
    @inlinable package var count: Int { Int(end) - Int(start) }
    @inlinable package var isEmpty: Bool { start == end }
    @inlinable package var first: UInt8? { isEmpty ? nil : octets[Int(start)] }
    @inlinable package var last: UInt8? { isEmpty ? nil : octets[Int(end) - 1] }

    /// Invalid UTF-8 becomes U+FFFD (P7).
    @inlinable package var string: String { String(decoding: octets[range], as: UTF8.self) }

    @inlinable package func contains(_ octet: UInt8) -> Bool { octets[range].contains(octet) }

    /// Without spaces and tabs at its ends.
    package var trimmed: OctetText {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, octets[lower] == 0x20 || octets[lower] == 0x09 { lower += 1 }
        while lower < upper, octets[upper - 1] == 0x20 || octets[upper - 1] == 0x09 { upper -= 1 }
        return OctetText(octets, lower..<upper)
    }

    /// What is before and after the first such octet; nil if it is not there.
    package func cut(at octet: UInt8) -> (head: OctetText, tail: OctetText)? {
        guard let index = octets[range].firstIndex(of: octet) else { return nil }
        return (OctetText(octets, range.lowerBound..<index), OctetText(octets, (index + 1)..<range.upperBound))
    }

    /// The parts between single spaces, without empty ones.
    package var words: Words { Words(octets, range) }

    package struct Words: Sequence, IteratorProtocol {
        private let octets: [UInt8]
        private var position: Int
        private let end: Int

        fileprivate init(_ octets: [UInt8], _ range: Range<Int>) {
            self.octets = octets
            position = range.lowerBound
            end = range.upperBound
        }

        package mutating func next() -> OctetText? {
            guard let start = octets[position..<end].firstIndex(where: { $0 != 0x20 }) else { return nil }
            position = octets[start..<end].firstIndex(of: 0x20) ?? end
            return OctetText(octets, start..<position)
        }
    }

    /// The number that its decimal digits are; nil if there is anything else in it, or beyond `Int32`.
    package var decimal: Int? {
        var value = 0
        for index in range {
            guard octets[index].isDigit else { return nil }
            value = value * 10 + Int(octets[index] - 0x30)
            if value > Int32.max { return nil }
        }
        return isEmpty ? nil : value
    }

    /// Printable ASCII only: may be written into another description or a log.
    package var isVisible: Bool {
        octets[range].allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// Whether it is this word, but for ASCII letter case.
    @inlinable package func matches(_ word: String) -> Bool { octets.matches(range, word) }
}

extension [UInt8] {
    /// Whether the octets there are this word, but for ASCII letter case.
    @inlinable package func matches(_ range: Range<Int>, _ word: String) -> Bool {
        guard word.utf8.count == range.count else { return false }
        var index = range.lowerBound
        for octet in word.utf8 {
            // Differ in the bit of letter case at most, and then are letters.
            let difference = self[index] ^ octet
            if difference != 0, difference != 0x20 || !octet.isLetter { return false }
            index &+= 1
        }
        return true
    }
}

extension OctetText: Hashable, CustomStringConvertible {
    @inlinable package static func == (left: OctetText, right: OctetText) -> Bool {
        guard left.count == right.count else { return false }
        for index in 0..<left.count where left.octets[Int(left.start) + index] != right.octets[Int(right.start) + index]
        {
            return false
        }
        return true
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for index in range { hasher.combine(octets[index]) }
    }

    package var description: String { string }
}
