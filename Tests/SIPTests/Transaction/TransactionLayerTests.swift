import Primitives
import SIP
import Testing

@Suite struct TransactionLayerTests {
    private static let flow = Flow(
        transport: .udp, local: SocketAddress(.v4(0xC000_0207), 5060), remote: SocketAddress(.v4(0xC000_0201), 5060))
    private static let stream = Flow(transport: .tcp, local: flow.local, remote: flow.remote, connection: 7)

    private var layer = TransactionLayer(random: .seeded(1))

    /// What a layer put out, apart by kind.
    private struct Outcome {
        var sent: [(message: Message, flow: Flow)] = []
        var requests: [(request: Request, id: ServerTransactionID?)] = []
        var responses: [Response] = []
        var cancelled: [ServerTransactionID] = []
        var failures: [TransactionFailure] = []
        var strays: [Response] = []
        var anew: [Target] = []

        var sentStatuses: [Int] {
            sent.compactMap { if case .response(let response) = $0.message { response.status } else { nil } }
        }
        var sentRequests: [Request] {
            sent.compactMap { if case .request(let request) = $0.message { request } else { nil } }
        }
    }

    private mutating func run(
        _ body: (inout TransactionLayer, inout [TransactionLayer.Output]) -> Void
    ) throws -> Outcome {
        var out: [TransactionLayer.Output] = []
        body(&layer, &out)
        var outcome = Outcome()
        for output in out {
            switch output {
            case .send(let octets, let flow):
                outcome.sent.append((try #require(try Message.parse(datagram: octets)), flow))
            case .sendAnew(_, let target): outcome.anew.append(target)
            case .request(let request, let id, _): outcome.requests.append((request, id))
            case .response(_, let response, _): outcome.responses.append(response)
            case .cancelled(let id, _): outcome.cancelled.append(id)
            case .failed(_, let failure): outcome.failures.append(failure)
            case .stray2xx(let response, _): outcome.strays.append(response)
            }
        }
        return outcome
    }

    private mutating func receive(_ request: Request, on flow: Flow = flow, at now: Instant = .zero) throws -> Outcome {
        try run { $0.received(.request(request), on: flow, at: now, &$1) }
    }

    private mutating func receive(_ response: Response, at now: Instant = .zero) throws -> Outcome {
        try run { $0.received(.response(response), on: Self.flow, at: now, &$1) }
    }

    private func request(
        _ method: SIPMethod, branch: String = "z9hG4bKa", cseq: UInt32 = 1, toTag: String? = nil,
        host: String = "192.0.2.1"
    ) throws -> Request {
        var to = try NameAddress("<sip:bell@192.0.2.7>")
        to.tag = toTag
        var via = Via(transport: "UDP", host: try #require(Host(host)), port: 5070, branch: branch)
        via.parameters.setFlag("rport")
        return Request(
            method, to.uri, from: try NameAddress("<sip:a@example.org>;tag=1"), to: to, callID: "x@y", cseq: cseq,
            vias: [via], headers: [.maxForwards: "70"])
    }

    // MARK: Client

    @Test mutating func failureGetsAckWithTheSameBranch() throws {
        var invite = try request(.invite)
        invite.headers.append(.route, "<sip:proxy;lr>")
        #expect(try run { $0.send(invite, on: Self.flow, at: .zero, &$1) }.sentRequests.map(\.method) == [.invite])
        let outcome = try receive(invite.response(486, toTag: "t"))
        #expect(outcome.responses.map(\.status) == [486])
        let ack = try #require(outcome.sentRequests.first)
        #expect(ack.method == .ack)
        #expect(ack.topVia?.branch == "z9hG4bKa")
        #expect(ack.to.tag == "t")
        #expect(ack.cseq == CSeq(1, .ack))
        #expect(ack.routes.map(\.description) == ["<sip:proxy;lr>"])
        let again = try receive(invite.response(486, toTag: "t"))
        #expect(again.responses.isEmpty)
        #expect(again.sentRequests == [ack])
    }

    @Test mutating func cancelIsATransactionOfItsOwn() throws {
        let invite = try request(.invite)
        _ = try run { $0.send(invite, on: Self.flow, at: .zero, &$1) }
        let id = ClientTransactionID(branch: "z9hG4bKa", method: .invite)
        #expect(try run { $0.cancel(id, reason: "SIP;cause=200", at: .zero, &$1) }.sent.isEmpty)
        let outcome = try receive(invite.response(180, toTag: "t"))
        let cancel = try #require(outcome.sentRequests.first)
        #expect(cancel.method == .cancel)
        #expect(cancel.topVia == invite.topVia)
        #expect(cancel.to.tag == nil)
        #expect(cancel.reasons.first?.cause == 200)
        #expect(try receive(cancel.response(200)).responses.isEmpty)
        #expect(try receive(invite.response(487, toTag: "t")).responses.map(\.status) == [487])
        while let deadline = layer.deadline { _ = try run { $0.deadlineReached(at: deadline, &$1) } }
        #expect(layer.count == 0)
    }

    @Test mutating func each2xxComesUpAndLaterOnesAreStrays() throws {
        let invite = try request(.invite)
        _ = try run { $0.send(invite, on: Self.flow, at: .zero, &$1) }
        #expect(try receive(invite.response(200, toTag: "t")).responses.count == 1)
        #expect(try receive(invite.response(200, toTag: "u")).responses.count == 1)
        _ = try run { $0.deadlineReached(at: .zero + .seconds(32), &$1) }
        #expect(layer.count == 0)
        #expect(try receive(invite.response(200, toTag: "u")).strays.count == 1)
    }

    @Test mutating func failedFlowEndsTransactionsAtOnce() throws {
        let options = try request(.options)
        _ = try run { $0.send(options, on: Self.flow, at: .zero, &$1) }
        #expect(try run { $0.flowFailed(Self.stream, .refused, at: .zero, &$1) }.failures.isEmpty)
        #expect(try run { $0.flowFailed(Self.flow, .refused, at: .zero, &$1) }.failures == [.transport(.refused)])
        #expect(layer.count == 0)
        #expect(layer.deadline == nil)
    }

    @Test mutating func responseWithTwoViasIsNotOurs() throws {
        let options = try request(.options)
        _ = try run { $0.send(options, on: Self.flow, at: .zero, &$1) }
        var response = options.response(200)
        response.vias.append(contentsOf: options.vias)
        #expect(try receive(response).responses.isEmpty)
    }

    // MARK: Server

    @Test mutating func receivedAndRportSteerTheResponse() throws {
        var source = Self.flow
        source.remote.port = 40_000
        let outcome = try receive(try request(.options, host: "10.0.0.1"), on: source)
        let (request, id) = try #require(outcome.requests.first)
        #expect(request.topVia?.received == source.remote.address)
        #expect(request.topVia?.rport == 40_000)
        let serverID = try #require(id)
        let answer = try run { $0.respond(serverID, request.response(200), at: .zero, &$1) }
        #expect(answer.sent.map(\.flow) == [source])
        #expect(answer.sent.first?.message.topVia?.rport == 40_000)
    }

    @Test mutating func withoutRportThePortOfSentByCounts() throws {
        var source = Self.flow
        source.remote.port = 40_000
        var options = try request(.options)
        options.vias[0].parameters.remove("rport")
        let outcome = try receive(options, on: source)
        let (request, id) = try #require(outcome.requests.first)
        #expect(request.topVia?.received == nil)
        let serverID = try #require(id)
        let answer = try run { $0.respond(serverID, request.response(200), at: .zero, &$1) }
        #expect(answer.sent.map(\.flow.remote) == [SocketAddress(source.remote.address, 5070)])
    }

    @Test mutating func goneConnectionIsMadeAnew() throws {
        let outcome = try receive(try request(.invite), on: Self.stream)
        let id = try #require(outcome.requests.first?.id)
        _ = try run { $0.flowFailed(Self.stream, .closedByPeer, at: .zero, &$1) }
        let invite = try #require(outcome.requests.first?.request)
        let answer = try run { $0.respond(id, invite.response(486), at: .zero, &$1) }
        #expect(answer.sent.isEmpty)
        #expect(answer.anew.map(\.address) == [SocketAddress(Self.stream.remote.address, 5070)])
    }

    @Test mutating func repeatsAreAbsorbedAndAnsweredAlike() throws {
        let options = try request(.options)
        let outcome = try receive(options)
        let id = try #require(outcome.requests.first?.id)
        #expect(try receive(options).requests.isEmpty)
        let first = try run { $0.respond(id, options.response(200), at: .zero, &$1) }
        let again = try receive(options)
        #expect(again.requests.isEmpty)
        #expect(again.sent.map(\.message) == first.sent.map(\.message))
        #expect(first.sent.first?.message.isTagged == true)
    }

    @Test mutating func tryingComesByItself() throws {
        _ = try receive(try request(.invite))
        #expect(layer.deadline == .zero + .milliseconds(200))
        let outcome = try run { $0.deadlineReached(at: .zero + .milliseconds(200), &$1) }
        #expect(outcome.sentStatuses == [100])
        #expect(outcome.sent.first?.message.isTagged == false)
    }

    @Test mutating func ackEndsAFailureAndIsNotSeenAbove() throws {
        let invite = try request(.invite)
        let id = try #require(try receive(invite).requests.first?.id)
        let response = try run { $0.respond(id, invite.response(486), at: .zero, &$1) }
        let tag = try #require(response.sent.first?.message.toTag)
        var ack = try request(.ack, toTag: tag)
        ack.cseq = CSeq(1, .ack)
        #expect(try receive(ack).requests.isEmpty)
        _ = try run { $0.deadlineReached(at: .zero + .seconds(5), &$1) }
        #expect(layer.count == 0)
    }

    @Test mutating func ackTo2xxHasNoTransaction() throws {
        let invite = try request(.invite)
        let id = try #require(try receive(invite).requests.first?.id)
        _ = try run { $0.respond(id, invite.response(200, toTag: "t"), at: .zero, &$1) }
        let outcome = try receive(try request(.ack, branch: "z9hG4bKother", toTag: "t"))
        #expect(outcome.requests.map(\.request.method) == [.ack])
        #expect(outcome.requests.first?.id == nil)
    }

    @Test mutating func cancelIsAnsweredHere() throws {
        let invite = try request(.invite)
        let id = try #require(try receive(invite).requests.first?.id)
        var outcome = try receive(try request(.cancel))
        #expect(outcome.sentStatuses == [200])
        #expect(outcome.cancelled == [id])
        let tag = outcome.sent.first?.message.toTag
        outcome = try run { $0.respond(id, invite.response(487), at: .zero, &$1) }
        #expect(outcome.sentStatuses == [487])
        #expect(outcome.sent.first?.message.toTag == tag)
    }

    @Test mutating func cancelAfterTheAnswerHasNoEffect() throws {
        let invite = try request(.invite)
        let id = try #require(try receive(invite).requests.first?.id)
        _ = try run { $0.respond(id, invite.response(200, toTag: "t"), at: .zero, &$1) }
        let outcome = try receive(try request(.cancel))
        #expect(outcome.sentStatuses == [200])
        #expect(outcome.cancelled.isEmpty)
    }

    @Test mutating func cancelOfNothingIs481() throws {
        #expect(try receive(try request(.cancel)).sentStatuses == [481])
    }

    @Test mutating func mergedRequestIs482() throws {
        _ = try receive(try request(.invite))
        let outcome = try receive(try request(.invite, branch: "z9hG4bKb"))
        #expect(outcome.sentStatuses == [482])
        #expect(outcome.requests.isEmpty)
    }

    @Test mutating func ignoredRequestsAreNewAgain() throws {
        let invite = try request(.invite)
        for _ in 0..<2 {
            let id = try #require(try receive(invite).requests.first?.id)
            layer.ignore(id)
            #expect(layer.count == 0)
        }
    }

    @Test mutating func requestOfOurOwnIs482() throws {
        let invite = try request(.invite)
        _ = try run { $0.send(invite, on: Self.flow, at: .zero, &$1) }
        var back = try request(.invite, branch: "z9hG4bKproxy")
        back.vias += invite.vias
        #expect(try receive(back).sentStatuses == [482])
    }

    @Test mutating func mergedIsForgottenAfter64T1() throws {
        let options = try request(.options)
        let id = try #require(try receive(options).requests.first?.id)
        _ = try run { $0.respond(id, options.response(200), at: .zero, &$1) }
        _ = try run { $0.deadlineReached(at: .zero + .seconds(32), &$1) }
        let outcome = try receive(try request(.options, branch: "z9hG4bKb"), at: .zero + .seconds(33))
        #expect(outcome.requests.count == 1)
    }

    /// Peers of RFC 2543 have no cookie in the branch (T5).
    @Test mutating func oldPeersAreMatchedByTheOldRule() throws {
        let invite = try request(.invite, branch: "1")
        let id = try #require(try receive(invite).requests.first?.id)
        #expect(try receive(invite).requests.isEmpty)
        let response = try run { $0.respond(id, invite.response(486, toTag: "t"), at: .zero, &$1) }
        #expect(response.sentStatuses == [486])
        let other = try request(.ack, branch: "1", toTag: "other")
        #expect(try receive(other).requests.count == 1)
        #expect(try receive(try request(.ack, branch: "1", toTag: "t")).requests.isEmpty)
        _ = try run { $0.deadlineReached(at: .zero + .seconds(5), &$1) }
        #expect(layer.count == 0)
    }

    @Test mutating func noProvisionalForOtherRequests() throws {
        let options = try request(.options)
        let id = try #require(try receive(options).requests.first?.id)
        #expect(try run { $0.respond(id, options.response(100), at: .zero, &$1) }.sent.isEmpty)
        #expect(try run { $0.deadlineReached(at: .zero + .seconds(32), &$1) }.sent.isEmpty)
        #expect(layer.count == 0)
    }
}

extension Message {
    fileprivate var toTag: String? {
        switch self {
        case .request(let request): request.to.tag
        case .response(let response): response.to.tag
        }
    }
    fileprivate var isTagged: Bool { toTag != nil }
}
