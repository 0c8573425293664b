import Primitives

/// The name of a header field. Compared without letter case; compact forms are the same as the long ones (P2).
package struct HeaderName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The registered spelling, or that of the sender for a name that we do not know.
    package let spelling: String
    private let folded: String

    package init(_ name: String) {
        let folded = name.lowercased()
        if let known = Self.known[folded] {
            self = known
        } else {
            spelling = name
            self.folded = folded
        }
    }

    package init(stringLiteral name: String) { self.init(name) }

    private init(registered spelling: String) {
        self.spelling = spelling
        folded = spelling.lowercased()
    }

    /// The one-letter form, where there is one.
    package var compact: String? { Self.letters[self] }

    package var description: String { spelling }

    package static func == (left: HeaderName, right: HeaderName) -> Bool { left.folded == right.folded }
    package func hash(into hasher: inout Hasher) { hasher.combine(folded) }

    package static let accept = HeaderName(registered: "Accept")
    package static let acceptContact = HeaderName(registered: "Accept-Contact")
    package static let acceptEncoding = HeaderName(registered: "Accept-Encoding")
    package static let alertInfo = HeaderName(registered: "Alert-Info")
    package static let allow = HeaderName(registered: "Allow")
    package static let allowEvents = HeaderName(registered: "Allow-Events")
    package static let answerMode = HeaderName(registered: "Answer-Mode")
    package static let authenticationInfo = HeaderName(registered: "Authentication-Info")
    package static let authorization = HeaderName(registered: "Authorization")
    package static let callID = HeaderName(registered: "Call-ID")
    package static let callInfo = HeaderName(registered: "Call-Info")
    package static let contact = HeaderName(registered: "Contact")
    package static let contentDisposition = HeaderName(registered: "Content-Disposition")
    package static let contentEncoding = HeaderName(registered: "Content-Encoding")
    package static let contentLength = HeaderName(registered: "Content-Length")
    package static let contentType = HeaderName(registered: "Content-Type")
    package static let cseq = HeaderName(registered: "CSeq")
    package static let date = HeaderName(registered: "Date")
    package static let event = HeaderName(registered: "Event")
    package static let expires = HeaderName(registered: "Expires")
    package static let from = HeaderName(registered: "From")
    package static let identity = HeaderName(registered: "Identity")
    package static let infoPackage = HeaderName(registered: "Info-Package")
    package static let join = HeaderName(registered: "Join")
    package static let maxForwards = HeaderName(registered: "Max-Forwards")
    package static let minExpires = HeaderName(registered: "Min-Expires")
    package static let minSE = HeaderName(registered: "Min-SE")
    package static let pAssertedIdentity = HeaderName(registered: "P-Asserted-Identity")
    package static let pAutoAnswer = HeaderName(registered: "P-Auto-Answer")
    package static let path = HeaderName(registered: "Path")
    package static let privAnswerMode = HeaderName(registered: "Priv-Answer-Mode")
    package static let privacy = HeaderName(registered: "Privacy")
    package static let proxyAuthenticate = HeaderName(registered: "Proxy-Authenticate")
    package static let proxyAuthenticationInfo = HeaderName(registered: "Proxy-Authentication-Info")
    package static let proxyAuthorization = HeaderName(registered: "Proxy-Authorization")
    package static let proxyRequire = HeaderName(registered: "Proxy-Require")
    package static let rack = HeaderName(registered: "RAck")
    package static let reason = HeaderName(registered: "Reason")
    package static let recordRoute = HeaderName(registered: "Record-Route")
    package static let referSub = HeaderName(registered: "Refer-Sub")
    package static let referTo = HeaderName(registered: "Refer-To")
    package static let referredBy = HeaderName(registered: "Referred-By")
    package static let rejectContact = HeaderName(registered: "Reject-Contact")
    package static let replaces = HeaderName(registered: "Replaces")
    package static let requestDisposition = HeaderName(registered: "Request-Disposition")
    package static let require = HeaderName(registered: "Require")
    package static let retryAfter = HeaderName(registered: "Retry-After")
    package static let route = HeaderName(registered: "Route")
    package static let rseq = HeaderName(registered: "RSeq")
    package static let server = HeaderName(registered: "Server")
    package static let serviceRoute = HeaderName(registered: "Service-Route")
    package static let sessionExpires = HeaderName(registered: "Session-Expires")
    package static let subject = HeaderName(registered: "Subject")
    package static let subscriptionState = HeaderName(registered: "Subscription-State")
    package static let supported = HeaderName(registered: "Supported")
    package static let timestamp = HeaderName(registered: "Timestamp")
    package static let to = HeaderName(registered: "To")
    package static let unsupported = HeaderName(registered: "Unsupported")
    package static let userAgent = HeaderName(registered: "User-Agent")
    package static let via = HeaderName(registered: "Via")
    package static let warning = HeaderName(registered: "Warning")
    package static let wwwAuthenticate = HeaderName(registered: "WWW-Authenticate")

    /// RFC 3261 §7.3.3 and the IANA registry; `n` (Identity-Info) and `y` (Identity) among them.
    private static let letters: [HeaderName: String] = [
        .acceptContact: "a", .referredBy: "b", .contentType: "c", .requestDisposition: "d", .contentEncoding: "e",
        .from: "f", .callID: "i", .rejectContact: "j", .supported: "k", .contentLength: "l", .contact: "m",
        HeaderName(registered: "Identity-Info"): "n", .event: "o", .referTo: "r", .subject: "s", .to: "t",
        .allowEvents: "u", .via: "v", .sessionExpires: "x", .identity: "y",
    ]

    /// Names by their lower-case spelling and by their letter.
    private static let known: [String: HeaderName] = {
        let all: [HeaderName] = [
            .accept, .acceptContact, .acceptEncoding, .alertInfo, .allow, .allowEvents, .answerMode,
            .authenticationInfo, .authorization, .callID, .callInfo, .contact, .contentDisposition, .contentEncoding,
            .contentLength, .contentType, .cseq, .date, .event, .expires, .from, .identity, .infoPackage, .join,
            .maxForwards, .minExpires, .minSE, .pAssertedIdentity, .pAutoAnswer, .path, .privAnswerMode, .privacy,
            .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization, .proxyRequire, .rack, .reason,
            .recordRoute, .referSub, .referTo, .referredBy, .rejectContact, .replaces, .requestDisposition, .require,
            .retryAfter, .route, .rseq, .server, .serviceRoute, .sessionExpires, .subject, .subscriptionState,
            .supported, .timestamp, .to, .unsupported, .userAgent, .via, .warning, .wwwAuthenticate,
        ]
        var known = letters.reduce(into: [:]) { $0[$1.value] = $1.key }
        for name in all + letters.keys { known[name.folded] = name }
        return known
    }()
}
