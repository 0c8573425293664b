import Primitives

extension SessionDescription {
    /// Reads a description by octets, with CRLF or LF line ends. Absent `o=`, `s=` and `t=` lines are tolerated, and so
    /// is a malformed line that is not needed; a malformed `m=` or `c=` line is not.
    package init(_ octets: [UInt8]) throws(NegotiationError) {
        guard octets.count <= Self.sizeLimit else { throw .tooLarge("more than \(Self.sizeLimit) octets") }
        var lines = Lines(octets)
        guard let first = lines.next(), first.string == "v=0" else { throw .malformed("no v=0 line") }
        while let line = lines.next() {
            let start = line.range.lowerBound
            guard line.count >= 2, octets[start + 1] == 0x3D else { throw .malformed("a line without =") }
            let value = OctetText(octets, (start + 2)..<line.range.upperBound)
            switch octets[start] {
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
            case 0x61:
                let attribute = Attribute(value)
                if media.isEmpty {
                    try Self.append(attribute, to: &attributes)
                } else {
                    try Self.append(attribute, to: &media[media.count - 1].attributes)
                }
            default: break
            }
        }
    }

    private static func append(_ attribute: Attribute, to list: inout [Attribute]) throws(NegotiationError) {
        guard list.count < attributeLimit else { throw .tooMany("attributes") }
        if list.isEmpty { list.reserveCapacity(24) }
        list.append(attribute)
    }

    private static func parseConnection(_ value: OctetText) throws(NegotiationError) -> Connection {
        var words = value.words
        guard let network = words.next(), let family = words.next(), let place = words.next(), words.next() == nil,
            network.matches("in"), family.matches("ip4") || family.matches("ip6")
        else { throw .malformed("c= line") }
        let host = place.cut(at: 0x2F)?.head ?? place
        if let address = IPAddress(host) { return .address(address) }
        let octets = host.octets[host.range]
        guard octets.count <= 255, octets.contains(where: \.isLetter),
            octets.allSatisfy({ $0.isLetter || $0.isDigit || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F })
        else { throw .malformed("c= line") }
        return .name(host.string, isV6: family.matches("ip6"))
    }
}

extension SessionDescription.Origin {
    /// Nil if it does not have the six words of RFC 8866 §5.2.
    fileprivate init?(_ value: OctetText) {
        var words = value.words
        guard let username = words.next(), let identity = words.next(), let version = words.next(),
            let network = words.next(), let family = words.next(), let place = words.next(), words.next() == nil,
            [username, identity, version, network, family, place].allSatisfy(\.isVisible)
        else { return nil }
        self.init(
            username: username.string, identity: identity.string, version: version.string, address: IPAddress(place))
    }
}

extension SessionDescription.Attribute {
    fileprivate init(_ line: OctetText) {
        if let (name, value) = line.cut(at: 0x3A) {
            nameText = name.trimmed
            valueText = value.trimmed
        } else {
            nameText = line.trimmed
            valueText = nil
        }
    }
}

extension MediaDescription {
    fileprivate init(_ value: OctetText) throws(NegotiationError) {
        var words = value.words
        guard let kind = words.next(), let place = words.next(), let transport = words.next(),
            value.words.allSatisfy(\.isVisible)
        else { throw .malformed("m= line") }
        var formats: [String] = []
        formats.reserveCapacity(8)
        while let format = words.next() {
            guard formats.count < SessionDescription.formatLimit else { throw .tooMany("formats") }
            formats.append(format.string)
        }
        if formats.isEmpty { throw .malformed("m= line") }
        // "40000/2": the count of ports, of which only the first is used.
        guard let port = UInt16(exactly: (place.cut(at: 0x2F)?.head ?? place).decimal ?? -1) else {
            throw .malformed("port of m= line")
        }
        self.init(kind: kind.string, port: port, transport: transport.string, formats: formats)
    }
}

/// The lines of a text without their ends; empty ones are left out.
private struct Lines: IteratorProtocol {
    private let octets: [UInt8]
    private var position = 0

    init(_ octets: [UInt8]) { self.octets = octets }

    mutating func next() -> OctetText? {
        while position < octets.count {
            let start = position
            var end = octets[start...].firstIndex(of: 0x0A) ?? octets.count
            position = end + 1
            while end > start, octets[end - 1] == 0x0D { end -= 1 }
            if end > start { return OctetText(octets, start..<end) }
        }
        return nil
    }
}
