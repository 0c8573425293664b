package import Primitives

/// A pattern of callers: a `sip:` URI where `*` stands for any characters of the user or of the host.
package struct CallerPattern: Hashable, Sendable, CustomStringConvertible {
    /// With `*`, case-sensitive; nil matches a caller without a user only.
    package let user: String?
    /// With `*`, lower case; an IPv6 literal stands in brackets.
    package let host: String

    package var description: String { user.map { "sip:\($0)@\(host)" } ?? "sip:\(host)" }

    /// Reads a `sip:` or `sips:` URI; its port, parameters and headers are dropped. Nil for anything else.
    package init?(_ text: String) {
        guard let shape = SIPURIShape(text, wildcards: true) else { return nil }
        user = shape.user
        host = shape.host
    }

    /// Whether the asserted caller (I7) fits; takes the parts of its URI as they came, escapes (`%41`) included.
    package func matches(user: String?, host: String) -> Bool {
        let userFits =
            switch (self.user, user) {
            case (nil, nil): true
            case (let pattern?, let user?): wildcard(unescaped(pattern), matches: unescaped(user))
            default: false
            }
        return userFits && wildcard(Array(self.host.utf8), matches: host.utf8.map(\.lowercased))
    }
}

/// Who may call an account at all, beside its registrar.
package enum CallSource: Hashable, Sendable, CustomStringConvertible {
    /// A host name or address of the sending peer.
    case host(String)
    /// A network in CIDR notation; the address with its host bits cleared.
    case network(IPAddress, prefixLength: Int)
    case caller(CallerPattern)

    package var description: String {
        switch self {
        case .host(let host): host
        case .network(let address, let length): "\(address)/\(length)"
        case .caller(let pattern): pattern.description
        }
    }

    /// Reads `host`, `192.0.2.0/24`, `2001:db8::/32` or a pattern of callers; nil for anything else.
    package init?(_ text: String) {
        if text.isSIPURI {
            guard let pattern = CallerPattern(text) else { return nil }
            self = .caller(pattern)
        } else if let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) {
            guard let address = IPAddress(text[..<slash]), let length = Int(text[text.utf8.index(after: slash)...]),
                length >= 0, length <= (address.isV6 ? 128 : 32)
            else { return nil }
            self = .network(address.masked(to: length), prefixLength: length)
        } else if let address = IPAddress(text) {
            self = .host(address.description)
        } else {
            guard let shape = SIPURIShape("sip:\(text)"), shape.user == nil, shape.isBareHost else { return nil }
            self = .host(shape.host)
        }
    }

    /// Whether this names the network that the peer's address is in. Host names and callers are for others to compare.
    package func contains(_ address: IPAddress) -> Bool {
        switch self {
        case .host(let host): IPAddress(host) == address
        case .network(let network, let length): network.isV6 == address.isV6 && address.masked(to: length) == network
        case .caller: false
        }
    }
}

/// Who may call an account at all.
package enum AcceptFrom: Hashable, Sendable {
    case registrar
    case anyone
    /// These, beside the registrar.
    case sources([CallSource])
}

/// Who may open a door by code.
package enum CodeFrom: Hashable, Sendable {
    case any
    case callers([CallerPattern])
}

extension IPAddress {
    /// The address with all but its first `length` bits cleared, and no zone.
    fileprivate func masked(to length: Int) -> IPAddress {
        switch self {
        case .v4(let value): .v4(length <= 0 ? 0 : value & (~0 << UInt32(32 - min(length, 32))))
        case .v6(let high, let low, _):
            .v6(
                high: length <= 0 ? 0 : high & (~0 << UInt64(64 - min(length, 64))),
                low: length <= 64 ? 0 : low & (~0 << UInt64(128 - min(length, 128))), zone: 0)
        }
    }
}

/// Whether `*` and literal octets cover the whole text. Linear but for one point to return to.
private func wildcard(_ pattern: [UInt8], matches text: [UInt8]) -> Bool {
    let star = UInt8(ascii: "*")
    var (p, t) = (0, 0)
    var resume: (pattern: Int, text: Int)?
    while t < text.count {
        if p < pattern.count, pattern[p] == star {
            p += 1
            resume = (p, t)
        } else if p < pattern.count, pattern[p] == text[t] {
            p += 1
            t += 1
        } else if let point = resume {
            p = point.pattern
            t = point.text + 1
            resume = (p, t)
        } else {
            return false
        }
    }
    return pattern[p...].allSatisfy { $0 == star }
}

/// The octets with `%41` written out; a `%` that begins no escape stays.
private func unescaped(_ text: String) -> [UInt8] {
    let source = Array(text.utf8)
    var result: [UInt8] = []
    var index = 0
    while index < source.count {
        if source[index] == UInt8(ascii: "%"), index + 2 < source.count, let high = source[index + 1].hexValue,
            let low = source[index + 2].hexValue
        {
            result.append(high << 4 | low)
            index += 3
        } else {
            result.append(source[index])
            index += 1
        }
    }
    return result
}
