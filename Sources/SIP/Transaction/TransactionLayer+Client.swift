package import Primitives

extension TransactionLayer {
    struct ClientEntry {
        enum Machine {
            case invite(InviteClientTransaction)
            case other(NonInviteClientTransaction)
        }
        enum Input {
            case start
            case response(Response, Flow)
            case cancel
            case transportFailed(TransportFailure)
            case deadlineReached
        }

        var machine: Machine
        var request: Request
        var octets: [UInt8]
        var flow: Flow
        /// Reason header of a CANCEL.
        var cancelReason: String?
        /// A CANCEL of our own: nobody waits for its outcome.
        var isOwnCancel = false
        var scheduled: Instant?
    }

    /// Starts a client transaction. The request has its top Via with a fresh branch, which names the transaction.
    /// An ACK is not sent here but with `sendStateless`.
    @discardableResult
    package mutating func send(
        _ request: Request, on flow: Flow, at now: Instant, _ out: inout [Output]
    ) -> ClientTransactionID {
        let id = ClientTransactionID(branch: request.topVia?.branch ?? "", method: request.method)
        guard clients.count < Self.limit, clients[id] == nil else {
            out.append(.failed(id, .transport(.other("too many transactions"))))
            return id
        }
        let isReliable = flow.transport.isStream
        clients[id] = ClientEntry(
            machine: request.method == .invite
                ? .invite(InviteClientTransaction(isReliable: isReliable))
                : .other(NonInviteClientTransaction(isReliable: isReliable)),
            request: request, octets: request.serialized(), flow: flow)
        step(id, .start, at: now, &out)
        return id
    }

    /// Sends a request that gets no response: the ACK to a 2xx (T4).
    package func sendStateless(_ request: Request, on flow: Flow, _ out: inout [Output]) {
        out.append(.send(request.serialized(), flow))
    }

    /// Cancels an INVITE, as soon as a provisional response allows it (D6). Its end comes as usual: 487, a final
    /// response that was faster, or `failed` after 64*T1. `reason`: the value of a Reason header (RFC 3326).
    package mutating func cancel(
        _ id: ClientTransactionID, reason: String? = nil, at now: Instant, _ out: inout [Output]
    ) {
        if let reason { clients[id]?.cancelReason = reason }
        step(id, .cancel, at: now, &out)
    }

    /// Gives a transaction up without a word to either side, as when another target is tried (T11). A 2xx to it
    /// comes as `stray2xx`.
    package mutating func forget(_ id: ClientTransactionID) { clients[id] = nil }

    mutating func received(_ response: Response, on flow: Flow, at now: Instant, _ out: inout [Output]) {
        // A response with several Vias was meant for somebody else (RFC 3261 §8.1.3.3).
        guard response.vias.count == 1, let branch = response.topVia?.branch else { return }
        let id = ClientTransactionID(branch: branch, method: response.cseq.method)
        if clients[id] != nil {
            step(id, .response(response, flow), at: now, &out)
        } else if response.cseq.method == .invite, response.isSuccess {
            out.append(.stray2xx(response, flow))
        }
    }

    mutating func step(_ id: ClientTransactionID, _ input: ClientEntry.Input, at now: Instant, _ out: inout [Output]) {
        switch clients[id]?.machine {
        case .invite(var machine):
            var steps: [InviteClientTransaction.Output] = []
            machine.handle(input.forInvite, at: now, &steps)
            clients[id]?.machine = .invite(machine)
            for step in steps { carryOut(step, id, input, at: now, &out) }
            settle(id, isOver: machine.state == .terminated, deadline: machine.deadline)
        case .other(var machine):
            guard let machineInput = input.forOther else { return }
            var steps: [NonInviteClientTransaction.Output] = []
            machine.handle(machineInput, at: now, &steps)
            clients[id]?.machine = .other(machine)
            for step in steps {
                switch step {
                case .send: carryOut(.send, id, input, at: now, &out)
                case .deliver: carryOut(.deliver, id, input, at: now, &out)
                case .failed(let failure): carryOut(.failed(failure), id, input, at: now, &out)
                }
            }
            settle(id, isOver: machine.state == .terminated, deadline: machine.deadline)
        case nil: break
        }
    }

    private mutating func carryOut(
        _ step: InviteClientTransaction.Output, _ id: ClientTransactionID, _ input: ClientEntry.Input, at now: Instant,
        _ out: inout [Output]
    ) {
        guard let entry = clients[id] else { return }
        switch step {
        case .send: out.append(.send(entry.octets, entry.flow))
        case .acknowledge:
            if case .response(let response, _) = input {
                out.append(.send(entry.request.acknowledgement(of: response).serialized(), entry.flow))
            }
        case .deliver:
            if case .response(let response, let flow) = input, !entry.isOwnCancel {
                out.append(.response(id, response, flow))
            }
        case .cancel:
            let cancel = send(entry.request.cancellation(reason: entry.cancelReason), on: entry.flow, at: now, &out)
            clients[cancel]?.isOwnCancel = true
        case .failed(let failure):
            if !entry.isOwnCancel { out.append(.failed(id, failure)) }
        }
    }

    private mutating func settle(_ id: ClientTransactionID, isOver: Bool, deadline: Instant?) {
        guard !isOver else {
            clients[id] = nil
            return
        }
        guard let entry = clients[id], entry.scheduled != deadline else { return }
        clients[id]?.scheduled = deadline
        if let deadline { schedule(.client(id), at: deadline) }
    }
}

extension TransactionLayer.ClientEntry.Input {
    fileprivate var forInvite: InviteClientTransaction.Input {
        switch self {
        case .start: .start
        case .response(let response, _): .response(status: response.status)
        case .cancel: .cancel
        case .transportFailed(let failure): .transportFailed(failure)
        case .deadlineReached: .deadlineReached
        }
    }

    fileprivate var forOther: NonInviteClientTransaction.Input? {
        switch self {
        case .start: .start
        case .response(let response, _): .response(status: response.status)
        case .cancel: nil
        case .transportFailed(let failure): .transportFailed(failure)
        case .deadlineReached: .deadlineReached
        }
    }
}
