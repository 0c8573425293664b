import Primitives

/// The name of a header field. Compared without letter case; compact forms are the same as the long ones (P2).
package struct HeaderName: Hashable, Sendable {
    /// Place in the registry; nil for a name that the profile does not know, which is carried through (P8).
    private let number: UInt8?
    /// An unknown name as its sender spelt it.
    private let unknown: OctetText?

    private init(_ number: UInt8) {
        self.number = number
        unknown = nil
    }

    package init(_ name: String) {
        let octets = Array(name.utf8)
        self.init(octets, octets.indices)
    }

    init(_ octets: [UInt8], _ range: Range<Int>) {
        for known in Self.table[Self.bucket(octets, range)] where known.matches(octets, range) {
            number = known.number
            unknown = nil
            return
        }
        number = nil
        unknown = OctetText(octets, range)
    }

    package static func == (left: HeaderName, right: HeaderName) -> Bool {
        if left.number != right.number { return false }
        guard let name = left.unknown, let other = right.unknown else { return true }
        return name == other || name.matches(other.string)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        guard let unknown else { return }
        for index in unknown.range { hasher.combine(unknown.octets[index].lowercased) }
    }

    // MARK: Known names

    /// A known name or its letter in lower case.
    private struct Known {
        let folded: [UInt8]
        let number: UInt8

        func matches(_ octets: [UInt8], _ range: Range<Int>) -> Bool {
            guard folded.count == range.count else { return false }
            for index in folded.indices where octets[range.lowerBound + index].lowercased != folded[index] {
                return false
            }
            return true
        }
    }

    /// Known names by their length and their ends.
    private static let table: [[Known]] = {
        var table = [[Known]](repeating: [], count: 256)
        for (number, entry) in registry.enumerated() {
            for text in [entry.spelling, entry.letter].compactMap({ $0 }) {
                let folded = text.utf8.map(\.lowercased)
                table[bucket(folded, folded.indices)].append(
                    Known(folded: folded, number: UInt8(truncatingIfNeeded: number)))
            }
        }
        return table
    }()

    private static func bucket(_ octets: [UInt8], _ range: Range<Int>) -> Int {
        guard !range.isEmpty else { return 0 }
        let first = Int(octets[range.lowerBound].lowercased)
        let last = Int(octets[range.upperBound - 1].lowercased)
        return (range.count &* 31 &+ first &* 7 &+ last) & 255
    }

    /// Registered spellings in the order of their numbers, and the letters of RFC 3261 §7.3.3 and the IANA registry.
    private static let registry: [(spelling: String, letter: String?)] = [
        ("Accept", nil),
        ("Accept-Contact", "a"),
        ("Accept-Encoding", nil),
        ("Alert-Info", nil),
        ("Allow", nil),
        ("Allow-Events", "u"),
        ("Answer-Mode", nil),
        ("Authentication-Info", nil),
        ("Authorization", nil),
        ("Call-ID", "i"),
        ("Call-Info", nil),
        ("Contact", "m"),
        ("Content-Disposition", nil),
        ("Content-Encoding", "e"),
        ("Content-Length", "l"),
        ("Content-Type", "c"),
        ("CSeq", nil),
        ("Date", nil),
        ("Event", "o"),
        ("Expires", nil),
        ("From", "f"),
        ("Identity", "y"),
        ("Identity-Info", "n"),
        ("Info-Package", nil),
        ("Join", nil),
        ("Max-Forwards", nil),
        ("Min-Expires", nil),
        ("Min-SE", nil),
        ("P-Asserted-Identity", nil),
        ("P-Auto-Answer", nil),
        ("Path", nil),
        ("Priv-Answer-Mode", nil),
        ("Privacy", nil),
        ("Proxy-Authenticate", nil),
        ("Proxy-Authentication-Info", nil),
        ("Proxy-Authorization", nil),
        ("Proxy-Require", nil),
        ("RAck", nil),
        ("Reason", nil),
        ("Record-Route", nil),
        ("Refer-Sub", nil),
        ("Refer-To", "r"),
        ("Referred-By", "b"),
        ("Reject-Contact", "j"),
        ("Replaces", nil),
        ("Request-Disposition", "d"),
        ("Require", nil),
        ("Retry-After", nil),
        ("Route", nil),
        ("RSeq", nil),
        ("Server", nil),
        ("Service-Route", nil),
        ("Session-Expires", "x"),
        ("Subject", "s"),
        ("Subscription-State", nil),
        ("Supported", "k"),
        ("Timestamp", nil),
        ("To", "t"),
        ("Unsupported", nil),
        ("User-Agent", nil),
        ("Via", "v"),
        ("Warning", nil),
        ("WWW-Authenticate", nil),
    ]

    package static let accept = HeaderName(0)
    package static let acceptContact = HeaderName(1)
    package static let acceptEncoding = HeaderName(2)
    package static let alertInfo = HeaderName(3)
    package static let allow = HeaderName(4)
    package static let allowEvents = HeaderName(5)
    package static let answerMode = HeaderName(6)
    package static let authenticationInfo = HeaderName(7)
    package static let authorization = HeaderName(8)
    package static let callID = HeaderName(9)
    package static let callInfo = HeaderName(10)
    package static let contact = HeaderName(11)
    package static let contentDisposition = HeaderName(12)
    package static let contentEncoding = HeaderName(13)
    package static let contentLength = HeaderName(14)
    package static let contentType = HeaderName(15)
    package static let cseq = HeaderName(16)
    package static let date = HeaderName(17)
    package static let event = HeaderName(18)
    package static let expires = HeaderName(19)
    package static let from = HeaderName(20)
    package static let identity = HeaderName(21)
    package static let identityInfo = HeaderName(22)
    package static let infoPackage = HeaderName(23)
    package static let join = HeaderName(24)
    package static let maxForwards = HeaderName(25)
    package static let minExpires = HeaderName(26)
    package static let minSE = HeaderName(27)
    package static let pAssertedIdentity = HeaderName(28)
    package static let pAutoAnswer = HeaderName(29)
    package static let path = HeaderName(30)
    package static let privAnswerMode = HeaderName(31)
    package static let privacy = HeaderName(32)
    package static let proxyAuthenticate = HeaderName(33)
    package static let proxyAuthenticationInfo = HeaderName(34)
    package static let proxyAuthorization = HeaderName(35)
    package static let proxyRequire = HeaderName(36)
    package static let rack = HeaderName(37)
    package static let reason = HeaderName(38)
    package static let recordRoute = HeaderName(39)
    package static let referSub = HeaderName(40)
    package static let referTo = HeaderName(41)
    package static let referredBy = HeaderName(42)
    package static let rejectContact = HeaderName(43)
    package static let replaces = HeaderName(44)
    package static let requestDisposition = HeaderName(45)
    package static let require = HeaderName(46)
    package static let retryAfter = HeaderName(47)
    package static let route = HeaderName(48)
    package static let rseq = HeaderName(49)
    package static let server = HeaderName(50)
    package static let serviceRoute = HeaderName(51)
    package static let sessionExpires = HeaderName(52)
    package static let subject = HeaderName(53)
    package static let subscriptionState = HeaderName(54)
    package static let supported = HeaderName(55)
    package static let timestamp = HeaderName(56)
    package static let to = HeaderName(57)
    package static let unsupported = HeaderName(58)
    package static let userAgent = HeaderName(59)
    package static let via = HeaderName(60)
    package static let warning = HeaderName(61)
    package static let wwwAuthenticate = HeaderName(62)
}

extension HeaderName: CustomStringConvertible, ExpressibleByStringLiteral {
    package init(stringLiteral name: String) { self.init(name) }

    /// The registered spelling, or that of the sender for a name that we do not know.
    package var spelling: String { number.map { Self.registry[Int($0)].spelling } ?? unknown?.string ?? "" }

    /// The one-letter form, where there is one.
    package var compact: String? { number.flatMap { Self.registry[Int($0)].letter } }

    package var description: String { spelling }
}
