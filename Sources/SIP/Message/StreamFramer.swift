package import Primitives

/// Cuts a stream of octets into messages (P11). However the octets are split or joined, the same events come out.
///
/// After `failed` nothing more comes out: there is no way to find the start of the next message.
package struct StreamFramer: Sendable {
    package enum Event: Hashable, Sendable {
        case message(Message)
        /// CRLFCRLF between messages: answer with CRLF (RFC 5626 §4.4.1). Its first CRLF came out as `pong`.
        case ping
        /// A CRLF between messages: the answer to a ping of ours, or the first half of one of the peer's.
        case pong
        /// Answer with the error's refusal, if it has one, and close the connection.
        case failed(ParseError)
    }

    /// How long a message may take from its first octet to its last (P11).
    package static let partialMessageTimeout = Duration.seconds(10)

    /// When a partial message is too old; nil between messages. Then close the connection.
    package private(set) var deadline: Instant?

    private var octets: [UInt8] = []
    /// Where the message that is being received starts in `octets`.
    private var start = 0
    /// Octets before this one need no second look for the end of the header block.
    private var scanned = 0
    /// A message whose header block is complete, and where its body starts and ends in `octets`.
    private var awaited: (message: Message, body: Range<Int>)?
    private var hasPendingLineEnd = false
    private var hasFailed = false

    package init() {}

    /// Takes octets as they came from the stream and adds what they complete to `out`.
    package mutating func feed(_ more: some Sequence<UInt8>, at now: Instant, _ out: inout [Event]) {
        guard !hasFailed else { return }
        octets += more
        while !hasFailed, let event = next() { out.append(event) }
        if hasFailed || start == octets.count {
            octets.removeAll(keepingCapacity: !hasFailed)
        } else {
            octets.removeFirst(start)
        }
        scanned = max(0, scanned - start)
        if let (message, body) = awaited {
            awaited = (message, (body.lowerBound - start)..<(body.upperBound - start))
        }
        start = 0
        deadline = octets.isEmpty ? nil : deadline ?? now + Self.partialMessageTimeout
    }

    private mutating func next() -> Event? {
        if awaited == nil {
            if let lineEnd = skipLineEnd() { return lineEnd }
            scanned = max(scanned, start)
            guard let bodyStart = endOfHeaderBlock() else {
                return octets.count - start > Limits.headerBlock
                    ? fail(ParseError(.headersTooLarge, "header block is too large")) : nil
            }
            do throws(ParseError) {
                var parser = MessageParser(octets, start..<bodyStart)
                let message = try parser.head()
                guard let length = parser.contentLength else {
                    throw parser.refused(ParseError("Content-Length is missing"))
                }
                awaited = (message, bodyStart..<(bodyStart + length))
            } catch {
                return fail(error)
            }
        }
        guard let (message, body) = awaited, body.upperBound <= octets.count else { return nil }
        awaited = nil
        deadline = nil
        start = body.upperBound
        scanned = start
        return .message(message.withBody(Array(octets[body])))
    }

    /// Consumes line ends before a message, up to one that means something.
    private mutating func skipLineEnd() -> Event? {
        while start < octets.count {
            switch octets[start] {
            case 0x0D: start += 1
            case 0x0A:
                start += 1
                hasPendingLineEnd.toggle()
                return hasPendingLineEnd ? .pong : .ping
            default:
                hasPendingLineEnd = false
                return nil
            }
        }
        return nil
    }

    /// The index after the first empty line, looking at each octet once.
    private mutating func endOfHeaderBlock() -> Int? {
        while scanned < octets.count {
            guard octets[scanned] == 0x0A else {
                scanned += 1
                continue
            }
            var next = scanned + 1
            if next < octets.count, octets[next] == 0x0D { next += 1 }
            // What follows this line end is not there yet: look again when it is.
            if next == octets.count { return nil }
            if octets[next] == 0x0A { return next + 1 }
            scanned += 1
        }
        return nil
    }

    private mutating func fail(_ error: ParseError) -> Event {
        hasFailed = true
        awaited = nil
        let refused = error.refusal == nil ? MessageParser(octets, start..<octets.count).refused(error) : error
        return .failed(refused)
    }
}
