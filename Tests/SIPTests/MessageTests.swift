import Primitives
import SIP
import Testing

@Suite struct MessageTests {
    private static let text = """
        INVITE sip:door@192.0.2.50:5060;transport=udp SIP/2.0
        Via: SIP/2.0/UDP 192.0.2.40:5062;branch=z9hG4bKabc;rport, SIP/2.0/TCP [2001:db8::1];branch=z9hG4bKdef
        Max-Forwards: 70
        f: "Flat \\"7\\"" <sip:flat7@example.org>;tag=f1
        To: <sip:door@example.org>
        Call-ID: call-1
        CSeq: 7 INVITE
        Contact: <sip:flat7@192.0.2.40:5062;ob>;expires=60
        Supported: timer, 100rel
        k: replaces
        Content-Type: text/plain

        hello
        """

    private func invite() throws -> Request {
        let octets = Array(Self.text.replacing("\n", with: "\r\n").utf8)
        guard case .request(let request)? = try Message.parse(datagram: octets) else {
            throw ParseError("not a request")
        }
        return request
    }

    @Test func deliversWhatARequestSays() throws {
        let request = try invite()
        #expect(request.method == .invite)
        #expect(request.uri.user == "door")
        #expect(request.uri.transport == "udp")
        #expect(request.vias.map(\.transport) == ["UDP", "TCP"])
        #expect(request.topVia?.wantsRport == true)
        #expect(request.topVia?.rport == nil)
        #expect(request.vias.last?.host.address == IPAddress("2001:db8::1"))
        #expect(request.from.displayName == "Flat \"7\"")
        #expect(request.from.tag == "f1")
        #expect(request.to.tag == nil)
        #expect(request.cseq == CSeq(7, .invite))
        #expect(request.contacts.first?.expires == 60)
        #expect(request.supported == ["timer", "100rel", "replaces"])
        #expect(request.contentType?.name == "text/plain")
        #expect(request.body == Array("hello".utf8))
    }

    @Test func writesWhatItReads() throws {
        let request = try invite()
        #expect(try Message.parse(datagram: request.serialized()) == .request(request))
        #expect(try Message.parse(datagram: request.serialized(compact: true)) == .request(request))
        #expect(request.serialized(compact: true).count < request.serialized().count)
    }

    @Test func responseEchoesTheRequest() throws {
        let request = try invite()
        let response = request.response(486, toTag: "t1")
        #expect(response.to.tag == "t1")
        #expect(request.response(100, toTag: "t1").to.tag == nil)
        let text = String(decoding: response.serialized(), as: UTF8.self)
        #expect(text.hasPrefix("SIP/2.0 486 Busy Here\r\nVia: SIP/2.0/UDP 192.0.2.40:5062;branch=z9hG4bKabc;rport\r\n"))
        #expect(text.hasSuffix("Content-Length: 0\r\n\r\n"))
        #expect(try Message.parse(datagram: response.serialized()) == .response(response))
    }

    @Test func aValueNeverStartsAnotherHeader() throws {
        var request = try invite()
        request.headers.append("Subject", "a\r\nX-Injected: yes")
        request.from.displayName = "b\r\nX-Injected: yes"
        request.callID = "c\nX-Injected: yes"
        let lines = String(decoding: request.serialized(), as: UTF8.self).split(separator: "\r\n")
        #expect(!lines.contains { $0.hasPrefix("X-Injected") })
    }
}
