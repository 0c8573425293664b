/// A set of ASCII octets, for the character classes of the grammar (RFC 3261 §25.1).
struct OctetSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ characters: String) {
        for octet in characters.utf8 where octet < 128 {
            if octet < 64 { low |= 1 << UInt64(octet) } else { high |= 1 << UInt64(octet - 64) }
        }
    }

    func contains(_ octet: UInt8) -> Bool {
        if octet < 64 { return low >> UInt64(octet) & 1 == 1 }
        return octet < 128 && high >> UInt64(octet - 64) & 1 == 1
    }

    func isSuperset(of octets: some Sequence<UInt8>) -> Bool { octets.allSatisfy(contains) }

    private static let alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let unreserved = alphanumeric + "-_.!~*'()"

    static let digits = OctetSet("0123456789")
    static let token = OctetSet(alphanumeric + "-.!%*_+`'~")
    static let scheme = OctetSet(alphanumeric + "+-.")
    /// Host names; the underscore is no part of the grammar but of many local networks.
    static let hostName = OctetSet(alphanumeric + "-._")
    static let ipv6 = OctetSet("0123456789abcdefABCDEF:.")
    /// A header parameter's value that needs no quotes: a token, or an address with or without brackets.
    static let parameterValue = OctetSet(alphanumeric + "-.!%*_+`'~[]:")
    static let visualSeparators = OctetSet("-.()")
    static let telephone = OctetSet("+0123456789abcdefABCDEF*#-.()")

    // What may stand unescaped in each component of a URI.
    static let user = OctetSet(unreserved + "&=+$,;?/")
    static let password = OctetSet(unreserved + "&=+$,")
    static let uriParameter = OctetSet(unreserved + "[]/:&+$")
    static let uriHeader = OctetSet(unreserved + "[]/?:+$")
}
