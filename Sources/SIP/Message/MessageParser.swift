import Primitives

extension Message {
    /// Reads one datagram; octets after Content-Length are discarded (P10).
    ///
    /// Returns nil for keep-alive octets (none, only line ends, only NULs, `jaK`). Throws what is answered with the
    /// error's `refusal`, or dropped if it has none.
    package static func parse(datagram octets: [UInt8]) throws(ParseError) -> Message? {
        if octets.count > Limits.datagram { throw ParseError(.headersTooLarge, "datagram is too large") }
        let start = octets.firstIndex { $0 != 0x0D && $0 != 0x0A } ?? octets.count
        if octets[start...].allSatisfy({ $0 == 0 }) || octets[start...].elementsEqual("jaK".utf8) { return nil }
        let parser = MessageParser(octets, start..<octets.count)
        let (message, length) = try parser.head()
        let available = octets.count - parser.bodyStart
        let count = length ?? available
        if count > available { throw parser.refused(ParseError("body is shorter than Content-Length")) }
        if count > Limits.body { throw parser.refused(ParseError(.bodyTooLarge, "body is too large")) }
        return message.withBody(Array(octets[parser.bodyStart..<(parser.bodyStart + count)]))
    }

    func withBody(_ body: [UInt8]) -> Message {
        switch self {
        case .request(var request):
            request.body = body
            return .request(request)
        case .response(var response):
            response.body = body
            return .response(response)
        }
    }
}

/// Reads the start line and all header lines first, then their values: so a fault in any line can still be answered
/// with the Vias of another.
struct MessageParser {
    private enum StartLine {
        case request(method: SIPMethod, uri: Range<Int>)
        case response(status: Int, reason: String)
    }

    private let octets: [UInt8]
    private var startLine: StartLine?
    private var lines: [HeaderLine] = []
    /// Where the octets go on after the empty line.
    private(set) var bodyStart: Int
    /// The first fault; reading goes on for the sake of the refusal.
    private var fault: ParseError?

    init(_ octets: [UInt8], _ range: Range<Int>) {
        self.octets = octets
        bodyStart = range.upperBound
        var reader = HeaderLines(octets, range)
        do throws(ParseError) {
            guard let line = reader.nextRaw() else { throw ParseError("message has no line end") }
            startLine = try parseStartLine(octets.trimmed(line))
        } catch {
            note(error)
        }
        readHeaderBlock(&reader)
    }

    private mutating func note(_ error: ParseError) { if fault == nil { fault = error } }

    private mutating func readHeaderBlock(_ reader: inout HeaderLines) {
        let start = reader.position
        var isAtEnd = false
        while !isAtEnd {
            do throws(ParseError) {
                if let line = try reader.next() { lines.append(line) } else { isAtEnd = true }
            } catch {
                note(error)
            }
            if reader.position - start > Limits.headerBlock || lines.count > Limits.headerLines {
                return note(ParseError(.headersTooLarge, "too many header lines"))
            }
        }
        if reader.isComplete { bodyStart = reader.position } else { note(ParseError("header block does not end")) }
    }

    // MARK: Start line

    private mutating func parseStartLine(_ line: Range<Int>) throws(ParseError) -> StartLine {
        if octets[line].contains(0x0D) { throw ParseError("start line is malformed") }
        var scanner = Scanner(octets, line)
        let word = scanner.take { $0.isBlank }
        scanner.skipWhitespace()
        if octets[word].contains(0x2F) {
            try checkVersion(word)
            let status = try scanner.integer(max: 699, "status code")
            guard status >= 100, scanner.isAtEnd || scanner.peek?.isBlank == true else {
                throw ParseError("status code is out of range")
            }
            scanner.skipWhitespace()
            return .response(status: Int(status), reason: scanner.text(scanner.position..<scanner.end))
        }
        guard !word.isEmpty, OctetSet.token.isSuperset(of: octets[word]) else {
            throw ParseError("method is malformed")
        }
        let method = SIPMethod(scanner.text(word))
        // Known from here on, so that even a request with a bad Request-URI or version can be refused.
        startLine = .request(method: method, uri: line.upperBound..<line.upperBound)
        let uri = scanner.take { $0.isBlank }
        scanner.skipWhitespace()
        let version = scanner.take { $0.isBlank }
        guard !uri.isEmpty, !version.isEmpty, scanner.isAtEnd else { throw ParseError("request line is malformed") }
        try checkVersion(version)
        if uri.count > Limits.uri { throw ParseError(.uriTooLong, "Request-URI is too long") }
        return .request(method: method, uri: uri)
    }

    private func checkVersion(_ range: Range<Int>) throws(ParseError) {
        let text = String(decoding: octets[range], as: UTF8.self)
        if equalIgnoringCase(text, "SIP/2.0") { return }
        guard equalIgnoringCase(String(decoding: octets[range].prefix(4), as: UTF8.self), "SIP/") else {
            throw ParseError("start line is malformed")
        }
        throw ParseError(.unsupportedVersion, "SIP version is not 2.0")
    }

    // MARK: Values

    /// The message without its body, and the value of Content-Length, nil if that is absent.
    func head() throws(ParseError) -> (message: Message, contentLength: Int?) {
        do throws(ParseError) {
            if let fault { throw fault }
            return (try message(), try contentLength())
        } catch {
            throw refused(error)
        }
    }

