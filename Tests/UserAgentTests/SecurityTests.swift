import Configuration
import Primitives
import SIP
import Testing
import UserAgent

/// Limits, rates and what is told to whom (SEC3, SEC5, SEC6, SEC11).
@Suite struct SecurityTests {
    private static func flow(_ remote: SocketAddress, connection: UInt64 = 0) -> Flow {
        Flow(
            transport: connection == 0 ? .udp : .tcp, local: SocketAddress(Site.home, 5060), remote: remote,
            connection: connection)
    }

    private static func text(_ extra: String, uri: String = "sip:house@192.0.2.7", body: Int = 0) -> [UInt8] {
        Array(
            """
            OPTIONS \(uri) SIP/2.0\r
            Via: SIP/2.0/TCP 192.0.2.1;branch=z9hG4bKx;rport\r
            From: <sip:a@b>;tag=1\r
            To: <sip:house@b>\r
            Call-ID: x\r
            CSeq: 1 OPTIONS\r
            \(extra)Content-Length: \(body)\r
            \r

            """.utf8)
    }

    /// SEC3: over a limit a known peer hears why, a stream is closed, a stranger hears nothing.
    @Test(arguments: [
        ("line", 513), ("lines", 513), ("vias", 513), ("routes", 513), ("uri", 414), ("body", 413), ("malformed", 400),
    ])
    func overTheLimits(what: String, status: Int) throws {
        let long = String(repeating: "x", count: 9000)
        let octets =
            switch what {
            case "line": Self.text("X: \(long)\r\n")
            case "lines": Self.text(String(repeating: "X: y\r\n", count: 260))
            case "vias": Self.text(String(repeating: "Via: SIP/2.0/UDP a;branch=z9hG4bKa\r\n", count: 71))
            case "routes": Self.text(String(repeating: "Route: <sip:a;lr>\r\n", count: 33))
            case "uri": Self.text("", uri: "sip:" + String(repeating: "x", count: 2100) + "@b")
            case "body": Self.text("", body: 300_000)
            default: Self.text("Max-Forwards: -1\r\n")
            }
        let site = TrustTests.site([try .house()])
        site.give(.received(octets, Self.flow(TrustTests.registrar)))
        #expect(site.sent.compactMap(\.status) == [status])
        site.forgetSent()
        site.give(.received(octets, Self.flow(TrustTests.stranger)))
        site.run(for: .seconds(1))
        #expect(site.sent.isEmpty)
        let stream = Self.flow(TrustTests.stranger, connection: 9)
        site.give(.received(octets, stream))
        #expect(site.sent.compactMap(\.status) == [status])
        #expect(site.closed == [stream])
    }

    private static func anyone() throws -> Site {
        var account = try Account.house()
        account.acceptFrom = .anyone
        return TrustTests.site([account])
    }

    private static func options(_ number: Int) throws -> [UInt8] {
        try TrustTests.request(.options, "sip:house@192.0.2.7", tag: "o\(number)").serialized()
    }

    /// SEC5: an unknown source is answered ten times a second, after a burst.
    @Test func aSourceHasTenASecond() throws {
        let site = try Self.anyone()
        for number in 0..<1000 {
            site.give(.received(try Self.options(number), Self.flow(TrustTests.stranger)))
            site.run(for: .milliseconds(10))
        }
        #expect((100...125).contains(site.sent.count), "\(site.sent.count) in ten seconds")
    }

    /// SEC5: all unknown sources together fifty; those of one IPv6 network are one.
    @Test func allSourcesHaveFiftyASecond() throws {
        let site = try Self.anyone()
        for number in 0..<1000 {
            let source = SocketAddress(.v4(0xC633_0000 + UInt32(number)), 5060)
            site.give(.received(try Self.options(number), Self.flow(source)))
            site.run(for: .milliseconds(10))
        }
        #expect((500...605).contains(site.sent.count), "\(site.sent.count) in ten seconds")
        site.run(for: .seconds(60))
        site.forgetSent()
        for number in 0..<1000 {
            let source = SocketAddress(.v6(high: 0x2001_0db8_0000_0001, low: UInt64(number), zone: 0), 5060)
            site.give(.received(try Self.options(2000 + number), Self.flow(source)))
        }
        #expect(site.sent.count <= 20)
    }

