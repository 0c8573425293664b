import Primitives
import SDP
import SIP
import Simulation
import Testing

@testable import UserAgent

/// One user agent, and a peer whose every message is written by the test.
protocol ScriptedPeer {
    var world: CallWorld { get set }
}

extension ScriptedPeer {
    static var peer: SocketAddress { SocketAddress(.v4(0xC000_0201), 5060) }
    static var description: String {
        """
        v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n\
        m=audio 40000 RTP/AVP 8 101\r\na=rtpmap:8 PCMA/8000\r\na=rtpmap:101 telephone-event/8000\r\n
        """
    }

    /// Calls the peer; the INVITE as it was sent.
    mutating func dial(_ uri: String = "sip:100@192.0.2.1") throws -> Request {
        var wire: [TransactionLayer.Output] = []
        world.endpoints[0].address = SocketAddress(.v4(0xC000_0207), 5060)
        _ = world.endpoints[0].dial(try SIPURI(uri), at: world.now, &wire)
        world.put(wire)
        return try #require(world.requests(.invite, from: 0).last)
    }

    mutating func answer(
        _ request: Request, _ status: Int, tag: String? = "t", sdp: Bool = false, headers: Headers = [:]
    ) {
        var response = request.response(status, toTag: tag)
        response.headers = headers
        response.headers.append(.contact, "<sip:phone@192.0.2.1>")
        if sdp {
            response.headers.append(.contentType, "application/sdp")
            response.body = Array(Self.description.utf8)
        }
        world.receive(.response(response), 0, from: Self.peer)
    }

    /// Talks with the peer.
    mutating func talk() throws -> Request {
        let invite = try dial()
        answer(invite, 200, sdp: true)
        #expect(world.last(0)?.state == .talking)
        return invite
    }

    /// A request of the peer in the dialog of this INVITE of ours.
    mutating func send(
        _ method: SIPMethod, in invite: Request, cseq: UInt32, tag: String = "t", type: String? = nil,
        body: String = "", headers: Headers = [:]
    ) {
        var remote = invite.to
        remote.tag = tag
        var request = Request(
            method, invite.contacts[0].uri, from: remote, to: invite.from, callID: invite.callID, cseq: cseq,
            vias: [Via(transport: "UDP", host: Host(Self.peer.address), branch: "z9hG4bK\(method)\(cseq)")],
            headers: headers, body: Array(body.utf8))
        request.headers.append(.contact, "<sip:phone@192.0.2.1>")
        if let type { request.headers.append(.contentType, type) }
        world.receive(.request(request), 0, from: Self.peer)
    }

    var lastResponse: Response? {
        world.trace.reversed().lazy.compactMap { entry in
            if case .response(let response) = entry.message { response } else { nil }
        }.first
    }

    mutating func finish() {
        world.do(.hangUp(.normal))
        for bye in world.requests(.bye, from: 0) { world.receive(.response(bye.response(200)), 0, from: Self.peer) }
        world.run()
        #expect(world.endpoints[0].isIdle)
    }

    /// The peer calls.
    mutating func receiveInvite(
        sdp: String? = Self.description, branch: String = "z9hG4bKi", headers: Headers = [:]
    ) throws -> Request {
        let from = try NameAddress("<sip:100@192.0.2.1>;tag=p")
        let to = try NameAddress("<sip:door@192.0.2.7>")
        var invite = Request(
            .invite, to.uri, from: from, to: to, callID: "call@peer", cseq: 7,
            vias: [Via(transport: "UDP", host: Host(Self.peer.address), branch: branch)],
            headers: [.contact: "<sip:100@192.0.2.1>", .recordRoute: "<sip:192.0.2.1;lr>, <sip:192.0.2.9;lr>"])
        for field in headers.fields { invite.headers.append(field.name, field.value) }
        if let sdp {
            invite.headers.append(.contentType, "application/sdp")
            invite.body = Array(sdp.utf8)
        }
        world.receive(.request(invite), 0, from: Self.peer)
        return invite
    }

    mutating func acknowledge(_ invite: Request, sdp: String? = nil) throws {
        var ack = invite
        ack.method = .ack
        ack.cseq = CSeq(invite.cseq.number, .ack)
        ack.to.tag = try #require(lastResponse?.to.tag)
        ack.vias[0].branch = "z9hG4bKack"
        ack.headers = [:]
        ack.body = Array((sdp ?? "").utf8)
        if sdp != nil { ack.headers.append(.contentType, "application/sdp") }
        world.receive(.request(ack), 0, from: Self.peer)
    }

    /// A request of the peer in the dialog of this INVITE of its own.
    mutating func say(
        _ method: SIPMethod, after invite: Request, cseq: UInt32, sdp: String? = nil, headers: Headers = [:]
    ) throws {
        var request = invite
        request.method = method
        request.cseq = CSeq(cseq, method)
        request.to.tag = try #require(world.endpoints[0].calls.values.first?.localTag)
        request.vias[0].branch = "z9hG4bK\(method)\(cseq)"
        request.headers = headers
        request.headers.append(.contact, "<sip:100@192.0.2.1>")
        request.body = Array((sdp ?? "").utf8)
        if sdp != nil { request.headers.append(.contentType, "application/sdp") }
        world.receive(.request(request), 0, from: Self.peer)
    }

    /// Changes our account; before the first call.
    mutating func setUp(_ change: @escaping (inout Account) -> Void) { world.endpoints[0].setUp = change }

    /// Requests of ours, each once however often it went out.
    func sent(_ method: SIPMethod) -> [Request] {
        var branches: Set<String> = []
        return world.requests(method, from: 0).filter { branches.insert($0.topVia?.branch ?? "").inserted }
    }
}
