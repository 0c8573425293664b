import Primitives

extension Message {
    /// Reads one datagram; octets after Content-Length are discarded (P10).
    ///
    /// Returns nil for keep-alive octets (empty, only line ends or NULs, `jaK`). Throws what may be answered by the
    /// error's `refusal`, and is dropped if it has none.
    package static func parse(datagram octets: [UInt8]) throws(ParseError) -> Message? {
        var start = 0
        while start < octets.count, octets[start] == 0x0D || octets[start] == 0x0A { start += 1 }
        if octets[start...].allSatisfy({ $0 == 0 }) || octets[start...].elementsEqual("jaK".utf8) { return nil }
        if octets.count > Limits.datagram { throw ParseError(.headersTooLarge, "datagram is too large") }
        return try MessageParser(octets, start, isDatagram: true).message()
    }

    /// Reads a message that a stream framer has cut out: `octets` end with its body.
    static func parse(framed octets: [UInt8]) throws(ParseError) -> Message {
        try MessageParser(octets, 0, isDatagram: false).message()
    }
}

/// Reads the start line and all header lines first, then their values: so a fault in any line can still be answered
/// with the Vias of another.
struct MessageParser {
    private enum StartLine {
        case request(method: SIPMethod, uri: Range<Int>)
        case response(status: Int, reason: String)
    }

    /// A header line, unfolded.
    private struct Line {
        let name: HeaderName
        /// The octets of the message, or of the unfolded line.
        let octets: [UInt8]
        let value: Range<Int>

        var scanner: Scanner { Scanner(octets, value) }
        var text: String { String(decoding: octets[value], as: UTF8.self) }
    }

    private let octets: [UInt8]
    private let isDatagram: Bool
    private var startLine: StartLine?
    private var lines: [Line] = []
    private var bodyStart: Int
    /// The first fault; reading goes on for the sake of the refusal.
    private var fault: ParseError?

    init(_ octets: [UInt8], _ start: Int, isDatagram: Bool) {
        self.octets = octets
        self.isDatagram = isDatagram
        bodyStart = start
        readStartLine()
        readHeaderBlock()
    }

    private mutating func note(_ error: ParseError) { if fault == nil { fault = error } }

    /// The next line without its end (CRLF, or LF alone: P12); nil at the end of the octets.
    private mutating func nextLine() -> Range<Int>? {
        guard let lineFeed = octets[bodyStart...].firstIndex(of: 0x0A) else { return nil }
        var end = lineFeed
        if end > bodyStart, octets[end - 1] == 0x0D { end -= 1 }
        defer { bodyStart = lineFeed + 1 }
        return bodyStart..<end
    }

    // MARK: Start line

    private mutating func readStartLine() {
        guard let line = nextLine() else { return note(ParseError("message has no line end")) }
        do throws(ParseError) {
            startLine = try parseStartLine(octets.trimmed(line))
        } catch {
            note(error)
        }
    }

