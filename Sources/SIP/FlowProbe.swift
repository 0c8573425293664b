package import Primitives

/// The STUN Binding that keeps a UDP flow and shows that it lives (RFC 5626 §4.4.2, RFC 8489 §5–6).
package enum FlowProbe {
    /// Octets of a transaction's name.
    package static let nameLength = 12

    private static let cookie: [UInt8] = [0x21, 0x12, 0xA4, 0x42]

    /// A Binding request without attributes. `name`: 12 octets, unguessable.
    package static func request(_ name: [UInt8]) -> [UInt8] { [0, 1, 0, 0] + cookie + name }

    /// What a success response says: whose it is, and how the server sees our address; nil for anything else.
    package static func response(_ octets: [UInt8]) -> (name: [UInt8], mapped: SocketAddress)? {
        guard octets.count >= 20, octets[0] == 1, octets[1] == 1, Array(octets[4..<8]) == cookie,
            octets.count == 20 + Int(octets[2]) << 8 + Int(octets[3])
        else { return nil }
        var index = 20
        while index + 4 <= octets.count {
            let length = Int(octets[index + 2]) << 8 + Int(octets[index + 3])
            let value = index + 4
            guard value + length <= octets.count else { return nil }
            if octets[index] == 0, octets[index + 1] == 0x20,
                let mapped = address(Array(octets[value..<(value + length)]), key: Array(octets[4..<20]))
            {
                return (Array(octets[8..<20]), mapped)
            }
            index = value + (length + 3) / 4 * 4
        }
        return nil
    }

    /// XOR-MAPPED-ADDRESS.
    private static func address(_ value: [UInt8], key: [UInt8]) -> SocketAddress? {
        guard value.count == 8 && value[1] == 1 || value.count == 20 && value[1] == 2 else { return nil }
        let port = UInt16(value[2] ^ key[0]) << 8 | UInt16(value[3] ^ key[1])
        let plain = zip(value[4...], key).map { $0 ^ $1 }
        if plain.count == 4 {
            return SocketAddress(.v4(plain.reduce(0) { $0 << 8 | UInt32($1) }), port)
        }
        let high = plain[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = plain[8...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return SocketAddress(.v6(high: high, low: low, zone: 0), port)
    }
}
