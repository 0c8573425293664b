import Primitives
import SDP
import SIP

extension Call {
    /// The peer's INVITE without a final response.
    struct IncomingInvite {
        let id: ServerTransactionID
        let request: Request
        var flow: Flow
        /// When their side hears again that ours rings.
        var ringAt: Instant?
        let giveUpAt: Instant
        /// The session timer of our 2xx.
        let timer: SessionTimerTerms.Verdict
        /// Offer and answer are exchanged already, by a reliable 18x and its PRACK (D12).
        var isNegotiated = false
        /// Answered, but the PRACK of an 18x with a description must come first (D11).
        var isAnswered = false

        /// The caller wants every 18x to be reliable (D11).
        var wantsReliable: Bool { request.require.contains("100rel") }
    }

    /// A call that comes in. Everything but its session timer and description is checked already (D1).
    ///
    /// - Throws: How to refuse it, before anything rings.
    init(
        answering request: Request, _ id: ServerTransactionID, on flow: Flow, as key: CallKey, for account: Account,
        caller: SIPURI, callerName: String, capabilities: UserAgentCapabilities, at now: Instant
    ) throws(Refusal) {
        var random = capabilities.random
        let localTag = random.token(bits: 100)
        self.init(
            key: key, account: account, capabilities: capabilities, callID: request.callID, localTag: localTag,
            phase: .incoming,
            status: CallStatus(
                call: key, direction: .incoming, state: .incoming, account: account.name, remote: caller,
                remoteName: callerName, since: now, sipCallID: request.callID))
        saw(flow)
        let verdict = terms.verdict(on: request, current: nil)
        if case .refuse(let least) = verdict {
            throw Refusal(status: 422, headers: [.minSE: String(least)], text: "its session timer is too short")
        }
        incoming = IncomingInvite(
            id: id, request: request, flow: flow, giveUpAt: now + Self.ringLimit, timer: verdict)
        tag = request.from.tag ?? ""
        leg = Leg(Dialog(answering: request, localTag: localTag), try negotiation(for: request, on: flow))
        leg?.note(allowed: request.allow)
    }

    /// What we would answer to the INVITE from this address of ours.
    private mutating func negotiation(for request: Request, on flow: Flow) throws(Refusal) -> OfferAnswer {
        guard let local = localMedia(on: flow) else {
            throw Refusal(status: 503, headers: [.retryAfter: "5"], text: "no RTP port is free")
        }
        var negotiation = OfferAnswer(local: local, randomness: &random)
        guard let offer = request.sessionDescription else { return negotiation }
        do throws(NegotiationError) {
            _ = try negotiation.answer(offer)
        } catch {
            capabilities.releasePort(key)
            throw Refusal(status: error.status, text: "\(error)")
        }
        return negotiation
    }

    // MARK: Ringing

    mutating func ring(at now: Instant, _ out: inout [Output]) {
        guard phase == .incoming, let invite = incoming else { return }
        incoming?.ringAt = now + Self.ringInterval
        // The next reliable one only after the PRACK of the one before.
        guard !invite.wantsReliable || reliable == nil else { return }
        var response = dialogResponse(180, to: invite.request, on: invite.flow)
        guard invite.wantsReliable else { return out.append(.respond(invite.id, response)) }
        lastReliable = lastReliable.map { $0 + 1 } ?? UInt32.random(in: 1...0x7FFF_FFFF, using: &random)
        response.headers.append(.require, "100rel")
        response.headers.append(.rseq, String(lastReliable ?? 1))
        // A caller without an offer gets ours as early as that (D12).
        let offer = leg?.negotiation.state == .fresh ? try? leg?.negotiation.makeOffer() : nil
        if let offer { setBody(offer, of: &response) }
        reliable = RepeatedResponse.provisional(invite.id, response, awaitsAnswer: offer != nil, at: now)
        out.append(.respond(invite.id, response))
    }

    mutating func incomingDeadlineReached(at now: Instant, _ out: inout [Output]) {
        guard phase == .incoming, let incoming else { return }
        switch reliable?.repetition.deadlineReached(at: now) {
        case .resend: if let reliable { out.append(.respond(reliable.id, reliable.response)) }
        case .giveUp:
            reliable = nil
            out.append(.note(.warning, "no PRACK came"))
            return refuse(504, cause: .failed, at: now, &out)
        case .wait, nil: break
        }
        if now >= incoming.giveUpAt {
            refuse(480, cause: .noAnswer, at: now, &out)
        } else if let ringAt = incoming.ringAt, now >= ringAt {
            ring(at: now, &out)
        }
    }

