import Primitives
import SIP
import Testing

@Suite struct StreamFramerTests {
    private static let head = """
        OPTIONS sip:a@b SIP/2.0\r
        Via: SIP/2.0/TCP 192.0.2.1;branch=z9hG4bK1\r
        From: <sip:a@b>;tag=1\r
        To: <sip:a@b>\r
        Call-ID: c\r
        CSeq: 1 OPTIONS\r

        """
    private static let request = head + "Content-Length: 4\r\n\r\nbody"

    private var framer = StreamFramer()

    private mutating func feed(_ text: String, at seconds: Int64 = 0) -> [StreamFramer.Event] {
        var events: [StreamFramer.Event] = []
        framer.feed(text.utf8, at: Instant(nanoseconds: seconds * 1_000_000_000), &events)
        return events
    }

    private func status(_ event: StreamFramer.Event?) -> Int? {
        guard case .failed(let error)? = event else { return nil }
        return error.refusal?.status ?? 0
    }

    @Test mutating func partialMessageHasTenSeconds() {
        #expect(framer.deadline == nil)
        #expect(feed(String(Self.request.dropLast(10)), at: 5).isEmpty)
        #expect(framer.deadline == Instant(nanoseconds: 15_000_000_000))
        #expect(feed(String(Self.request.suffix(10).dropLast()), at: 9).isEmpty)
        #expect(framer.deadline == Instant(nanoseconds: 15_000_000_000))
        // The rest of this one, and the start of another, whose time begins now.
        #expect(feed("yOPT", at: 12).count == 1)
        #expect(framer.deadline == Instant(nanoseconds: 22_000_000_000))
    }

    @Test mutating func lineEndsBetweenMessages() {
        #expect(feed("\r\n\r\n") == [.pong, .ping])
        #expect(framer.deadline == nil)
        #expect(feed("\r") == [])
        #expect(feed("\n") == [.pong])
        #expect(feed("\r\n") == [.ping])
        #expect(feed(Self.request).count == 1)
        #expect(feed("\r\n") == [.pong])
    }

    @Test mutating func bodyIsWaitedFor() throws {
        #expect(feed(String(Self.request.dropLast(2))).isEmpty)
        let events = feed("dy" + Self.request)
        #expect(events.count == 2)
        guard case .message(.request(let request))? = events.first else {
            Issue.record("no request")
            return
        }
        #expect(request.body == Array("body".utf8))
    }

    struct Fault: Sendable, CustomStringConvertible {
        let description: String
        let text: String
        /// Of the refusal; 0 where there is none.
        let status: Int
    }

    private static let faults = [
        Fault(description: "no Content-Length", text: head + "\r\n", status: 400),
        Fault(description: "two of them", text: head + "Content-Length: 4\r\nl: 5\r\n\r\n", status: 400),
        Fault(description: "a negative one", text: head + "Content-Length: -1\r\n\r\n", status: 400),
        Fault(description: "too large a body", text: head + "l: 262145\r\n\r\n", status: 413),
        Fault(description: "a broken line", text: head + "broken\r\nl: 0\r\n\r\n", status: 400),
        Fault(description: "no SIP", text: "\0\0\r\n\r\n", status: 0),
        Fault(description: "endless headers", text: head + String(repeating: "X: y\r\n", count: 12_000), status: 513),
        Fault(description: "an endless line", text: String(repeating: "a", count: 70_000), status: 0),
    ]

    @Test(arguments: faults)
    mutating func nothingComesAfterAFault(_ fault: Fault) {
        let events = feed(fault.text)
        #expect(events.count == 1)
        #expect(status(events.first) == fault.status)
        #expect(feed(Self.request).isEmpty)
        #expect(framer.deadline == nil)
    }
}
