import Primitives
import SIP
import Testing

/// Limits of SEC3, and the status that refuses what is beyond them.
@Suite struct MessageLimitTests {
    private static func request(_ uri: String = "sip:a@b", _ lines: [String] = [], body: Int? = nil) -> [UInt8] {
        var text = "OPTIONS \(uri) SIP/2.0\r\nVia: SIP/2.0/TCP 192.0.2.1;branch=z9hG4bK1\r\n"
        text += "From: <sip:a@b>;tag=1\r\nTo: <sip:a@b>\r\nCall-ID: c\r\nCSeq: 1 OPTIONS\r\n"
        for line in lines { text += line + "\r\n" }
        if let body { text += "Content-Length: \(body)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    private static func status(_ octets: [UInt8]) -> Int? {
        do {
            _ = try Message.parse(datagram: octets)
            return 200
        } catch {
            return error.refusal?.status
        }
    }

    private static func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    @Test func uri() {
        #expect(Self.status(Self.request("sip:" + Self.repeated("a", Limits.uri - 6) + "@b")) == 200)
        #expect(Self.status(Self.request("sip:" + Self.repeated("a", Limits.uri - 5) + "@b")) == 414)
    }

    @Test func headerLine() {
        #expect(Self.status(Self.request("sip:a@b", ["X: " + Self.repeated("a", Limits.headerLine - 3)])) == 200)
        #expect(Self.status(Self.request("sip:a@b", ["X: " + Self.repeated("a", Limits.headerLine - 2)])) == 513)
        let folded = Self.repeated("a\r\n ", Limits.headerLine / 4) + "a"
        #expect(Self.status(Self.request("sip:a@b", ["X: " + folded])) == 513)
    }

    @Test func headerLines() {
        let own = 5
        let lines = (0...Limits.headerLines).map { "X-\($0): y" }
        #expect(Self.status(Self.request("sip:a@b", Array(lines.prefix(Limits.headerLines - own)))) == 200)
        #expect(Self.status(Self.request("sip:a@b", Array(lines.prefix(Limits.headerLines - own + 1)))) == 513)
    }

    @Test func vias() {
        let via = "Via: SIP/2.0/UDP a;branch=b"
        let lines = (0..<Limits.vias).map { _ in via }
        #expect(Self.status(Self.request("sip:a@b", Array(lines.dropLast()))) == 200)
        #expect(Self.status(Self.request("sip:a@b", lines)) == 513)
        let joined = "v: " + (0..<Limits.vias).map { _ in "SIP/2.0/UDP a" }.joined(separator: ",")
        #expect(Self.status(Self.request("sip:a@b", [joined])) == 513)
    }

    @Test(arguments: ["Route", "Record-Route"])
    func routes(_ name: String) {
        let routes = (0...Limits.routes).map { _ in "<sip:a;lr>" }
        #expect(Self.status(Self.request("sip:a@b", ["\(name): " + routes.dropLast().joined(separator: ", ")])) == 200)
        #expect(Self.status(Self.request("sip:a@b", routes.map { "\(name): \($0)" })) == 513)
    }

    @Test func body() {
        #expect(Self.status(Self.request(body: Limits.body + 1)) == 413)
        #expect(Self.status(Self.request(body: 1)) == 400)
    }

    @Test(arguments: [
        ("Max-Forwards: 256", 400), ("Max-Forwards: +7", 400), ("Max-Forwards: 7\r\nMax-Forwards: 7", 400),
        ("Content-Length: 0\r\nl: 0", 200), ("Content-Length: 0x0", 400), ("Content-Length: ", 400),
        ("Route: sip:a", 200), ("Route: a", 400), ("Route: <sip:a", 400), ("Date: never", 200), ("Contact: ???", 200),
        ("Via: nothing", 400), ("CSeq: 1 OPTIONS", 400), ("To: <sip:a@b>", 400), ("X : y", 200), ("X Y: z", 400),
    ])
    func header(_ line: String, _ status: Int) {
        #expect(Self.status(Self.request("sip:a@b", [line])) == status)
    }

    @Test func expiresSaturates() throws {
        let octets = Self.request("sip:a@b", ["Expires: 99999999999", "Contact: <sip:a@b>;expires=4294967296;q=0.25"])
        guard case .request(let request)? = try Message.parse(datagram: octets) else {
            Issue.record("no request")
            return
        }
        #expect(request.expires == .max)
        #expect(request.contacts.first?.expires == .max)
        #expect(request.contacts.first?.preference == 250)
    }

    @Test(arguments: [
        ("1", 1000), ("0.5", 500), ("0", 0), ("0.123", 123), ("1.0", 1000), ("0.", 0), ("1.5", 1000), ("0.1234", 1000),
        ("", 1000), ("x", 1000), ("-1", 1000),
        // Found by the fuzzer: a digit fewer than octets.
        ("0.5\u{FFFD}", 1000),
    ])
    func preference(_ text: String, _ expected: Int) throws {
        var contact = try NameAddress("<sip:a@b>")
        contact.parameters["q"] = text
        #expect(contact.preference == expected)
    }

    /// Found by the fuzzer: such a phrase could not be written as it was read.
    @Test(arguments: ["SIP/2.0 180 \r phrase", "SIP/2.0 180 phrase", "OPTIONS sip:a@b \rSIP/2.0"])
    func aLoneCarriageReturnIsNoLineEnd(_ startLine: String) {
        let text = String(decoding: Self.request(), as: UTF8.self).replacing("OPTIONS sip:a@b SIP/2.0", with: startLine)
        let isRead = (try? Message.parse(datagram: Array(text.utf8))) != nil
        #expect(isRead == !startLine.contains("\r"))
    }

    @Test(arguments: ["", "\r\n", "\r\n\r\n", "\0\0\0\0", "jaK"])
    func keepAlive(_ text: String) throws {
        #expect(try Message.parse(datagram: Array(text.utf8)) == nil)
    }

    @Test func noAnswerToAckResponseOrWithoutVia() {
        let bad = Self.request("sip:a@b", ["CSeq: x"])
        let ack = String(decoding: bad, as: UTF8.self).replacing("OPTIONS", with: "ACK")
        let response = String(decoding: bad, as: UTF8.self).replacing("OPTIONS sip:a@b SIP/2.0", with: "SIP/2.0 200 OK")
        let viaLess = String(decoding: bad, as: UTF8.self).replacing("Via:", with: "X:")
        #expect(Self.status(bad) == 400)
        for text in [ack, response, viaLess] { #expect(Self.status(Array(text.utf8)) == nil) }
    }

    @Test func refusalEchoesWhatIsThere() throws {
        let octets = Self.request("sip:a@b", ["Content-Length: -1"])
        do {
            _ = try Message.parse(datagram: octets)
            Issue.record("accepted")
        } catch {
            let text = String(decoding: try #require(error.refusal).serialized(), as: UTF8.self)
            #expect(
                text == """
                    SIP/2.0 400 Content-Length is not a number\r
                    Via: SIP/2.0/TCP 192.0.2.1;branch=z9hG4bK1\r
                    From: <sip:a@b>;tag=1\r
                    To: <sip:a@b>\r
                    Call-ID: c\r
                    CSeq: 1 OPTIONS\r
                    Content-Length: 0\r
                    \r

                    """)
        }
    }
}
