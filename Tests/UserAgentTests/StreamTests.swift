import Primitives
import SIP
import Testing
import UserAgent

/// Connections that peers make (P11, SEC4).
@Suite struct StreamTests {
    private static func flow(_ connection: UInt64, from remote: SocketAddress = Site.registrar) -> Flow {
        Flow(
            transport: .tcp, local: SocketAddress(Site.home, 5060), remote: remote, connection: 100 + connection)
    }

    @Test func aCallMayComeOctetByOctet() throws {
        let site = TrustTests.site([try .house()])
        site.decide = { .ring($0.call) }
        var request = try TrustTests.invite("sip:k7xhouse@192.0.2.7")
        request.vias[0].transport = "TCP"
        for octet in request.serialized() { site.give(.received([octet], Self.flow(1))) }
        #expect(site.incoming.count == 1)
        // The answer takes the same connection.
        #expect(site.sent.last?.flow == Self.flow(1))
        #expect(site.sent.last?.response?.status == 180)
    }

    @Test("SEC4: a message that never ends closes its connection") func aMessageThatNeverEndsClosesItsConnection()
        throws
    {
        let site = TrustTests.site([try .house()])
        site.give(.received(Array("OPTIONS sip:house@192.0.2.7 SIP/2.0\r\n".utf8), Self.flow(1)))
        site.run(for: .seconds(9))
        #expect(site.closed.isEmpty)
        site.run(for: .seconds(2))
        #expect(site.closed == [Self.flow(1)])
    }

    @Test("P11: malformed messages are refused and the connection is closed")
    func malformedMessagesAreRefusedAndTheConnectionClosed() throws {
        let site = TrustTests.site([try .house()])
        var request = try TrustTests.request(.options, "sip:house@192.0.2.7")
        request.vias[0].transport = "TCP"
        let text = String(decoding: request.serialized(), as: UTF8.self).replacing("Length: 0", with: "Length: -1")
        site.give(.received(Array(text.utf8), Self.flow(1)))
        #expect(site.sent.map(\.status) == [400])
        #expect(site.closed == [Self.flow(1)])
    }

    @Test("SEC4: strangers get four connections") func strangersGetFourConnections() throws {
        let site = TrustTests.site([try .house()])
        for connection in 1...5 {
            site.give(.received([0x4F], Self.flow(UInt64(connection), from: TrustTests.stranger)))
        }
        #expect(site.closed.map(\.connection) == [105])
    }

    @Test("SEC4: strangers make room for those who are known") func strangersMakeRoomForThoseWhoAreKnown() throws {
        let site = TrustTests.site([try .house()])
        for connection in 1...64 {
            let stranger = SocketAddress(.v4(0xC633_6400 + UInt32(connection)), 5060)
            site.give(.received([0x4F], Self.flow(UInt64(connection), from: stranger)))
            site.run(for: .milliseconds(10))
        }
        #expect(site.closed.isEmpty)
        var request = try TrustTests.request(.options, "sip:house@192.0.2.7")
        request.vias[0].transport = "TCP"
        site.give(.received(request.serialized(), Self.flow(65)))
        #expect(site.closed.map(\.connection) == [101])
        #expect(TrustTests.answers(site) == [200])
    }

    @Test("T13: idle connections are closed") func idleConnectionsAreClosed() throws {
        let site = TrustTests.site([try .house()])
        var request = try TrustTests.request(.options, "sip:house@192.0.2.7")
        request.vias[0].transport = "TCP"
        site.give(.received(request.serialized(), Self.flow(1)))
        site.run(for: .seconds(890))
        #expect(site.closed.isEmpty)
        site.run(for: .seconds(20))
        #expect(site.closed == [Self.flow(1)])
    }

    @Test("P11: pings are answered") func pingsAreAnswered() throws {
        let site = TrustTests.site([try .house()])
        site.give(.received([13, 10, 13, 10], Self.flow(1)))
        #expect(site.sent.map(\.octets) == [[13, 10]])
    }
}
