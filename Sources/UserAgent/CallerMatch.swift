import Primitives

/// Who a caller must be: `sip:200@pbx.example.org`, `sip:2*@pbx.example.org`, `sip:*@*`.
///
/// `*` stands for any characters of the user or of the host. The user is compared with case, the host without;
/// `sips` equals `sip`; port and parameters do not count.
package struct CallerMatch: Hashable, Sendable, CustomStringConvertible {
    private let user: [UInt8]?
    private let host: [UInt8]
    package let description: String

    /// nil if the text is no `sip:` or `sips:` URI of that shape.
    package init?(_ text: String) {
        var rest = text.utf8[...]
        guard let colon = rest.firstIndex(of: 0x3A) else { return nil }
        let scheme = String(rest[..<colon])?.lowercased()
        guard scheme == "sip" || scheme == "sips" else { return nil }
        rest = rest[rest.index(after: colon)...]
        if let end = rest.firstIndex(where: { $0 == 0x3B || $0 == 0x3F }) { rest = rest[..<end] }
        if let at = rest.lastIndex(of: 0x40) {
            user = Array(rest[..<at])
            rest = rest[rest.index(after: at)...]
        } else {
            user = nil
        }
        if rest.first != 0x5B, let port = rest.lastIndex(of: 0x3A) { rest = rest[..<port] }
        guard !rest.isEmpty else { return nil }
        host = rest.map(\.lowercased)
        description = text
    }

    package func matches(user caller: String?, host callerHost: String) -> Bool {
        if let user {
            guard let caller, Self.matches(user[...], Array(caller.utf8)[...]) else { return false }
        }
        return Self.matches(host[...], callerHost.utf8.map(\.lowercased)[...])
    }

    /// Wildcard match in time proportional to the product of the lengths.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
        var reachable = [true] + Array(repeating: false, count: text.count)
        for octet in pattern {
            if octet == 0x2A {
                for index in reachable.indices.dropFirst() where reachable[index - 1] { reachable[index] = true }
            } else {
                for index in reachable.indices.dropFirst().reversed() {
                    reachable[index] = reachable[index - 1] && text[text.startIndex + index - 1] == octet
                }
                reachable[0] = false
            }
        }
        return reachable[text.count]
    }
}
