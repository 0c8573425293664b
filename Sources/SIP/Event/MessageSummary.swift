import Primitives

/// Whether messages wait in a mailbox (RFC 3842).
package struct MessageSummary: Equatable, Sendable {
    package static let contentType = "application/simple-message-summary"
    /// Larger counts are cut to this (D17).
    package static let largestCount = 1_000_000
    /// Octets of a body; a larger one is malformed.
    static let sizeLimit = 8 * 1024

    package var isWaiting: Bool
    /// Voice messages; nil if the server does not count them.
    package var new: Int?
    package var old: Int?

    package init(isWaiting: Bool, new: Int? = nil, old: Int? = nil) {
        self.isWaiting = isWaiting
        self.new = new
        self.old = old
    }

    /// Reads a body of the media type above.
    package init(_ octets: [UInt8]) throws(ParseError) {
        guard octets.count <= Self.sizeLimit else { throw ParseError("message summary is too large") }
        var isWaiting: Bool?
        var counts: [Int]?
        for line in octets.split(omittingEmptySubsequences: true, whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            guard let colon = line.firstIndex(of: 0x3A) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased().filter { $0 != " " }
            let value = line[(colon + 1)...]
            switch name {
            case "messages-waiting": isWaiting = Self.answer(value)
            case "voice-message": counts = Self.counts(value)
            default: break
            }
        }
        guard let isWaiting else { throw ParseError("message summary does not say whether messages wait") }
        self.isWaiting = isWaiting
        new = counts?.first
        old = counts.flatMap { $0.count > 1 ? $0[1] : nil }
    }

    private static func answer(_ value: ArraySlice<UInt8>) -> Bool? {
        switch String(decoding: value, as: UTF8.self).lowercased().filter({ $0 != " " && $0 != "\t" }) {
        case "yes": true
        case "no": false
        default: nil
        }
    }

    /// `2/8 (0/2)`: new and old ones; the urgent ones among them are not told apart.
    private static func counts(_ value: ArraySlice<UInt8>) -> [Int] {
        value.prefix { $0 != 0x28 }.split(separator: 0x2F).prefix(2).map { part in
            let digits = part.filter(\.isDigit)
            return digits.isEmpty ? 0 : min(Int(String(decoding: digits, as: UTF8.self)) ?? .max, largestCount)
        }
    }
}
