import Primitives

/// Which incoming connections are taken and for how long they may be quiet (SEC4, T13). Pure: the time is handed in.
struct InboundLimits {
    /// Connections in all.
    static let all = 64
    /// Connections of one address (IPv6: of one /64) that is no known peer.
    static let perUnknownAddress = 4
    /// Without an octet for so long a connection is closed.
    static let idle: Duration = .seconds(15 * 60)
    /// The first octets have to come within this.
    static let first: Duration = .seconds(10)

    enum Admission: Equatable {
        case refused
        /// Taken; the connection `closing` has to go for it.
        case admitted(closing: UInt64?)
    }

    private struct Entry {
        let number: UInt64
        let network: IPAddress
        let isKnown: Bool
        var end: Instant
    }
    /// In the order of their coming.
    private var entries: [Entry] = []

    /// When a connection is next due to be closed.
    var deadline: Instant? { entries.lazy.map(\.end).min() }

    mutating func admit(_ number: UInt64, from address: IPAddress, isKnown: Bool, at now: Instant) -> Admission {
        let network = Self.network(of: address)
        if !isKnown, entries.lazy.filter({ !$0.isKnown && $0.network == network }).count >= Self.perUnknownAddress {
            return .refused
        }
        var closing: UInt64?
        if entries.count >= Self.all {
            guard let index = entries.firstIndex(where: { !$0.isKnown }) else { return .refused }
            closing = entries.remove(at: index).number
        }
        entries.append(Entry(number: number, network: network, isKnown: isKnown, end: now + Self.first))
        return .admitted(closing: closing)
    }

    /// Octets came.
    mutating func touch(_ number: UInt64, at now: Instant) {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
        entries[index].end = now + Self.idle
    }

    mutating func remove(_ number: UInt64) { entries.removeAll { $0.number == number } }

    /// Takes out the connections whose time is over.
    mutating func expire(at now: Instant) -> [UInt64] {
        let over = entries.filter { $0.end <= now }.map(\.number)
        if !over.isEmpty { entries.removeAll { $0.end <= now } }
        return over
    }

    private static func network(of address: IPAddress) -> IPAddress {
        switch address {
        case .v4: address
        case .v6(let high, _, let zone): .v6(high: high, low: 0, zone: zone)
        }
    }
}
