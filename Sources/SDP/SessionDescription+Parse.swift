import Primitives

extension SessionDescription {
    /// Reads a description by octets, with CRLF or LF line ends. Absent `o=`, `s=` and `t=` lines are tolerated, and so
    /// is a malformed line that is not needed; a malformed `m=` or `c=` line is not.
    package init(_ octets: [UInt8]) throws(NegotiationError) {
        guard octets.count <= Self.sizeLimit else { throw .tooLarge("more than \(Self.sizeLimit) octets") }
        var lines = Lines(octets)
        guard let first = lines.next(), first.elementsEqual(Array("v=0".utf8)) else { throw .malformed("no v=0 line") }
        while let line = lines.next() {
            guard line.count >= 2, line[line.startIndex + 1] == 0x3D else { throw .malformed("a line without =") }
            let value = line.dropFirst(2)
            switch line[line.startIndex] {
            case 0x6F where media.isEmpty: origin = Origin(value)
            case 0x63:
                let connection = try Self.parseConnection(value)
                if media.isEmpty {
                    self.connection = connection
                } else if media[media.count - 1].connection == nil {
                    media[media.count - 1].connection = connection
                }
            case 0x6D:
                guard media.count < Self.mediaLimit else { throw .tooMany("m-lines") }
                media.append(try MediaDescription(value))
            case 0x61: try append(Attribute(value))
            default: break
            }
        }
    }

    private mutating func append(_ attribute: Attribute) throws(NegotiationError) {
        if media.isEmpty {
            guard attributes.count < Self.attributeLimit else { throw .tooMany("attributes") }
            attributes.append(attribute)
        } else {
            guard media[media.count - 1].attributes.count < Self.attributeLimit else { throw .tooMany("attributes") }
            media[media.count - 1].attributes.append(attribute)
        }
    }

    private static func parseConnection(_ value: ArraySlice<UInt8>) throws(NegotiationError) -> Connection {
        let words = value.words(limit: 4)
        guard words.count == 3, words[0].matches("in") else { throw .malformed("c= line") }
        let isV6 = words[1].matches("ip6")
        guard isV6 || words[1].matches("ip4") else { throw .malformed("c= line") }
        let host = words[2].prefix { $0 != 0x2F }
        let text = String(decoding: host, as: UTF8.self)
        if let address = IPAddress(text) { return .address(address) }
        guard host.count <= 255, host.contains(where: \.isLetter),
            host.allSatisfy({ $0.isLetter || $0.isDigit || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F })
        else { throw .malformed("c= line") }
        return .name(text, isV6: isV6)
    }
}

extension SessionDescription.Origin {
    /// Nil if it does not have the six words of RFC 8866 §5.2.
    fileprivate init?(_ value: ArraySlice<UInt8>) {
        let words = value.words(limit: 7)
        guard words.count == 6, words.allSatisfy(\.isVisible) else { return nil }
        self.init(
            username: words[0].text, identity: words[1].text, version: words[2].text, address: IPAddress(words[5].text))
    }
}

extension SessionDescription.Attribute {
    fileprivate init(_ value: ArraySlice<UInt8>) {
        guard let colon = value.firstIndex(of: 0x3A) else {
            self.init(value.trimmed.text)
            return
        }
        self.init(value[..<colon].trimmed.text, value[(colon + 1)...].trimmed.text)
    }
}

extension MediaDescription {
    fileprivate init(_ value: ArraySlice<UInt8>) throws(NegotiationError) {
        let words = value.words(limit: SessionDescription.formatLimit + 4)
        guard words.count <= SessionDescription.formatLimit + 3 else { throw .tooMany("formats") }
        guard words.count >= 4, words.allSatisfy(\.isVisible) else { throw .malformed("m= line") }
        // "40000/2": the count of ports, of which only the first is used.
        guard let port = UInt16(words[1].prefix { $0 != 0x2F }.text) else { throw .malformed("port of m= line") }
        self.init(
            kind: words[0].text, port: port, transport: words[2].text, formats: words.dropFirst(3).map { $0.text })
    }
}

/// The lines of a text without their ends; empty ones are left out.
private struct Lines: IteratorProtocol {
    private let octets: [UInt8]
    private var position = 0

    init(_ octets: [UInt8]) { self.octets = octets }

    mutating func next() -> ArraySlice<UInt8>? {
        while position < octets.count {
            let end = octets[position...].firstIndex(of: 0x0A) ?? octets.count
            var line = octets[position..<end]
            position = end + 1
            while line.last == 0x0D { line.removeLast() }
            if !line.isEmpty { return line }
        }
        return nil
    }
}

extension ArraySlice<UInt8> {
    var text: String { String(decoding: self, as: UTF8.self) }

    /// Without spaces and tabs at its ends.
    var trimmed: ArraySlice<UInt8> {
        var slice = self
        while let last = slice.last, last == 0x20 || last == 0x09 { slice.removeLast() }
        return slice.drop { $0 == 0x20 || $0 == 0x09 }
    }

    /// Printable ASCII only: may be written into another description or a log.
    var isVisible: Bool { allSatisfy { $0 > 0x20 && $0 < 0x7F } }

    /// The parts between spaces, at most `limit` of them.
    func words(limit: Int) -> [ArraySlice<UInt8>] {
        split(separator: 0x20, maxSplits: limit, omittingEmptySubsequences: true).prefix(limit).map { $0 }
    }

    /// Whether it is this lower-case word, in any case.
    func matches(_ word: String) -> Bool {
        count == word.utf8.count && zip(self, word.utf8).allSatisfy { $0.lowercased == $1 }
    }
}
