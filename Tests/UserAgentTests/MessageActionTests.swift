import Primitives
import SIP
import Simulation
import Testing
import UserAgent

/// Every message of the corpus, given to an agent that owns the request: what it answers, and to whom.
@Suite struct MessageActionTests {
    private static let isPublishedPresent = !MessageCase.published.isEmpty

    private static let peer = SocketAddress(.v4(0xC000_0228), 6060)

    @Test(arguments: MessageCase.composed)
    func composed(_ message: MessageCase) throws { try check(message) }

    @Test(
        .enabled(if: isPublishedPresent, "texts of RFC 4475 and RFC 5118 are not here"),
        arguments: MessageCase.published)
    func published(_ message: MessageCase) throws { try check(message) }

    private func check(_ message: MessageCase) throws {
        var account = try Account.house(registrar: "sip:192.0.2.40")
        account.registers = false
        account.catchAll = true
        let site = Site([account])
        site.decide = { .ring($0.call) }
        let flow = Flow(
            transport: message.isStream ? .tcp : .udp, local: SocketAddress(Site.home, 5060), remote: Self.peer,
            connection: message.isStream ? 7 : 0)
        site.give(.received(message.octets, flow))
        site.run(for: .milliseconds(300))
        let expect = message.expect
        let finals = site.sent.filter { $0.status ?? 0 >= 200 }
        let codes = finals.compactMap(\.status)
        switch expect.action {
        case "respond":
            #expect(codes.count == 1)
            #expect(codes.allSatisfy(expect.status.contains), "\(codes)")
        case "drop": #expect(site.sent.compactMap(\.status).isEmpty)
        case "respond-or-drop":
            #expect(codes.count <= 1)
            #expect(codes.allSatisfy(expect.status.contains), "\(codes)")
        case "process":
            #expect(!codes.contains { $0 == 400 || $0 >= 500 && $0 < 600 }, "\(codes)")
            #expect(!codes.isEmpty || !site.incoming.isEmpty)
        case "respond-or-process":
            #expect(codes.allSatisfy(expect.status.contains), "\(codes)")
            #expect(!codes.isEmpty || !site.incoming.isEmpty)
        default: Issue.record("unknown action \(expect.action)")
        }
        if let reply = expect.streamReply { #expect(site.sent.map(\.octets) == [octets(hexadecimal: reply)]) }
        guard let final = finals.first, let response = final.response else { return }
        if let count = expect.responseViaCount { #expect(response.vias.count == count) }
        if expect.responseVia != nil {
            #expect(response.topVia?.received == Self.peer.address)
            #expect(response.topVia?.rport == Self.peer.port)
        }
        switch expect.responseTo {
        case "source address and port": #expect(final.flow.remote == Self.peer)
        case "source address, port 5099": #expect(final.flow.remote == SocketAddress(Self.peer.address, 5099))
        default: break
        }
        for (name, value) in expect.responseHeader ?? [:] {
            let header = response.headers.first(HeaderName(name))
            if case .text(let text) = value, text == "join" { #expect(header == text) }
            #expect(header != nil, "\(name)")
        }
        // Nothing of the message leads anywhere but back to its sender.
        #expect(site.sent.allSatisfy { $0.flow.remote.address == Self.peer.address })
    }
}
