import Configuration
import Primitives
import Testing

@Suite struct CallerPatternTests {
    @Test(
        arguments: [
            ("sip:100@pbx.example.org", "100", "pbx.example.org", true),
            ("sips:100@PBX.example.org:5061;transport=tls", "100", "pbx.EXAMPLE.org", true),
            ("sip:Ann@x", "ann", "x", false),
            ("sip:2*@x", "2", "x", true),
            ("sip:2*@x", "299", "x", true),
            ("sip:2*@x", "12", "x", false),
            ("sip:*9*1@x", "0991", "x", true),
            ("sip:*9*1@x", "0992", "x", false),
            ("sip:*@*.example.org", "a", "b.example.org", true),
            ("sip:*@*.example.org", "a", "example.org", false),
            ("sip:*@x", nil, "x", false),
            ("sip:x", nil, "x", true),
            ("sip:x", "a", "x", false),
            ("sip:a%62c@x", "abc", "x", true),
            ("sip:a@[2001:db8::1]", "a", "[2001:DB8::1]", true),
        ] as [(String, String?, String, Bool)])
    func matches(_ pattern: String, _ user: String?, _ host: String, _ expected: Bool) throws {
        #expect(try #require(CallerPattern(pattern)).matches(user: user, host: host) == expected)
    }

    @Test(arguments: [
        "*", "100", "tel:100", "sip:", "sip:@x", "sip:a@", "sip:a@b@c", "sip:a b@c", "sip:a@x:0", "sip:a@[::1",
    ])
    func refused(_ text: String) { #expect(CallerPattern(text) == nil) }

    /// A pattern of many stars is no way to stop the clock.
    @Test func manyStarsAreQuick() throws {
        let pattern = try #require(CallerPattern("sip:" + String(repeating: "*a", count: 500) + "@x"))
        #expect(!pattern.matches(user: String(repeating: "b", count: 20_000), host: "x"))
    }

    @Test func sourcesContainAddresses() throws {
        let four = try #require(CallSource("192.0.2.77/24"))
        #expect(four.description == "192.0.2.0/24")
        #expect(four.contains(try #require(IPAddress("192.0.2.200"))))
        #expect(!four.contains(try #require(IPAddress("192.0.3.1"))))
        let six = try #require(CallSource("2001:db8::/33"))
        #expect(six.contains(try #require(IPAddress("2001:db8:7fff::1"))))
        #expect(!six.contains(try #require(IPAddress("2001:db8:8000::1"))))
        let low = try #require(CallSource("2001:db8::1:0/112"))
        #expect(low.contains(try #require(IPAddress("2001:db8::1:ffff"))))
        #expect(!low.contains(try #require(IPAddress("2001:db8::2:0"))))
        let all = try #require(CallSource("0.0.0.0/0"))
        #expect(all.contains(try #require(IPAddress("203.0.113.1"))))
        #expect(try #require(CallSource("192.0.2.1")).contains(try #require(IPAddress("192.0.2.1"))))
        #expect(CallSource("pbx.example.org") == .host("pbx.example.org"))
    }
}