    /// SEC5: what is malformed costs five.
    @Test func malformedMessagesCostFive() throws {
        let site = try Self.anyone()
        for _ in 0..<3 { site.give(.received(Array("x".utf8), Self.flow(TrustTests.stranger))) }
        for number in 0..<50 { site.give(.received(try Self.options(number), Self.flow(TrustTests.stranger))) }
        #expect((1...5).contains(site.sent.count), "\(site.sent.count)")
    }

    /// SEC5: whatever the flood, the registrar is answered at once, and keeps its thousand a second.
    @Test func theFlowIsServedUnderAFlood() throws {
        let site = try Self.anyone()
        var answered = 0
        for second in 0..<5 {
            for number in 0..<200 {
                let id = second * 1000 + number
                let source = SocketAddress(.v4(0xC633_0000 + UInt32(id)), 5060)
                site.give(.received(try Self.options(id), Self.flow(source)))
                site.give(.received([UInt8(truncatingIfNeeded: id)], Self.flow(source)))
                site.forgetSent()
                site.give(.received(try Self.options(100_000 + id), Self.flow(TrustTests.registrar)))
                answered += site.sent.compactMap(\.status).filter { $0 == 200 }.count
                site.run(for: .milliseconds(5))
            }
        }
        #expect(answered == 1000)
        // Nothing is left of it.
        site.run(for: .seconds(64))
        #expect(site.agent.deadline.map { $0 - site.now > .seconds(64) } ?? true)
    }

    /// SEC6: a caller's name is shown without what a terminal would obey.
    @Test(arguments: [
        "\"Kit\\\r\\\nchen\u{1B}[2J\" <sip:200@pbx.example.org>", "\"Kit\u{202E}chen\" <sip:200@pbx.example.org>",
    ])
    func namesHoldNoControlCharacters(from: String) throws {
        let site = TrustTests.site([try .house()])
        var request = try TrustTests.invite("sip:house@192.0.2.7")
        request.from = try NameAddress(from + ";tag=f1")
        TrustTests.give(request, to: site)
        let name = try #require(site.incoming.first?.callerName)
        #expect(name.hasPrefix("Kit"))
        #expect(
            name.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
            })
    }

    /// SEC11: to strangers every user is as unknown as the next.
    @Test func strangersLearnNoUser() throws {
        let site = TrustTests.site([try .house()])
        for (number, user) in ["house", "k7xhouse", "nobody"].enumerated() {
            for method in [SIPMethod.invite, .options, .register, .message] {
                let request = try TrustTests.request(method, "sip:\(user)@192.0.2.7", tag: "u\(number)\(method)")
                TrustTests.give(request, from: TrustTests.stranger, to: site)
            }
        }
        site.run(for: .seconds(5))
        #expect(site.sent.isEmpty)
    }

    /// URLs of Alert-Info, Call-Info and Error-Info are never fetched (SEC6): nothing is looked up, nobody is called.
    @Test func nothingIsFetched() throws {
        let site = TrustTests.site([try .house()])
        let headers: Headers = [
            .alertInfo: "<http://evil.example/ring.wav>", .callInfo: "<http://evil.example/x>;purpose=icon",
            "Error-Info": "<sip:evil.example>",
        ]
        TrustTests.give(try TrustTests.invite("sip:house@192.0.2.7", headers: headers), to: site)
        site.run(for: .seconds(1))
        #expect(site.sent.allSatisfy { $0.flow.remote == TrustTests.registrar && $0.request == nil })
    }
}
