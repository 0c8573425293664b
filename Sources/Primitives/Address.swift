/// An IPv4 or IPv6 address. IPv4-mapped IPv6 addresses are kept as IPv4.
package enum IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// Four octets as one number in host order: `192.0.2.1` is 0xC0000201.
    case v4(UInt32)
    /// Sixteen octets as two numbers in host order, and the zone (interface index; 0: none) of a link-local address.
    case v6(high: UInt64, low: UInt64, zone: UInt32)

    package static let anyV4 = IPAddress.v4(0)
    package static let anyV6 = IPAddress.v6(high: 0, low: 0, zone: 0)
    package static let loopbackV4 = IPAddress.v4(0x7F00_0001)

    package var isV6: Bool { if case .v6 = self { true } else { false } }

    package var isUnspecified: Bool {
        switch self {
        case .v4(let value): value == 0
        case .v6(let high, let low, _): high == 0 && low == 0
        }
    }

    package var isLoopback: Bool {
        switch self {
        case .v4(let value): value >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }

    package var isLinkLocal: Bool {
        switch self {
        case .v4(let value): value >> 16 == 0xA9FE
        case .v6(let high, _, _): high >> 54 == 0x3FA
        }
    }

    package var isMulticast: Bool {
        switch self {
        case .v4(let value): value >> 28 == 0xE
        case .v6(let high, _, _): high >> 56 == 0xFF
        }
    }

    /// Network octets: 4 or 16 of them.
    package var octets: [UInt8] {
        switch self {
        case .v4(let value): return (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
        case .v6(let high, let low, _):
            return (0..<16).map { index in
                UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> (56 - 8 * UInt64(index % 8)))
            }
        }
    }

    /// From 4 or 16 network octets; nil for any other count.
    package init?(octets: some Collection<UInt8>, zone: UInt32 = 0) {
        switch octets.count {
        case 4: self = .v4(octets.reduce(0) { $0 << 8 | UInt32($1) })
        case 16:
            let high = octets.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let low = octets.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if high == 0, low >> 32 == 0xFFFF {
                self = .v4(UInt32(truncatingIfNeeded: low))
            } else {
                self = .v6(high: high, low: low, zone: zone)
            }
        default: return nil
        }
    }

    /// Reads dotted IPv4 or RFC 4291 IPv6 text, the latter with or without brackets. Zone names are not understood
    /// here (they need the kernel); a numeric zone (`%2`) is.
    package init?(_ text: some StringProtocol) {
        self.init(OctetText(String(text)))
    }

    /// Reads the same text.
    package init?(_ text: OctetText) {
        var range = text.range
        if text.first == 0x5B, text.last == 0x5D, text.count > 2 {
            range = (range.lowerBound + 1)..<(range.upperBound - 1)
        }
        guard let address = Self.parseV4(text.octets, range) ?? Self.parseV6(text.octets, range) else { return nil }
        self = address
    }

    package var description: String {
        switch self {
        case .v4: return octets.map { String($0) }.joined(separator: ".")
        case .v6(let high, let low, let zone):
            let groups = (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> (48 - 16 * UInt64($0 % 4))) }
            // RFC 5952: the longest run of two or more zero groups, the first of equals, becomes "::".
            var best = 0..<0
            var start = 0
            for index in 0...8 where index == 8 || groups[index] != 0 {
                if index - start > max(best.count, 1) { best = start..<index }
                start = index + 1
            }
            let hex = { (range: Range<Int>) in groups[range].map { String($0, radix: 16) }.joined(separator: ":") }
            let text = best.isEmpty ? hex(0..<8) : hex(0..<best.lowerBound) + "::" + hex(best.upperBound..<8)
            return zone == 0 ? text : text + "%\(zone)"
        }
    }

    private static func parseV4(_ octets: [UInt8], _ range: Range<Int>) -> IPAddress? {
        var value: UInt32 = 0
        var part: UInt32?
        var parts = 0
        for index in range {
            let character = octets[index]
            if character == 0x2E {
                guard let octet = part, octet < 256, parts < 3 else { return nil }
                value = value << 8 | octet
                parts += 1
                part = nil
            } else {
                guard character.isDigit, part != 0, part ?? 0 < 256 else { return nil }
                part = (part ?? 0) * 10 + UInt32(character - 0x30)
            }
        }
        guard let last = part, last < 256, parts == 3 else { return nil }
        return .v4(value << 8 | last)
    }

    private static func parseV6(_ octets: [UInt8], _ range: Range<Int>) -> IPAddress? {
        var address = octets[range]
        var zone: UInt32 = 0
        if let percent = address.firstIndex(of: 0x25) {
            guard let number = UInt32(String(decoding: address[(percent + 1)...], as: UTF8.self)) else { return nil }
            zone = number
            address = address[..<percent]
        }
        guard address.contains(0x3A) else { return nil }
        var groups: [UInt16] = []
        var gap: Int?
        var index = address.startIndex
        if address.starts(with: [0x3A, 0x3A]) {
            gap = 0
            index += 2
        }
        while index < address.endIndex {
            let end = address[index...].firstIndex(of: 0x3A) ?? address.endIndex
            let part = address[index..<end]
            if part.contains(0x2E), end == address.endIndex {
                guard case .v4(let value)? = parseV4(octets, part.startIndex..<part.endIndex) else { return nil }
                groups.append(UInt16(truncatingIfNeeded: value >> 16))
                groups.append(UInt16(truncatingIfNeeded: value))
                index = end
                break
            }
            guard !part.isEmpty, part.count <= 4 else { return nil }
            var group: UInt16 = 0
            for character in part {
                guard let digit = character.hexValue else { return nil }
                group = group << 4 | UInt16(digit)
            }
            groups.append(group)
            if groups.count > 8 { return nil }
            index = end
            if index == address.endIndex { break }
            index += 1
            if index == address.endIndex { return nil }
            if address[index] == 0x3A {
                guard gap == nil else { return nil }
                gap = groups.count
                index += 1
            }
        }
        if let gap {
            guard groups.count <= 7 else { return nil }
            groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
        }
        guard groups.count == 8 else { return nil }
        return IPAddress(octets: groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }, zone: zone)
    }
}

/// An address with a port.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    package var address: IPAddress
    package var port: UInt16

    package init(_ address: IPAddress, _ port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Reads `192.0.2.1:5060` or `[2001:db8::1]:5060`.
    package init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            let address = IPAddress(text[..<colon]),
            !address.isV6 || text.first == "["
        else { return nil }
        self.init(address, port)
    }

    /// `192.0.2.1:5060`, `[2001:db8::1]:5060`.
    package var description: String { address.isV6 ? "[\(address)]:\(port)" : "\(address):\(port)" }
}