    private mutating func parseStartLine(_ line: Range<Int>) throws(ParseError) -> StartLine {
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

    // MARK: Header lines

    private mutating func readHeaderBlock() {
        let blockStart = bodyStart
        while let line = nextLine() {
            if line.isEmpty { return }
            var value = line
            var isFolded = false
            while bodyStart < octets.count, octets[bodyStart].isBlank, let next = nextLine() {
                value = line.lowerBound..<next.upperBound
                isFolded = true
            }
            if value.count > Limits.headerLine { note(ParseError(.headersTooLarge, "header line is too long")) }
            if bodyStart - blockStart > Limits.headerBlock || lines.count >= Limits.headerLines {
                return note(ParseError(.headersTooLarge, "too many header lines"))
            }
            do throws(ParseError) {
                lines.append(try parseLine(value, isFolded: isFolded))
            } catch {
                note(error)
            }
        }
        bodyStart = octets.count
        note(ParseError("header block does not end"))
    }

    private func parseLine(_ line: Range<Int>, isFolded: Bool) throws(ParseError) -> Line {
        var scanner = Scanner(octets, line)
        let name = scanner.take(in: .token)
        scanner.skipWhitespace()
        guard !name.isEmpty, scanner.take(0x3A) else { throw ParseError("header line is malformed") }
        let value = octets.trimmed(scanner.position..<line.upperBound)
        let headerName = HeaderName(scanner.text(name))
        if isFolded {
            let unfolded = Self.unfolded(octets[value])
            return Line(name: headerName, octets: unfolded, value: unfolded.trimmed(0..<unfolded.count))
        }
        if octets[value].contains(0x0D) { throw ParseError("header line is malformed") }
        return Line(name: headerName, octets: octets, value: value)
    }

    /// Each line end with the white space around it becomes one space (P2).
    private static func unfolded(_ octets: ArraySlice<UInt8>) -> [UInt8] {
        var unfolded: [UInt8] = []
        var isInFold = false
        for octet in octets {
            if octet == 0x0D || octet == 0x0A {
                while unfolded.last?.isBlank == true { unfolded.removeLast() }
                isInFold = true
            } else if !isInFold || !octet.isBlank {
                if isInFold { unfolded.append(0x20) }
                isInFold = false
                unfolded.append(octet)
            }
        }
        return unfolded
    }

    // MARK: Values

    func message() throws(ParseError) -> Message {
        do throws(ParseError) {
            if let fault { throw fault }
            return try parsed()
        } catch {
            var error = error
            error.refusal = refusal(of: error)
            throw error
        }
    }

    private func parsed() throws(ParseError) -> Message {
        var vias: [Via] = []
        for line in lines where line.name == .via {
            var scanner = line.scanner
            vias += try scanner.list(limit: Limits.vias - vias.count, "Via") { scanner throws(ParseError) in
                try Via(&scanner)
            }
        }
        if vias.isEmpty { throw ParseError("Via is missing") }
        let from = try address(.from)
        let to = try address(.to)
        let callID = try single(.callID)
        guard !callID.value.isEmpty, !callID.octets[callID.value].contains(where: { $0.isBlank }) else {
            throw ParseError("Call-ID is malformed")
        }
        var cseqScanner = try single(.cseq).scanner
        let cseq = try CSeq(&cseqScanner)
        var headers = Headers()
        for line in lines {
            switch line.name {
            case .via, .from, .to, .callID, .cseq, .contentLength: break
            default: headers.append(line.name, line.text)
            }
        }
        try check(isInvite: cseq.method == .invite)
        let body = try body()
        switch startLine {
        case .request(let method, let uri):
            guard cseq.method == method else { throw ParseError("CSeq method is not that of the request") }
            return .request(
                Request(
                    method, try SIPURI(octets, uri), from: from, to: to, callID: callID.text, cseq: cseq.number,
                    vias: vias, headers: headers, body: body))
        case .response(let status, let reason):
            return .response(
                Response(
                    status, reason: reason, vias: vias, from: from, to: to, callID: callID.text, cseq: cseq,
                    headers: headers, body: body))
        case nil: throw ParseError("start line is malformed")
        }
    }

    /// The only line of its name (P9).
    private func single(_ name: HeaderName) throws(ParseError) -> Line {
        var found: Line?
        for line in lines where line.name == name {
            if found != nil { throw ParseError("\(name) is doubled") }
            found = line
        }
        guard let found else { throw ParseError("\(name) is missing") }
        return found
    }

    private func address(_ name: HeaderName) throws(ParseError) -> NameAddress {
        var scanner = try single(name).scanner
        let address = try NameAddress(&scanner)
        scanner.skipWhitespace()
        if !scanner.isAtEnd { throw ParseError("\(name) is malformed") }
        return address
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

    private func body() throws(ParseError) -> [UInt8] {
        let available = octets.count - bodyStart
        var length: Int?
        for line in lines where line.name == .contentLength {
            var scanner = line.scanner
            let value = try scanner.integer(max: UInt64(Int32.max), "Content-Length")
            if !scanner.isAtEnd { throw ParseError("Content-Length is malformed") }
            if let length, length != Int(value) { throw ParseError("Content-Length is doubled") }
            length = Int(value)
        }
        let count = length ?? (isDatagram ? available : 0)
        if count > Limits.body { throw ParseError(.bodyTooLarge, "body is too large") }
        if count > available { throw ParseError("body is shorter than Content-Length") }
        return Array(octets[bodyStart..<(bodyStart + count)])
    }

    // MARK: Refusal

    private func refusal(of error: ParseError) -> Refusal? {
        guard case .request(let method, _) = startLine, method != .ack else { return nil }
        var vias: [Via] = []
        for line in lines where line.name == .via {
            var scanner = line.scanner
            // The first of a line that breaks off later is as good as any: it says where the answer goes.
            repeat {
                guard vias.count < Limits.vias, let via = try? Via(&scanner) else { break }
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
