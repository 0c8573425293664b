import Primitives

/// What requests and responses have in common.
package protocol MessageFields {
    /// Topmost first.
    var vias: [Via] { get set }
    var from: NameAddress { get set }
    var to: NameAddress { get set }
    var callID: String { get set }
    var cseq: CSeq { get set }
    /// All other headers but Content-Length, which is always that of `body`.
    var headers: Headers { get set }
    var body: [UInt8] { get set }
}

/// A SIP request.
package struct Request: MessageFields, Hashable, Sendable {
    package var method: SIPMethod
    package var uri: SIPURI
    package var vias: [Via]
    package var from: NameAddress
    package var to: NameAddress
    package var callID: String
    package var cseq: CSeq
    package var headers: Headers
    package var body: [UInt8]

    /// - Parameter cseq: The sequence number; CSeq gets the method of the request.
    package init(
        _ method: SIPMethod, _ uri: SIPURI, from: NameAddress, to: NameAddress, callID: String, cseq: UInt32,
        vias: [Via] = [], headers: Headers = [:], body: [UInt8] = []
    ) {
        self.method = method
        self.uri = uri
        self.vias = vias
        self.from = from
        self.to = to
        self.callID = callID
        self.cseq = CSeq(cseq, method)
        self.headers = headers
        self.body = body
    }

    /// A response with Via, From, To, Call-ID and CSeq of this request (RFC 3261 §8.2.6).
    ///
    /// - Parameters:
    ///   - reason: Nil for the phrase of the RFC.
    ///   - toTag: Added to To unless it has a tag already or the status is 100.
    package func response(_ status: Int, reason: String? = nil, toTag: String? = nil) -> Response {
        var to = to
        if to.tag == nil, status != 100, let toTag { to.tag = toTag }
        return Response(status, reason: reason, vias: vias, from: from, to: to, callID: callID, cseq: cseq)
    }

    /// Octets for the wire. `compact` header names are for requests that would be too large otherwise (P2).
    package func serialized(compact: Bool = false) -> [UInt8] {
        var writer = MessageWriter(compact: compact)
        writer.requestLine(method, uri)
        writer.fields(self)
        return writer.finish(body: body)
    }
}

/// A SIP response.
package struct Response: MessageFields, Hashable, Sendable {
    /// 100…699.
    package var status: Int
    package var reason: String
    package var vias: [Via]
    package var from: NameAddress
    package var to: NameAddress
    package var callID: String
    package var cseq: CSeq
    package var headers: Headers
    package var body: [UInt8]

    /// - Parameter reason: Nil for the phrase of the RFC.
    package init(
        _ status: Int, reason: String? = nil, vias: [Via], from: NameAddress, to: NameAddress, callID: String,
        cseq: CSeq, headers: Headers = [:], body: [UInt8] = []
    ) {
        self.status = status
        self.reason = reason ?? reasonPhrase(status)
        self.vias = vias
        self.from = from
        self.to = to
        self.callID = callID
        self.cseq = cseq
        self.headers = headers
        self.body = body
    }

    package var isProvisional: Bool { status < 200 }
    package var isSuccess: Bool { (200..<300).contains(status) }
    package var isFinal: Bool { status >= 200 }

    package func serialized() -> [UInt8] {
        var writer = MessageWriter(compact: false)
        writer.statusLine(status, reason)
        writer.fields(self)
        return writer.finish(body: body)
    }
}

/// A request or a response.
package enum Message: Hashable, Sendable {
    case request(Request)
    case response(Response)

    package var callID: String {
        switch self {
        case .request(let request): request.callID
        case .response(let response): response.callID
        }
    }

    package var cseq: CSeq {
        switch self {
        case .request(let request): request.cseq
        case .response(let response): response.cseq
        }
    }

    package var topVia: Via? {
        switch self {
        case .request(let request): request.topVia
        case .response(let response): response.topVia
        }
    }

    package func serialized() -> [UInt8] {
        switch self {
        case .request(let request): request.serialized()
        case .response(let response): response.serialized()
        }
    }
}

/// Writes a message line by line.
struct MessageWriter {
    private var octets: [UInt8] = []
    private let compact: Bool

    init(compact: Bool) {
        self.compact = compact
        octets.reserveCapacity(1024)
    }

    mutating func requestLine(_ method: SIPMethod, _ uri: SIPURI) { line("\(method) \(uri) SIP/2.0") }

    mutating func statusLine(_ status: Int, _ reason: String) { line("SIP/2.0 \(status) \(reason)") }

    mutating func fields(_ message: some MessageFields) {
        for via in message.vias { field(.via, via.description) }
        field(.from, message.from.description)
        field(.to, message.to.description)
        field(.callID, message.callID)
        field(.cseq, message.cseq.description)
        for field in message.headers.fields { self.field(field.name, field.value) }
    }

    mutating func field(_ name: HeaderName, _ value: String) {
        octets += (compact ? name.compact ?? name.spelling : name.spelling).utf8
        octets += [0x3A, 0x20]
        line(value)
    }

    mutating func finish(body: [UInt8]) -> [UInt8] {
        field(.contentLength, String(body.count))
        octets += [0x0D, 0x0A]
        octets += body
        return octets
    }

    /// A value can never start another header: line ends in it become spaces.
    private mutating func line(_ text: String) {
        let start = octets.count
        octets += text.utf8
        for index in start..<octets.count where octets[index] == 0x0D || octets[index] == 0x0A {
            octets[index] = 0x20
        }
        octets += [0x0D, 0x0A]
    }
}
