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
        var parser = MessageParser(octets, start..<octets.count)
        let message = try parser.head()
        let available = octets.count - parser.bodyStart
        let count = parser.contentLength ?? available
        if count > available { throw parser.refused(ParseError("body is shorter than Content-Length")) }
        return message.withBody(Array(octets[parser.bodyStart..<(parser.bodyStart + count)]))
    }

    consuming func withBody(_ body: [UInt8]) -> Message {
        switch consume self {
        case .request(var request):
            request.body = body
            return .request(request)
        case .response(var response):
            response.body = body
            return .response(response)
        }
    }
}

/// Reads a message up to its body. The refusal of a faulty one reads its lines anew, so that a fault in any of them can
/// be answered with the Vias of another.
struct MessageParser {
    private enum StartLine {
        case request(method: SIPMethod, uri: Range<Int>)
        case response(status: Int, reason: String)
    }

    private let octets: [UInt8]
    private let range: Range<Int>
    /// Where the octets go on after the empty line.
    private(set) var bodyStart: Int
    /// Nil if there is none.
    private(set) var contentLength: Int?

    init(_ octets: [UInt8], _ range: Range<Int>) {
        self.octets = octets
        self.range = range
        bodyStart = range.upperBound
    }

    /// The message without its body.
    mutating func head() throws(ParseError) -> Message {
        do throws(ParseError) {
            var lines = HeaderLines(octets, range)
            guard let (line, hasStrayReturn) = lines.nextRaw() else { throw ParseError("message has no line end") }
            if hasStrayReturn { throw ParseError("start line is malformed") }
            return try message(parseStartLine(octets.trimmed(line)), &lines)
        } catch {
            throw refused(error)
        }
    }

    // MARK: Start line

    private func parseStartLine(_ line: Range<Int>) throws(ParseError) -> StartLine {
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
        let uri = scanner.take { $0.isBlank }
        scanner.skipWhitespace()
        let version = scanner.take { $0.isBlank }
        guard !uri.isEmpty, !version.isEmpty, scanner.isAtEnd else { throw ParseError("request line is malformed") }
        try checkVersion(version)
        if uri.count > Limits.uri { throw ParseError(.uriTooLong, "Request-URI is too long") }
        return .request(method: method, uri: uri)
    }

    private func checkVersion(_ range: Range<Int>) throws(ParseError) {
        let version = OctetText(octets, range)
        if version.matches("SIP/2.0") { return }
        guard version.string.lowercased().hasPrefix("sip/") else {
            throw ParseError("start line is malformed")
        }
        throw ParseError(.unsupportedVersion, "SIP version is not 2.0")
    }

    // MARK: Header lines

    private mutating func message(
        _ startLine: StartLine, _ lines: inout HeaderLines
    ) throws(ParseError) -> Message {
        var vias: [Via] = []
        var from: NameAddress?
        var to: NameAddress?
        var callID: String?
        var cseq: CSeq?
        var headers = Headers()
        vias.reserveCapacity(2)
        headers.reserveCapacity(16)
        let start = lines.position
        var count = 0
        while let line = try lines.next() {
            count += 1
            if lines.position - start > Limits.headerBlock || count > Limits.headerLines {
                throw ParseError(.headersTooLarge, "too many header lines")
            }
            var scanner = Scanner(line.text)
            switch line.name {
            case .via:
                repeat {
                    if vias.count == Limits.vias { throw ParseError(.headersTooLarge, "too many values in Via") }
                    vias.append(try Via(&scanner))
                } while scanner.takeSeparator(0x2C)
                try scanner.finish("Via")
            case .from:
                if from != nil { throw ParseError("From is doubled") }
                from = try scanner.wholeAddress("From")
            case .to:
                if to != nil { throw ParseError("To is doubled") }
                to = try scanner.wholeAddress("To")
            case .callID:
                if callID != nil { throw ParseError("Call-ID is doubled") }
                let word = scanner.take { $0.isBlank }
                if word.isEmpty || !scanner.isAtEnd { throw ParseError("Call-ID is malformed") }
                callID = scanner.text(word)
            case .cseq:
                if cseq != nil { throw ParseError("CSeq is doubled") }
                cseq = try CSeq(&scanner)
            case .contentLength: try readContentLength(&scanner)
            default: headers.append(line.name, line.text)
            }
        }
        guard lines.isComplete else { throw ParseError("header block does not end") }
        bodyStart = lines.position
        if vias.isEmpty { throw ParseError("Via is missing") }
        guard let from else { throw ParseError("From is missing") }
        guard let to else { throw ParseError("To is missing") }
        guard let callID else { throw ParseError("Call-ID is missing") }
        guard let cseq else { throw ParseError("CSeq is missing") }
        try check(headers, isInvite: cseq.method == .invite)
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
        }
    }

    /// Equal values may stand more than once (P9).
    private mutating func readContentLength(_ scanner: inout Scanner) throws(ParseError) {
        let value = Int(clamping: try scanner.integer(max: UInt64.max, "Content-Length"))
        if !scanner.isAtEnd { throw ParseError("Content-Length is malformed") }
        if let contentLength, contentLength != value { throw ParseError("Content-Length is doubled") }
        if value > Limits.body { throw ParseError(.bodyTooLarge, "body is too large") }
        contentLength = value
    }

    /// Headers that make the message malformed if they are, though they are read later (P8).
    private func check(_ headers: Headers, isInvite: Bool) throws(ParseError) {
        var contacts = 0
        var routes = 0
        var recordRoutes = 0
        var hasMaxForwards = false
        for index in headers.fields.indices {
            let text = headers.fields[index].text
            switch headers.fields[index].name {
            case .contact where isInvite: try Self.check(text, &contacts, Limits.listValues, "Contact")
            case .route: try Self.check(text, &routes, Limits.routes, "Route")
            case .recordRoute: try Self.check(text, &recordRoutes, Limits.routes, "Record-Route")
            case .maxForwards:
                if hasMaxForwards { throw ParseError("Max-Forwards is doubled") }
                hasMaxForwards = true
                guard let hops = text.decimal, hops <= 255 else { throw ParseError("Max-Forwards is malformed") }
            default: break
            }
        }
    }

    private static func check(
        _ text: OctetText, _ count: inout Int, _ limit: Int, _ what: String
    ) throws(ParseError) {
        var scanner = Scanner(text)
        repeat {
            count += 1
            if count > limit { throw ParseError(.headersTooLarge, "too many values in \(what)") }
            _ = try NameAddress(&scanner)
        } while scanner.takeSeparator(0x2C)
        try scanner.finish(what)
    }

    /// The error with the answer that this message may get (P8).
    func refused(_ error: ParseError) -> ParseError {
        var error = error
        error.refusal = Refusal(of: error, in: octets, range)
        return error
    }
}