    private func message() throws(ParseError) -> Message {
        var vias: [Via] = []
        var from: NameAddress?
        var to: NameAddress?
        var callID: String?
        var cseq: CSeq?
        var headers = Headers()
        for line in lines {
            var scanner = line.scanner
            switch line.name {
            case .via:
                vias += try scanner.list(limit: Limits.vias - vias.count, "Via") { scanner throws(ParseError) in
                    try Via(&scanner)
                }
            case .from: try Self.set(&from, "From") { () throws(ParseError) in try scanner.wholeAddress("From") }
            case .to: try Self.set(&to, "To") { () throws(ParseError) in try scanner.wholeAddress("To") }
            case .callID:
                try Self.set(&callID, "Call-ID") { () throws(ParseError) in
                    let word = scanner.take { $0.isBlank }
                    if word.isEmpty || !scanner.isAtEnd { throw ParseError("Call-ID is malformed") }
                    return scanner.text(word)
                }
            case .cseq: try Self.set(&cseq, "CSeq") { () throws(ParseError) in try CSeq(&scanner) }
            case .contentLength: break
            default: headers.append(line.name, line.text)
            }
        }
        if vias.isEmpty { throw ParseError("Via is missing") }
        guard let from else { throw ParseError("From is missing") }
        guard let to else { throw ParseError("To is missing") }
        guard let callID else { throw ParseError("Call-ID is missing") }
        guard let cseq else { throw ParseError("CSeq is missing") }
        try check(isInvite: cseq.method == .invite)
        switch startLine {
        case .request(let method, let uri):
            guard cseq.method == method else { throw ParseError("CSeq method is not that of the request") }
            return .request(
                Request(
                    method, try SIPURI(octets, uri), from: from, to: to, callID: callID, cseq: cseq.number,
                    vias: vias, headers: headers))
        case .response(let status, let reason):
            return .response(
                Response(
                    status, reason: reason, vias: vias, from: from, to: to, callID: callID, cseq: cseq,
                    headers: headers))
        case nil: throw ParseError("start line is malformed")
        }
    }

    /// Sets what may stand only once (P9).
    private static func set<Value>(
        _ value: inout Value?, _ what: String, _ read: () throws(ParseError) -> Value
    ) throws(ParseError) {
        if value != nil { throw ParseError("\(what) is doubled") }
        value = try read()
    }

    /// Headers that make the message malformed if they are, though they are read later (P8).
    private func check(isInvite: Bool) throws(ParseError) {
        var routes = 0
        var recordRoutes = 0
        var hasMaxForwards = false
        for line in lines {
            var scanner = line.scanner
            switch line.name {
            case .contact where isInvite: _ = try addresses(&scanner, Limits.listValues, "Contact")
            case .route: routes += try addresses(&scanner, Limits.routes - routes, "Route")
            case .recordRoute:
                recordRoutes += try addresses(&scanner, Limits.routes - recordRoutes, "Record-Route")
            case .maxForwards:
                if hasMaxForwards { throw ParseError("Max-Forwards is doubled") }
                hasMaxForwards = true
                _ = try scanner.integer(max: 255, "Max-Forwards")
                if !scanner.isAtEnd { throw ParseError("Max-Forwards is malformed") }
            default: break
            }
        }
    }

    private func addresses(_ scanner: inout Scanner, _ limit: Int, _ what: String) throws(ParseError) -> Int {
        try scanner.list(limit: limit, what) { scanner throws(ParseError) in try NameAddress(&scanner) }.count
    }

    /// Equal values may stand more than once (P9).
    private func contentLength() throws(ParseError) -> Int? {
        var length: Int?
        for line in lines where line.name == .contentLength {
            var scanner = line.scanner
            let value = Int(clamping: try scanner.integer(max: UInt64.max, "Content-Length"))
            if !scanner.isAtEnd { throw ParseError("Content-Length is malformed") }
            if let length, length != value { throw ParseError("Content-Length is doubled") }
            length = value
        }
        if let length, length > Limits.body { throw ParseError(.bodyTooLarge, "body is too large") }
        return length
    }

    // MARK: Refusal

    /// The error with the answer that this message may get (P8).
    func refused(_ error: ParseError) -> ParseError {
        var error = error
        error.refusal = refusal(of: error)
        return error
    }

    private func refusal(of error: ParseError) -> Refusal? {
        guard case .request(let method, _) = startLine, method != .ack else { return nil }
        var vias: [Via] = []
        for line in lines where line.name == .via {
            var scanner = line.scanner
            // The first of a line that breaks off later is as good as any: it says where the answer goes.
            repeat {
                guard vias.count < Limits.vias, let via = try? Via(&scanner, anyVersion: true) else { break }
                vias.append(via)
            } while scanner.takeSeparator(0x2C)
        }
        if vias.isEmpty { return nil }
        var echoed = Headers()
        for name in [HeaderName.from, .to, .callID, .cseq] {
            if let line = lines.first(where: { $0.name == name }) { echoed.append(name, line.text) }
        }
        let reason = error.kind == .malformed ? error.reason : reasonPhrase(error.status)
        return Refusal(status: error.status, reason: reason, vias: vias, echoed: echoed)
    }
}
