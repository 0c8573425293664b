import Primitives
import Testing

@Suite struct AddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("[2001:db8::1]", "2001:db8::1"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
        ("::", "::"), ("::1", "::1"), ("fe80::1%3", "fe80::1%3"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("1::2:0:0:3", "1::2:0:0:3"), ("1:0:0:2::3", "1:0:0:2::3"), ("2001:db8::", "2001:db8::"),
    ])
    func reads(text: String, canonical: String) { #expect(IPAddress(text)?.description == canonical) }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "256.0.0.1", "01.2.3.4", "1.2.3.", "::1::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
        "12345::", "[::1", ":1", "1:", "::g", "fe80::1%eth0", "1:2:3:4:5:6:7:8::",
    ])
    func refuses(text: String) { #expect(IPAddress(text) == nil) }

    @Test func socketAddressNeedsBracketsForIPv6() {
        #expect(SocketAddress("[::1]:5060")?.description == "[::1]:5060")
        #expect(SocketAddress("::1:5060") == nil)
        #expect(SocketAddress("192.0.2.1:70000") == nil)
    }
}

@Suite struct TimeTests {
    @Test func instantsSaturate() {
        #expect(Instant(nanoseconds: .max) + .seconds(1) == Instant(nanoseconds: .max))
        #expect(Instant(nanoseconds: .min) - .seconds(1) == Instant(nanoseconds: .min))
        #expect(Instant.zero + .milliseconds(1500) - Instant.zero == .milliseconds(1500))
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_400_123, "2000-02-29T00:00:00.123Z"),
        (-1, "1969-12-31T23:59:59.999Z"), (1_796_056_498_000, "2026-11-30T16:34:58.000Z"),
    ])
    func writesUTC(milliseconds: Int64, text: String) {
        #expect(UTCTime(milliseconds: milliseconds).description == text)
    }
}

@Suite struct TextTests {
    @Test(arguments: ["", "f", "fo", "foo", "foob", "fooba", "foobar"])
    func base64RoundTrip(text: String) { #expect(octets(base64: base64(Array(text.utf8))) == Array(text.utf8)) }

    @Test func hexadecimalRoundTrip() {
        #expect(octets(hexadecimal: hexadecimal([0, 0x7F, 0xFF])) == [0, 0x7F, 0xFF])
        #expect(octets(hexadecimal: "abc") == nil)
        #expect(octets(hexadecimal: "zz") == nil)
    }

    @Test func distance() {
        #expect(editDistance("uri", "url") == 1)
        #expect(editDistance("", "abc") == 3)
    }

    @Test func tokensCarryTheirBits() {
        var random = Randomness.seeded(1)
        #expect(random.token(bits: 96).count == 20)
        #expect(random.token(bits: 96) != random.token(bits: 96))
    }
}
