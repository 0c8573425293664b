package import Primitives

extension TransactionLayer {
    struct ServerEntry {
        enum Machine {
            case invite(InviteServerTransaction)
            case other(NonInviteServerTransaction)
        }
        enum Input {
            case start
            case repeated
            case respond(status: Int)
            /// The ACK, and the flow that it came along.
            case acknowledged(Request, Flow)
            case deadlineReached
        }

        var machine: Machine
        /// With `received` and `rport` in its top Via.
        var request: Request
        /// The connection that the request came along; for UDP where responses go (T7).
        var flow: Flow
        /// The connection is gone: responses go by a new one.
        var isFlowGone = false
        /// Tag of our side for responses whose maker has none.
        var localTag: String
        var lastResponse: Response?
        var octets: [UInt8] = []
        var scheduled: Instant?
    }

    /// Answers a request. 100 goes out by itself (T6). A 2xx to an INVITE may be handed in again and again until its
    /// ACK comes (T3). After a final response, and for a transaction that is over, nothing happens.
    ///
    /// A response without a To tag gets one, the same for all of the transaction.
    package mutating func respond(
        _ id: ServerTransactionID, _ response: Response, at now: Instant, _ out: inout [Output]
    ) {
        guard let entry = servers[id] else { return }
        switch entry.machine {
        case .invite(let machine):
            switch machine.state {
            case .proceeding: break
            case .accepted where response.isSuccess: break
            default: return
            }
        // A provisional response to another request would be against RFC 4320.
        case .other(let machine): if machine.state != .trying || response.isProvisional { return }
        }
        var response = response
        if response.to.tag == nil, response.status > 100 { response.to.tag = entry.localTag }
        servers[id]?.lastResponse = response
        servers[id]?.octets = response.serialized()
        step(id, .respond(status: response.status), at: now, &out)
    }

    /// The flow that responses of a transaction take; nil: it is over.
    package func flow(of id: ServerTransactionID) -> Flow? { servers[id]?.flow }

    /// Answers a request once and forgets it: no repeat, no timer, and no answer at all if it has more octets than
    /// `limit` (SEC5). A repeat of the request counts as new.
    package mutating func respondOnce(
        _ id: ServerTransactionID, _ response: Response, limit: Int, _ out: inout [Output]
    ) {
        guard let entry = servers.removeValue(forKey: id) else { return }
        var response = response
        if response.to.tag == nil { response.to.tag = entry.localTag }
        let octets = response.serialized()
        if octets.count <= limit { out.append(.send(octets, entry.flow)) }
    }

    /// Drops a request: it never gets a response, and a repeat of it counts as new (SEC1).
    package mutating func ignore(_ id: ServerTransactionID) { servers[id] = nil }

    mutating func received(_ request: Request, on flow: Flow, at now: Instant, _ out: inout [Output]) {
        guard var via = request.topVia else { return }
        if request.method == .ack {
            let id = ServerTransactionID(request, via: via, as: .invite)
            if let entry = servers[id], !id.isLegacy || entry.lastResponse?.to.tag == request.to.tag {
                step(id, .acknowledged(request, flow), at: now, &out)
            } else {
                out.append(.request(request, nil, flow))
            }
            return
        }
        let id = ServerTransactionID(request, via: via, as: request.method)
        guard servers[id] == nil else { return step(id, .repeated, at: now, &out) }

        let invite = ServerTransactionID(request, via: via, as: .invite)
        // A request with a hop of ours that is not over is a loop (T14).
        let isOurs = request.vias.contains { hop in
            hop.branch.map { clients[ClientTransactionID(branch: $0, method: request.method)] != nil } ?? false
        }
        note(source: flow.remote, in: &via)
        var request = request
        request.vias[0] = via
        guard servers.count < Self.limit else {
            out.append(.send(request.response(503).serialized(), responseFlow(via, flow)))
            return
        }
        let isReliable = flow.transport.isStream
        servers[id] = ServerEntry(
            machine: request.method == .invite
                ? .invite(InviteServerTransaction(isReliable: isReliable))
                : .other(NonInviteServerTransaction(isReliable: isReliable)),
            request: request, flow: responseFlow(via, flow), localTag: random.token(bits: 96))
        step(id, .start, at: now, &out)

        if request.method == .cancel {
            answerCancel(request, id, of: invite, at: now, &out)
        } else if isOurs || isMerged(request, id, at: now) {
            respond(id, request.response(482), at: now, &out)
        } else {
            out.append(.request(request, id, flow))
        }
    }

