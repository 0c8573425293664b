package import Primitives

/// One hop of a Via header (RFC 3261 §20.42, RFC 3581).
package struct Via: Hashable, Sendable, CustomStringConvertible {
    /// The branch prefix of RFC 3261; the rest of such a branch identifies the transaction.
    package static let magicCookie = "z9hG4bK"

    /// In upper case: `UDP`, `TCP`, `TLS`, or one that we do not know.
    package var transport: String
    package var host: Host
    package var port: UInt16?
    package var parameters: Parameters

    package init(transport: String, host: Host, port: UInt16? = nil, branch: String, parameters: Parameters = [:]) {
        self.transport = transport
        self.host = host
        self.port = port
        self.parameters = parameters
        self.parameters["branch"] = branch
    }

    package init(_ text: String) throws(ParseError) {
        var scanner = Scanner(text)
        try self.init(&scanner)
        scanner.skipWhitespace()
        if !scanner.isAtEnd { throw ParseError("Via is malformed") }
    }

    package var branch: String? {
        get { parameters["branch"] }
        set { parameters["branch"] = newValue }
    }

    /// The source address that the receiver saw; read with and without brackets (P14).
    package var received: IPAddress? {
        get { parameters.octets("received").flatMap { IPAddress($0) } }
        set { parameters["received"] = newValue.map { Host($0).text } }
    }

    /// Whether the sender asks for a response to its source port (RFC 3581), answered already or not.
    package var wantsRport: Bool { parameters.contains("rport") }

    /// The source port that the receiver filled in. Setting nil leaves the request for it.
    package var rport: UInt16? {
        get { parameters["rport"].flatMap { UInt16($0) } }
        set { parameters.set("rport", text: newValue.map { String($0) }) }
    }

    package var description: String {
        "SIP/2.0/\(transport) \(host)" + (port.map { ":\($0)" } ?? "") + parameters.description
    }

    /// - Parameter anyVersion: For the answer to a request whose version is not ours.
    init(_ scanner: inout Scanner, anyVersion: Bool = false) throws(ParseError) {
        scanner.skipWhitespace()
        let name = scanner.take(in: .token)
        guard scanner.takeSeparator(0x2F) else { throw ParseError("Via protocol is malformed") }
        let version = scanner.take(in: .token)
        guard scanner.slice(name).matches("SIP"), anyVersion || scanner.slice(version).matches("2.0"),
            scanner.takeSeparator(0x2F)
        else { throw ParseError("Via protocol is not SIP/2.0") }
        let protocolName = scanner.take(in: .token)
        if protocolName.isEmpty { throw ParseError("Via transport is missing") }
        transport = scanner.slice(protocolName).matches("UDP") ? "UDP" : scanner.text(protocolName).uppercased()
        guard scanner.peek?.isBlank == true else { throw ParseError("Via sent-by is missing") }
        scanner.skipWhitespace()
        host = try Host(&scanner)
        let afterHost = scanner.position
        scanner.skipWhitespace()
        if scanner.take(0x3A) {
            scanner.skipWhitespace()
            let number = try scanner.integer(max: 65_535, "Via port")
            guard let value = UInt16(exactly: number), value > 0 else { throw ParseError("Via port is out of range") }
            port = value
        } else {
            scanner.position = afterHost
        }
        parameters = try Parameters(&scanner)
    }
}

/// The sequence number and method of CSeq (RFC 3261 §20.16).
package struct CSeq: Hashable, Sendable, CustomStringConvertible {
    /// 0…2^31-1 (P6).
    package var number: UInt32
    package var method: SIPMethod

    package init(_ number: UInt32, _ method: SIPMethod) {
        self.number = number
        self.method = method
    }

    package var description: String { "\(number) \(method)" }

    init(_ scanner: inout Scanner) throws(ParseError) {
        number = UInt32(truncatingIfNeeded: try scanner.integer(max: 0x7FFF_FFFF, "CSeq"))
        guard scanner.peek?.isBlank == true else { throw ParseError("CSeq method is missing") }
        scanner.skipWhitespace()
        method = SIPMethod(try scanner.token("CSeq method"))
        scanner.skipWhitespace()
        if !scanner.isAtEnd { throw ParseError("CSeq is malformed") }
    }
}