    /// PRACK (D11): it may carry the answer to our offer, or an offer of its own (D12).
    mutating func acknowledgedReliably(
        _ request: Request, _ id: ServerTransactionID, in tag: String, at now: Instant, _ out: inout [Output]
    ) {
        guard let rack = request.rack, let reliable, reliable.isConfirmed(by: rack) else {
            return respond(481, to: request, id, &out)
        }
        let description = request.sessionDescription
        if description != nil, !reliable.awaitsAnswer, incoming.map({ !$0.isNegotiated }) ?? false {
            return retryLater(request, id, &out)
        }
        self.reliable = nil
        var response = request.response(200)
        do {
            if reliable.awaitsAnswer {
                guard let description else { throw NegotiationError.notAcceptable("there is none in the PRACK") }
                try legs[tag]?.negotiation.apply(answer: description)
                incoming?.isNegotiated = true
            } else if let description, let answer = try legs[tag]?.negotiation.answer(description) {
                setBody(answer, of: &response)
            }
        } catch {
            out.append(.note(.info, "\(error)"))
            respond(reliable.awaitsAnswer ? 200 : 488, to: request, id, &out)
            if reliable.awaitsAnswer { refuse(488, cause: .failed, at: now, &out) }
            return
        }
        out.append(.respond(id, response))
        if phase == .established { showNegotiated(at: now, &out) }
        if incoming?.isAnswered == true { answer(at: now, &out) }
    }

    // MARK: The answer

    mutating func answer(at now: Instant, _ out: inout [Output]) {
        guard phase == .incoming, let invite = incoming else { return }
        if reliable?.awaitsAnswer == true {
            incoming?.isAnswered = true
            return
        }
        if !invite.isNegotiated, leg?.negotiation.local.address != invite.flow.local.address {
            // Our address changed while it rang (R8): nothing of the former one was said yet.
            do throws(Refusal) {
                let anew = try negotiation(for: invite.request, on: invite.flow)
                leg?.negotiation = anew
            } catch {
                port = nil
                out.append(.note(.warning, error.text))
                return refuse(error.status, cause: .failed, at: now, &out)
            }
        }
        var response = dialogResponse(200, to: invite.request, on: invite.flow)
        // A caller without an offer gets ours (D12).
        let offers = leg?.negotiation.state == .fresh
        if !invite.isNegotiated {
            guard let description = offers ? try? leg?.negotiation.makeOffer() : leg?.negotiation.localDescription
            else { return }
            setBody(description, of: &response)
        }
        incoming = nil
        isAcknowledged = false
        establish(at: now)
        follow(invite.timer, in: &response, at: now)
        accept(invite.id, response, awaitsAnswer: offers, at: now, &out)
        showNegotiated(at: now, &out)
    }

    /// Sends a 2xx to an INVITE, until its ACK comes (T3).
    mutating func accept(
        _ id: ServerTransactionID, _ response: Response, awaitsAnswer: Bool, at now: Instant, _ out: inout [Output]
    ) {
        accepted = RepeatedResponse.success(id, response, awaitsAnswer: awaitsAnswer, at: now)
        out.append(.respond(id, response))
    }

    mutating func reject(_ code: Int, at now: Instant, _ out: inout [Output]) {
        guard 300..<700 ~= code else { return }
        refuse(code, cause: CallCause(rejecting: code), at: now, &out)
    }

    mutating func refuse(
        _ code: Int, cause: CallCause, contact: SIPURI? = nil, at now: Instant, _ out: inout [Output]
    ) {
        guard phase == .incoming, let invite = incoming else { return }
        var response = invite.request.response(code, toTag: localTag)
        if let contact { response.headers.append(.contact, NameAddress(contact).description) }
        out.append(.respond(invite.id, response))
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
            try leg?.negotiation.apply(answer: answer)
        } catch {
            return endForDescription(error, at: now, &out)
        }
        showNegotiated(at: now, &out)
    }

    mutating func acceptedDeadlineReached(at now: Instant, _ out: inout [Output]) {
        switch accepted?.repetition.deadlineReached(at: now) {
        case .resend: if let accepted { out.append(.respond(accepted.id, accepted.response)) }
        case .giveUp: giveUpAcknowledgement(at: now, &out)
        case .wait, nil: break
        }
    }

    /// Nobody acknowledged our 2xx: BYE, and the end (T3).
    private mutating func giveUpAcknowledgement(at now: Instant, _ out: inout [Output]) {
        accepted = nil
        isAcknowledged = true
        if case .some(let reason) = lateBye {
            lateBye = nil
            return sayBye(reason, &out)
        }
        sayBye(Reason(cause: 408, text: "no ACK").description, &out)
        end(408, "no ACK", .failed, at: now, &out)
    }
}