    /// 200 if there is something to cancel, else 481; the INVITE itself is for its user to answer (D6).
    private mutating func answerCancel(
        _ request: Request, _ id: ServerTransactionID, of invite: ServerTransactionID, at now: Instant,
        _ out: inout [Output]
    ) {
        guard let entry = servers[invite] else { return respond(id, request.response(481), at: now, &out) }
        let tag = entry.lastResponse?.to.tag ?? entry.localTag
        respond(id, request.response(200, toTag: tag), at: now, &out)
        if case .invite(let machine) = entry.machine, machine.state == .proceeding {
            out.append(.cancelled(invite, by: request))
        }
    }

    /// Whether the same request came before by another way; remembers it for 64*T1 if not (T14).
    private mutating func isMerged(_ request: Request, _ id: ServerTransactionID, at now: Instant) -> Bool {
        forgetMerges(at: now)
        guard let key = MergeKey(request) else { return false }
        if let first = merges[key] { return first != id }
        guard merges.count < Self.limit else { return false }
        merges[key] = id
        mergeEnds.append((now + TransactionTimers.timeout, key))
        return false
    }

    private mutating func forgetMerges(at now: Instant) {
        let count = mergeEnds.prefix { $0.until <= now }.count
        for (_, key) in mergeEnds.prefix(count) {
            if let id = merges[key], servers[id] != nil {
                mergeEnds.append((now + TransactionTimers.timeout, key))
            } else {
                merges[key] = nil
            }
        }
        mergeEnds.removeFirst(count)
    }

    /// Adds where the request really came from (RFC 3261 §18.2.1, RFC 3581 §4).
    private func note(source: SocketAddress, in via: inout Via) {
        if via.wantsRport {
            via.received = source.address
            via.rport = source.port
        } else if via.host.address != source.address {
            via.received = source.address
        }
    }

    /// Where responses go: back along a connection; by UDP to the source address and, with `rport`, the source port,
    /// else the port of sent-by (T7).
    private func responseFlow(_ via: Via, _ flow: Flow) -> Flow {
        if flow.transport.isStream || via.wantsRport { return flow }
        var flow = flow
        flow.remote.port = via.port ?? flow.transport.defaultPort
        return flow
    }

    mutating func step(_ id: ServerTransactionID, _ input: ServerEntry.Input, at now: Instant, _ out: inout [Output]) {
        switch servers[id]?.machine {
        case .invite(var machine):
            var steps: [InviteServerTransaction.Output] = []
            machine.handle(input.forInvite, at: now, &steps)
            servers[id]?.machine = .invite(machine)
            for step in steps {
                switch step {
                case .send: sendResponse(of: id, &out)
                case .sendTrying:
                    guard let request = servers[id]?.request else { break }
                    var trying = request.response(100)
                    if let timestamp = request.headers.first(.timestamp) {
                        trying.headers.append(.timestamp, timestamp)
                    }
                    sendResponse(of: id, octets: trying.serialized(), &out)
                case .deliver:
                    if case .acknowledged(let request, let flow) = input { out.append(.request(request, nil, flow)) }
                }
            }
            settle(id, isOver: machine.state == .terminated, deadline: machine.deadline)
        case .other(var machine):
            guard let machineInput = input.forOther else { return }
            var steps: [NonInviteServerTransaction.Output] = []
            machine.handle(machineInput, at: now, &steps)
            servers[id]?.machine = .other(machine)
            for _ in steps { sendResponse(of: id, &out) }
            settle(id, isOver: machine.state == .terminated, deadline: machine.deadline)
        case nil: break
        }
    }

    private func sendResponse(of id: ServerTransactionID, octets: [UInt8]? = nil, _ out: inout [Output]) {
        guard let entry = servers[id], let via = entry.request.topVia else { return }
        let octets = octets ?? entry.octets
        guard entry.isFlowGone else { return out.append(.send(octets, entry.flow)) }
        let address = via.received ?? via.host.address ?? entry.flow.remote.address
        let port = via.port ?? entry.flow.transport.defaultPort
        out.append(
            .sendAnew(
                octets,
                Target(
                    transport: entry.flow.transport, address: SocketAddress(address, port), domain: via.host.text)))
    }

    private mutating func settle(_ id: ServerTransactionID, isOver: Bool, deadline: Instant?) {
        guard !isOver else {
            servers[id] = nil
            return
        }
        guard let entry = servers[id], entry.scheduled != deadline else { return }
        servers[id]?.scheduled = deadline
        if let deadline { schedule(.server(id), at: deadline) }
    }
}

extension TransactionLayer.ServerEntry.Input {
    fileprivate var forInvite: InviteServerTransaction.Input {
        switch self {
        case .start: .start
        case .repeated: .repeated
        case .respond(let status): .respond(status: status)
        case .acknowledged: .acknowledged
        case .deadlineReached: .deadlineReached
        }
    }

    fileprivate var forOther: NonInviteServerTransaction.Input? {
        switch self {
        case .start: .start
        case .repeated: .repeated
        case .respond: .respond
        case .acknowledged: nil
        case .deadlineReached: .deadlineReached
        }
    }
}
