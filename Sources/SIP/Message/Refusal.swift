import Primitives

/// A final response to a request that could not be understood: it echoes the headers as they came.
package struct Refusal: Hashable, Sendable {
    package var status: Int
    package var reason: String
    /// The Vias of the request as far as they could be read; the transport adds `received` and `rport` to the first.
    package var vias: [Via]
    /// From, To, Call-ID and CSeq as received, those that were there.
    package var echoed: Headers

    package func serialized() -> [UInt8] {
        var writer = MessageWriter(compact: false)
        writer.statusLine(status, reason)
        for via in vias { writer.field(.via, via.description) }
        for field in echoed.fields { writer.field(field.name, field.value) }
        return writer.finish(body: [])
    }

    /// Nil where none may be given: to a response or an ACK, or without a usable Via.
    init?(of error: ParseError, in octets: [UInt8], _ range: Range<Int>) {
        var lines = HeaderLines(octets, range)
        guard let (startLine, hasStrayReturn) = lines.nextRaw(), !hasStrayReturn,
            let method = Self.method(octets, octets.trimmed(startLine)), method != .ack
        else { return nil }
        status = error.status
        reason = error.kind == .malformed ? error.reason : reasonPhrase(error.status)
        vias = []
        echoed = Headers()
        var values: [HeaderName: OctetText] = [:]
        for _ in 0..<Limits.headerLines where !lines.isAtEnd {
            guard let line = try? lines.next() else { continue }
            if line.name == .via {
                readVias(line.text)
            } else if values[line.name] == nil {
                values[line.name] = line.text
            }
        }
        for name in [HeaderName.from, .to, .callID, .cseq] {
            if let text = values[name] { echoed.append(name, text) }
        }
        if vias.isEmpty { return nil }
    }

    private static func method(_ octets: [UInt8], _ startLine: Range<Int>) -> SIPMethod? {
        var scanner = Scanner(octets, startLine)
        let word = scanner.take(in: .token)
        guard !word.isEmpty, scanner.peek?.isBlank ?? true else { return nil }
        return SIPMethod(scanner.text(word))
    }

    /// The first of a line that breaks off later is as good as any: it says where the answer goes.
    private mutating func readVias(_ text: OctetText) {
        var scanner = Scanner(text)
        repeat {
            guard vias.count < Limits.vias, let via = try? Via(&scanner, anyVersion: true) else { return }
            vias.append(via)
        } while scanner.takeSeparator(0x2C)
    }
}
