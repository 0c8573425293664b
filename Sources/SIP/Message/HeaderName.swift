import Primitives

/// The name of a header field. Compared without letter case; compact forms are the same as the long ones (P2).
package enum HeaderName: Hashable, Sendable {
    case accept, acceptContact, acceptEncoding, alertInfo, allow, allowEvents, answerMode, authenticationInfo
    case authorization, callID, callInfo, contact, contentDisposition, contentEncoding, contentLength
    case contentType, cseq, date, event, expires, from, identity, identityInfo, infoPackage, join, maxForwards
    case minExpires, minSE, pAssertedIdentity, pAutoAnswer, path, privAnswerMode, privacy, proxyAuthenticate
    case proxyAuthenticationInfo, proxyAuthorization, proxyRequire, rack, reason, recordRoute, referSub
    case referTo, referredBy, rejectContact, replaces, requestDisposition, require, retryAfter, route, rseq
    case server, serviceRoute, sessionExpires, subject, subscriptionState, supported, timestamp, to
    case unsupported, userAgent, via, warning, wwwAuthenticate
    /// A name that the profile does not know; it is carried through (P8).
    case other(OtherName)

    /// An unknown name as its sender spelt it.
    package struct OtherName: Hashable, Sendable {
        fileprivate let spelling: String

        package static func == (left: OtherName, right: OtherName) -> Bool {
            equalIgnoringCase(left.spelling, right.spelling)
        }

        package func hash(into hasher: inout Hasher) {
            for octet in spelling.utf8 { hasher.combine(octet.lowercased) }
        }
    }

    package init(_ name: String) {
        let octets = Array(name.utf8)
        self.init(octets, 0..<octets.count)
    }

    init(_ octets: [UInt8], _ range: Range<Int>) {
        if range.count < Self.byLength.count {
            for candidate in Self.byLength[range.count]
            where range.indices.allSatisfy({ octets[$0].lowercased == candidate.folded[$0 - range.lowerBound] }) {
                self = candidate.name
                return
            }
        }
        self = .other(OtherName(spelling: String(decoding: octets[range], as: UTF8.self)))
    }

    /// Known names by the number of their octets, letters among them, in lower case.
    private static let byLength: [[(folded: [UInt8], name: HeaderName)]] = {
        var table: [[(folded: [UInt8], name: HeaderName)]] = []
        for (name, spelling, letter) in registry {
            for text in [spelling, letter ?? spelling] {
                let folded = text.utf8.map(\.lowercased)
                while table.count <= folded.count { table.append([]) }
                table[folded.count].append((folded, name))
            }
        }
        return table
    }()

    private static let spellings = Dictionary(uniqueKeysWithValues: registry.map { ($0.name, $0.spelling) })

    private static let letters = registry.reduce(into: [HeaderName: String]()) { $0[$1.name] = $1.letter }

    /// Registered spellings, and the letters of RFC 3261 §7.3.3 and the IANA registry.
    private static let registry: [(name: HeaderName, spelling: String, letter: String?)] = [
        (.accept, "Accept", nil),
        (.acceptContact, "Accept-Contact", "a"),
        (.acceptEncoding, "Accept-Encoding", nil),
        (.alertInfo, "Alert-Info", nil),
        (.allow, "Allow", nil),
        (.allowEvents, "Allow-Events", "u"),
        (.answerMode, "Answer-Mode", nil),
        (.authenticationInfo, "Authentication-Info", nil),
        (.authorization, "Authorization", nil),
        (.callID, "Call-ID", "i"),
        (.callInfo, "Call-Info", nil),
        (.contact, "Contact", "m"),
        (.contentDisposition, "Content-Disposition", nil),
        (.contentEncoding, "Content-Encoding", "e"),
        (.contentLength, "Content-Length", "l"),
        (.contentType, "Content-Type", "c"),
        (.cseq, "CSeq", nil),
        (.date, "Date", nil),
        (.event, "Event", "o"),
        (.expires, "Expires", nil),
        (.from, "From", "f"),
        (.identity, "Identity", "y"),
        (.identityInfo, "Identity-Info", "n"),
        (.infoPackage, "Info-Package", nil),
        (.join, "Join", nil),
        (.maxForwards, "Max-Forwards", nil),
        (.minExpires, "Min-Expires", nil),
        (.minSE, "Min-SE", nil),
        (.pAssertedIdentity, "P-Asserted-Identity", nil),
        (.pAutoAnswer, "P-Auto-Answer", nil),
        (.path, "Path", nil),
        (.privAnswerMode, "Priv-Answer-Mode", nil),
        (.privacy, "Privacy", nil),
        (.proxyAuthenticate, "Proxy-Authenticate", nil),
        (.proxyAuthenticationInfo, "Proxy-Authentication-Info", nil),
        (.proxyAuthorization, "Proxy-Authorization", nil),
        (.proxyRequire, "Proxy-Require", nil),
        (.rack, "RAck", nil),
        (.reason, "Reason", nil),
        (.recordRoute, "Record-Route", nil),
        (.referSub, "Refer-Sub", nil),
        (.referTo, "Refer-To", "r"),
        (.referredBy, "Referred-By", "b"),
        (.rejectContact, "Reject-Contact", "j"),
        (.replaces, "Replaces", nil),
        (.requestDisposition, "Request-Disposition", "d"),
        (.require, "Require", nil),
        (.retryAfter, "Retry-After", nil),
        (.route, "Route", nil),
        (.rseq, "RSeq", nil),
        (.server, "Server", nil),
        (.serviceRoute, "Service-Route", nil),
        (.sessionExpires, "Session-Expires", "x"),
        (.subject, "Subject", "s"),
        (.subscriptionState, "Subscription-State", nil),
        (.supported, "Supported", "k"),
        (.timestamp, "Timestamp", nil),
        (.to, "To", "t"),
        (.unsupported, "Unsupported", nil),
        (.userAgent, "User-Agent", nil),
        (.via, "Via", "v"),
        (.warning, "Warning", nil),
        (.wwwAuthenticate, "WWW-Authenticate", nil),
    ]
}

extension HeaderName: CustomStringConvertible, ExpressibleByStringLiteral {
    package init(stringLiteral name: String) { self.init(name) }

    /// The registered spelling, or that of the sender for a name that we do not know.
    package var spelling: String {
        if case .other(let name) = self { return name.spelling }
        return Self.spellings[self] ?? ""
    }

    /// The one-letter form, where there is one.
    package var compact: String? { Self.letters[self] }

    package var description: String { spelling }
}
