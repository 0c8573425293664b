import Primitives
import SDP
import SIP

/// re-INVITE and UPDATE of the peer (D8, D12): offers, the wish for one of ours, the session timer's refresh.
extension Call {
    mutating func renegotiated(
        _ request: Request, _ id: ServerTransactionID, _ flow: Flow, in tag: String, at now: Instant,
        _ out: inout [Output]
    ) {
        guard var leg = legs[tag] else { return respond(481, to: request, id, &out) }
        let isInvite = request.method == .invite
        let description = request.sessionDescription
        if description == nil, !request.body.isEmpty { return respond(415, to: request, id, &out) }
        if isInvite, phase == .inviting { return respond(491, to: request, id, &out) }
        if isInvite, phase != .established { return retryLater(request, id, &out) }
        if isInvite || description != nil {
            if leg.negotiation.state == .offered { return respond(491, to: request, id, &out) }
            if incoming.map({ !$0.isNegotiated }) ?? false { return retryLater(request, id, &out) }
        }
        let verdict = phase == .established ? terms.verdict(on: request, current: timer) : .withoutTimer
        if case .refuse(let least) = verdict {
            return respond(422, to: request, id, headers: [.minSE: String(least)], &out)
        }
        var response = dialogResponse(200, to: request, on: flow)
        do throws(NegotiationError) {
            if isInvite || description != nil { leg.negotiation.local.direction = holds ? .inactive : .sendrecv }
            if let description {
                setBody(try leg.negotiation.answer(description), of: &response)
                heldByPeer = leg.negotiation.isHeld(by: description)
            } else if isInvite {
                setBody(try leg.negotiation.makeOffer(), of: &response)
            }
        } catch {
            out.append(.note(.info, "\(request.method) refused: \(error)"))
            return respond(error.status, to: request, id, &out)
        }
        leg.dialog.refreshTarget(from: request)
        leg.note(allowed: request.allow)
        legs[tag] = leg
        if phase == .established { follow(verdict, in: &response, at: now) }
        if isInvite {
            // Whoever goes on to a re-INVITE has our 2xx, even if its ACK was lost.
            isAcknowledged = true
            accept(id, response, awaitsAnswer: description == nil, at: now, &out)
        } else {
            out.append(.respond(id, response))
        }
        if phase == .established { showNegotiated(at: now, &out) } else { showEarly(at: now, &out) }
    }

    /// Writes the session timer into our 2xx, and starts it.
    mutating func follow(_ verdict: SessionTimerTerms.Verdict, in response: inout Response, at now: Instant) {
        switch verdict {
        case .timer(let agreed, let isSupported):
            if isSupported { response.headers.append(.require, "timer") }
            response.headers.append(.sessionExpires, agreed.description)
            timer = SessionTimer(seconds: agreed.seconds, isRefresher: agreed.refresher == .uas, at: now)
            isRefreshDue = false
        case .withoutTimer: if timer?.isRefresher == false { timer = nil }
        case .refuse: break
        }
    }

    /// An answer of ours is due first (D8).
    func retryLater(_ request: Request, _ id: ServerTransactionID, _ out: inout [Output]) {
        var random = random
        let seconds = String(Int.random(in: 0...10, using: &random))
        respond(500, to: request, id, headers: [.retryAfter: seconds], &out)
    }
}

extension OfferAnswer {
    /// Whether the peer's offer puts us on hold, whatever we want ourselves.
    fileprivate func isHeld(by offer: [UInt8]) -> Bool {
        var copy = self
        copy.local.direction = .sendrecv
        guard (try? copy.answer(offer)) != nil else { return false }
        return copy.plan?.heldByPeer ?? plan?.heldByPeer ?? false
    }
}
