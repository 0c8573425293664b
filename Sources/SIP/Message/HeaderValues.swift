import Primitives

extension MessageFields {
    package var topVia: Via? { vias.first }

    /// Contacts; malformed ones (possible outside INVITE, where they are refused) and `*` are left out.
    package var contacts: [NameAddress] { addresses(.contact) }

    /// Whether a Contact is `*`, which in a REGISTER removes every binding.
    package var hasWildcardContact: Bool { headers.list(.contact).contains("*") }

    package var routes: [NameAddress] { addresses(.route) }
    package var recordRoutes: [NameAddress] { addresses(.recordRoute) }
    package var path: [NameAddress] { addresses(.path) }
    package var serviceRoutes: [NameAddress] { addresses(.serviceRoute) }
    package var assertedIdentities: [NameAddress] { addresses(.pAssertedIdentity) }
    package var referTo: NameAddress? { addresses(.referTo).first }
    package var referredBy: NameAddress? { addresses(.referredBy).first }

    /// Option tags in lower case.
    package var supported: [String] { headers.tokens(.supported) }
    package var require: [String] { headers.tokens(.require) }
    package var unsupported: [String] { headers.tokens(.unsupported) }

    /// Methods of Allow; nil if there is no such header (then nothing is known).
    package var allow: [SIPMethod]? {
        headers.contains(.allow) ? headers.texts(.allow).map { SIPMethod($0.string) } : nil
    }

    /// Hops left, 0…255; nil if absent (tolerated, D1).
    package var maxForwards: Int? { headers.first(.maxForwards).flatMap { Int($0) } }

    /// Seconds, saturated at 2^32-1 (P6).
    package var expires: UInt32? { headers.first(.expires).flatMap { deltaSeconds($0) } }
    package var minExpires: UInt32? { headers.first(.minExpires).flatMap { deltaSeconds($0) } }
    package var minSE: UInt32? { headers.first(.minSE).flatMap { deltaSeconds($0) } }
    package var retryAfter: UInt32? { headers.first(.retryAfter).flatMap { deltaSeconds($0) } }

    /// The first credentials of Authorization or Proxy-Authorization; nil if they are malformed or of another scheme.
    package func credentials(_ name: HeaderName) -> DigestCredentials? {
        headers.firstText(name).flatMap { DigestCredentials($0) }
    }

    package var contentType: MediaType? { headers.firstText(.contentType).flatMap { try? MediaType($0) } }
    package var event: ParameterizedToken? { headers.first(.event).flatMap { try? ParameterizedToken($0) } }
    package var subscriptionState: ParameterizedToken? {
        headers.first(.subscriptionState).flatMap { try? ParameterizedToken($0) }
    }
    package var contentDisposition: ParameterizedToken? {
        headers.first(.contentDisposition).flatMap { try? ParameterizedToken($0) }
    }
    package var answerMode: ParameterizedToken? {
        headers.first(.answerMode).flatMap { try? ParameterizedToken($0) }
    }
    package var privAnswerMode: ParameterizedToken? {
        headers.first(.privAnswerMode).flatMap { try? ParameterizedToken($0) }
    }
    package var sessionExpires: SessionExpires? { headers.first(.sessionExpires).flatMap { SessionExpires($0) } }

    /// Reasons of RFC 3326; malformed ones are left out.
    package var reasons: [Reason] { headers.list(.reason).compactMap { Reason($0) } }

    /// The first Replaces; more than one is for the caller to refuse (D15).
    package var replaces: Replaces? { headers.first(.replaces).flatMap { Replaces($0) } }

    package var warnings: [String] { headers.list(.warning) }

    /// RSeq of a reliable provisional response (RFC 3262), 1…2^32-1.
    package var rseq: UInt32? { headers.first(.rseq).flatMap { UInt32($0) } }
    package var rack: RAck? { headers.first(.rack).flatMap { RAck($0) } }

    private func addresses(_ name: HeaderName) -> [NameAddress] {
        headers.texts(name).compactMap { try? NameAddress($0) }
    }
}

extension NameAddress {
    /// The `expires` parameter of a Contact in seconds, saturated at 2^32-1.
    package var expires: UInt32? { parameters["expires"].flatMap { deltaSeconds($0) } }

    /// The preference of a Contact in thousandths, 0…1000; 1000 if absent or malformed (RFC 3261 §20.10).
    package var preference: Int {
        var scanner = Scanner(parameters["q"] ?? "1")
        let whole = scanner.take(in: .digits)
        _ = scanner.take(0x2E)
        let fraction = scanner.take(in: .digits)
        guard scanner.isAtEnd, whole.count == 1, fraction.count <= 3 else { return 1000 }
        let digits = scanner.text(whole) + scanner.text(fraction) + String(repeating: "0", count: 3 - fraction.count)
        return min(1000, Int(digits) ?? 1000)
    }
}

/// Seconds of Expires, Retry-After …: leading digits, saturated at 2^32-1 (P6); nil without a digit.
package func deltaSeconds(_ text: String) -> UInt32? {
    var value: UInt32?
    for octet in text.utf8 {
        guard octet.isDigit else { break }
        let (scaled, overflow) = (value ?? 0).multipliedReportingOverflow(by: 10)
        let (sum, carry) = scaled.addingReportingOverflow(UInt32(octet - 0x30))
        if overflow || carry { return .max }
        value = sum
    }
    return value
}

