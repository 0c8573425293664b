import Exchange
import Primitives
import SIP
import Testing

/// What the exchange does with requests, seen from strangers that speak in raw messages.
@Suite struct RoutingTests {
    private static let remote = SocketAddress(.v4(0xC000_0299), 5070)
    private let town = Town()

    init() throws {
        for (number, name) in ["alice", "bob"].enumerated() {
            town.add(name, number: UInt32(number)) { $0.answersAfter = name == "bob" ? .zero : nil }
            town.tell(name, .register)
            try #require(town.run(for: .seconds(1)) { $0.isRegistered(name) })
        }
    }

    private func request(
        _ method: String, _ uri: String, toTag: String? = nil, headers: [String] = []
    ) -> [UInt8] {
        let lines =
            [
                "\(method) \(uri) SIP/2.0", "Via: SIP/2.0/UDP 10.0.0.1:5090;branch=z9hG4bK\(town.messages.count);rport",
                "From: <sip:alice@192.0.2.1>;tag=1", "To: <\(uri)>" + (toTag.map { ";tag=\($0)" } ?? ""),
                "Call-ID: \(town.messages.count)",
                "CSeq: 1 \(method)",
            ] + headers + ["Content-Length: 0", "", ""]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    private func answer(_ octets: [UInt8]) throws -> Response {
        let count = town.messages.count
        town.send(octets, from: Self.remote)
        guard case .response(let response)? = town.messages.dropFirst(count).first else {
            throw ParseError("no response")
        }
        return response
    }

    @Test func optionsForItself() throws {
        let response = try answer(request("OPTIONS", "sip:192.0.2.1", headers: ["Max-Forwards: 0"]))
        #expect(response.status == 200)
        #expect(response.allow?.contains(.register) == true)
        #expect(response.topVia?.received == Self.remote.address)
        #expect(response.topVia?.rport == Self.remote.port)
    }

    @Test(
        arguments: [
            ("INVITE", "sip:bob@192.0.2.1", [], 407),
            ("INVITE", "sip:bob@192.0.2.1", ["Max-Forwards: 0"], 483),
            ("INVITE", "sip:bob@192.0.2.1", ["Proxy-Require: foo"], 420),
            ("INVITE", "sip:192.0.2.1", [], 404),
            ("INVITE", "tel:123", [], 416),
            ("INVITE", "sip:someone@elsewhere.example", [], 407),
            ("MESSAGE", "sip:bob@192.0.2.1", [], 407),
            ("PUBLISH", "sip:192.0.2.1", [], 405),
            ("FROBNICATE", "sip:192.0.2.1", [], 501),
            ("REGISTER", "sip:elsewhere.example", [], 404),
        ] as [(String, String, [String], Int)])
    func refuses(_ method: String, _ uri: String, _ headers: [String], _ status: Int) throws {
        #expect(try answer(request(method, uri, headers: headers)).status == status)
    }

    @Test func malformedIsRefused() throws {
        let octets = String(decoding: request("INVITE", "sip:bob@192.0.2.1"), as: UTF8.self)
            .replacing("CSeq: 1 INVITE", with: "CSeq: x")
        town.send(Array(octets.utf8), from: Self.remote)
        let answer = String(decoding: try #require(town.datagrams.last), as: UTF8.self)
        #expect(answer.hasPrefix("SIP/2.0 400 "))
        #expect(answer.contains(";received=192.0.2.153"))
        #expect(answer.contains(";rport=5070"))
    }

    @Test func noiseIsDropped() {
        let count = town.messages.count
        for octets in [[], [0x0D, 0x0A, 0x0D, 0x0A], [0, 0, 0, 0], Array("hello".utf8), [0xFF, 0xFE]] as [[UInt8]] {
            town.send(octets, from: Self.remote)
        }
        #expect(town.messages.count == count)
    }

    /// Nobody gets through with a Route of their own making: the exchange is no relay.
    @Test(arguments: ["", "<sip:192.0.2.1;lr>", "<sip:000000000000000000000000@192.0.2.1;lr>"])
    func foreignDialogIsRefused(_ route: String) throws {
        let headers = route.isEmpty ? [] : ["Route: \(route)"]
        let bye = request("BYE", "sip:bob@192.0.2.17", toTag: "x", headers: headers)
        #expect(try answer(bye).status == 481)
        let count = town.messages.count
        let ack = request("ACK", "sip:bob@192.0.2.17", toTag: "x", headers: headers)
        town.send(ack, from: Self.remote)
        #expect(town.messages.count == count)
    }

    @Test func callsStayOnTheWay() throws {
        town.tell("alice", .dial(town.uri("bob"), headers: [:]))
        town.run(for: .seconds(1))
        town.tell("alice", .hangUp)
        town.run(for: .seconds(1))
        let invite = try #require(town.requests(.invite).last)
        #expect(invite.recordRoutes.count == 1)
        #expect(invite.vias.count == 1, "those before stay with the exchange")
        #expect(invite.maxForwards == 69)
        #expect(town.requests(.ack).filter { $0.to.tag != nil && !$0.routes.isEmpty }.count == 1)
        #expect(town.requests(.bye).map { $0.routes.count } == [1, 0])
    }
}
