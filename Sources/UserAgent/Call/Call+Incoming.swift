import Primitives
import SDP
import SIP

extension Call {
    /// The peer's INVITE without a final response.
    struct IncomingInvite {
        let id: ServerTransactionID
        let request: Request
        let flow: Flow
        /// When their side hears again that ours rings.
        var ringAt: Instant?
        let giveUpAt: Instant

        var deadline: Instant { min(ringAt ?? giveUpAt, giveUpAt) }
    }

    /// A call that comes in. Everything but its session description is checked already (D1).
    ///
    /// - Throws: How to refuse it, before anything rings.
    init(
        answering request: Request, _ id: ServerTransactionID, on flow: Flow, as key: CallKey, for account: Account,
        caller: SIPURI, callerName: String, capabilities: UserAgentCapabilities, at now: Instant
    ) throws(Refusal) {
        var random = capabilities.random
        let tag = random.token(bits: 100)
        self.init(
            key: key, account: account, capabilities: capabilities, callID: request.callID, localTag: tag,
            phase: .incoming,
            status: CallStatus(
                call: key, direction: .incoming, state: .incoming, account: account.name, remote: caller,
                remoteName: callerName, since: now, sipCallID: request.callID))
        saw(flow)
        dialog = Dialog(answering: request, localTag: tag)
        incoming = IncomingInvite(id: id, request: request, flow: flow, giveUpAt: now + Self.ringLimit)
        guard let local = localMedia(on: flow) else {
            throw Refusal(status: 503, retryAfter: 5, text: "no RTP port is free")
        }
        var negotiation = OfferAnswer(local: local, randomness: &random)
        if let offer = request.sessionDescription {
            do throws(NegotiationError) {
                _ = try negotiation.answer(offer)
            } catch {
                capabilities.releasePort(key)
                throw Refusal(status: error.status, text: "\(error)")
            }
        }
        self.negotiation = negotiation
    }

    mutating func ring(at now: Instant, _ out: inout [Output]) {
        guard phase == .incoming, let invite = incoming else { return }
        out.append(.respond(invite.id, dialogResponse(180, to: invite.request, on: invite.flow)))
        incoming?.ringAt = now + Self.ringInterval
    }

    mutating func incomingDeadlineReached(at now: Instant, _ out: inout [Output]) {
        guard phase == .incoming, let incoming else { return }
        if now >= incoming.giveUpAt {
            refuse(480, cause: .noAnswer, at: now, &out)
        } else if let ringAt = incoming.ringAt, now >= ringAt {
            ring(at: now, &out)
        }
    }

    mutating func answer(at now: Instant, _ out: inout [Output]) {
        guard phase == .incoming, let invite = incoming, var negotiation else { return }
        var response = dialogResponse(200, to: invite.request, on: invite.flow)
        // A caller without an offer gets ours (D12).
        let offers = negotiation.state == .fresh
        guard let description = offers ? try? negotiation.makeOffer() : negotiation.localDescription else { return }
        setBody(description, of: &response)
        self.negotiation = negotiation
        incoming = nil
        isAcknowledged = false
        establish(at: now)
        accept(invite.id, response, awaitsAnswer: offers, at: now, &out)
        showNegotiated(at: now, &out)
    }

    /// Sends a 2xx to an INVITE, until its ACK comes (T3).
    mutating func accept(
        _ id: ServerTransactionID, _ response: Response, awaitsAnswer: Bool, at now: Instant, _ out: inout [Output]
    ) {
        accepted = AcceptedInvite(id, response, awaitsAnswer: awaitsAnswer, at: now)
        out.append(.respond(id, response))
    }

    mutating func reject(_ code: Int, at now: Instant, _ out: inout [Output]) {
        guard 300..<700 ~= code else { return }
        refuse(code, cause: CallCause(rejecting: code), at: now, &out)
    }

    mutating func refuse(_ code: Int, cause: CallCause, at now: Instant, _ out: inout [Output]) {
        guard phase == .incoming, let invite = incoming else { return }
        out.append(.respond(invite.id, invite.request.response(code, toTag: localTag)))
        incoming = nil
        end(code, nil, cause, at: now, &out)
    }

    mutating func cancelled(by request: Request, at now: Instant, _ out: inout [Output]) {
        guard phase == .incoming else { return }
        note(request.reasons, &out)
        refuse(487, cause: CallCause(givenUp: request.reasons), at: now, &out)
    }

    // MARK: ACK

    mutating func acknowledged(_ request: Request, at now: Instant, _ out: inout [Output]) {
        guard let accepted, accepted.response.cseq.number == request.cseq.number else { return }
        self.accepted = nil
        isAcknowledged = true
        if let reason = lateBye {
            lateBye = nil
            return sayBye(reason, &out)
        }
        guard phase == .established, accepted.awaitsAnswer else { return }
        do {
            guard let answer = request.sessionDescription else {
                throw NegotiationError.notAcceptable("there is none in the ACK")
            }
            try negotiation?.apply(answer: answer)
        } catch {
            out.append(.note(.warning, "\(error)"))
            sayBye(Reason(cause: 488, text: "no usable session description").description, &out)
            return end(488, "\(error)", .failed, at: now, &out)
        }
        showNegotiated(at: now, &out)
    }

    /// Nobody acknowledged our 2xx: BYE, and the end (T3).
    mutating func giveUpAcknowledgement(at now: Instant, _ out: inout [Output]) {
        accepted = nil
        isAcknowledged = true
        if case .some(let reason) = lateBye {
            lateBye = nil
            return sayBye(reason, &out)
        }
        sayBye(Reason(cause: 408, text: "no ACK").description, &out)
        end(408, "no ACK", .failed, at: now, &out)
    }

    /// Why the peer ended something, for the log (RFC 3326).
    func note(_ reasons: [Reason], _ out: inout [Output]) {
        for reason in reasons.prefix(2) { out.append(.note(.info, "the peer's reason: \(reason)")) }
    }
}