/// A media type with its parameters: `application/sdp`, `multipart/mixed;boundary=x`.
package struct MediaType: Hashable, Sendable, CustomStringConvertible {
    /// Type and subtype in lower case: `application/sdp`.
    package var name: String
    package var parameters: Parameters

    package init(_ text: String) throws(ParseError) { try self.init(OctetText(text)) }

    init(_ text: OctetText) throws(ParseError) {
        var scanner = Scanner(text)
        let type = try scanner.token("media type")
        guard scanner.takeSeparator(0x2F) else { throw ParseError("media type is malformed") }
        name = (type + "/" + (try scanner.token("media subtype"))).lowercased()
        parameters = try Parameters(&scanner)
        scanner.skipWhitespace()
        if !scanner.isAtEnd { throw ParseError("media type is malformed") }
    }

    package var description: String { name + parameters.description }
}

/// A token with parameters: Event, Subscription-State, Content-Disposition, Answer-Mode.
package struct ParameterizedToken: Hashable, Sendable, CustomStringConvertible {
    /// As spelt by the sender.
    package var token: String
    package var parameters: Parameters

    package init(_ text: String) throws(ParseError) {
        var scanner = Scanner(text)
        token = try scanner.token("value")
        parameters = try Parameters(&scanner)
        scanner.skipWhitespace()
        if !scanner.isAtEnd { throw ParseError("value is malformed") }
    }

    package func hasToken(_ other: String) -> Bool { equalIgnoringCase(token, other) }

    package var description: String { token + parameters.description }
}

/// Session-Expires (RFC 4028 §4).
package struct SessionExpires: Hashable, Sendable, CustomStringConvertible {
    package enum Refresher: String, Sendable { case uac, uas }

    package var seconds: UInt32
    package var refresher: Refresher?

    package init(seconds: UInt32, refresher: Refresher? = nil) {
        self.seconds = seconds
        self.refresher = refresher
    }

    package init?(_ text: String) {
        guard let value = try? ParameterizedToken(text), let seconds = deltaSeconds(value.token) else { return nil }
        self.seconds = seconds
        refresher = value.parameters["refresher"].flatMap { Refresher(rawValue: $0.lowercased()) }
    }

    package var description: String { String(seconds) + (refresher.map { ";refresher=\($0.rawValue)" } ?? "") }
}

/// A reason of RFC 3326: `SIP;cause=200;text="Call completed elsewhere"`.
package struct Reason: Hashable, Sendable, CustomStringConvertible {
    /// `SIP` or `Q.850`, as spelt by the sender.
    package var protocolName: String
    package var cause: Int?
    package var text: String?

    package init(protocolName: String = "SIP", cause: Int? = nil, text: String? = nil) {
        self.protocolName = protocolName
        self.cause = cause
        self.text = text
    }

    package init?(_ value: String) {
        guard let value = try? ParameterizedToken(value) else { return nil }
        protocolName = value.token
        cause = value.parameters["cause"].flatMap { UInt16($0) }.map { Int($0) }
        text = value.parameters["text"]
    }

    package var description: String {
        protocolName + (cause.map { ";cause=\($0)" } ?? "") + (text.map { ";text=" + quoted($0) } ?? "")
    }
}

/// The dialog that an INVITE replaces (RFC 3891): tags are named from the view of its receiver.
package struct Replaces: Hashable, Sendable, CustomStringConvertible {
    package var callID: String
    package var toTag: String
    package var fromTag: String
    package var earlyOnly: Bool

    package init(callID: String, toTag: String, fromTag: String, earlyOnly: Bool = false) {
        self.callID = callID
        self.toTag = toTag
        self.fromTag = fromTag
        self.earlyOnly = earlyOnly
    }

    package init?(_ text: String) {
        var scanner = Scanner(text)
        let callID = scanner.take { $0 == 0x3B || $0.isBlank }
        guard !callID.isEmpty, let parameters = try? Parameters(&scanner), let toTag = parameters["to-tag"],
            let fromTag = parameters["from-tag"]
        else { return nil }
        self.init(
            callID: scanner.text(callID), toTag: toTag, fromTag: fromTag, earlyOnly: parameters.contains("early-only"))
    }

    package var description: String {
        "\(callID);to-tag=\(toTag);from-tag=\(fromTag)" + (earlyOnly ? ";early-only" : "")
    }
}

/// RAck of a PRACK (RFC 3262 §7.2).
package struct RAck: Hashable, Sendable, CustomStringConvertible {
    package var rseq: UInt32
    package var cseq: CSeq

    package init(rseq: UInt32, cseq: CSeq) {
        self.rseq = rseq
        self.cseq = cseq
    }

    package init?(_ text: String) {
        var scanner = Scanner(text)
        guard let rseq = try? scanner.integer(max: UInt64(UInt32.max), "RAck") else { return nil }
        scanner.skipWhitespace()
        guard let cseq = try? CSeq(&scanner) else { return nil }
        self.init(rseq: UInt32(truncatingIfNeeded: rseq), cseq: cseq)
    }

    package var description: String { "\(rseq) \(cseq)" }
}
