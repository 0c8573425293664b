import Primitives
import SDP
import SIP

/// re-INVITE in both directions: hold and resume (S4), another address of ours (R8), glare (D8).
extension Call {
    /// A re-INVITE of ours without a final response.
    struct Reinvite {
        let number: Int
        /// What it asks for.
        let holds: Bool
        let moves: Bool
        /// As last submitted.
        var request: Request?
        /// What our side of the media was before.
        let before: LocalMedia
    }

    /// Our address changed, and the peer does not know it yet.
    struct Move {
        /// The call is given up then; nil before it is answered.
        var until: Instant?
        var attempts = 0
    }

    /// Within this time, and with so many re-INVITEs, the peer must have learned our new address (R8).
    static let moveLimit = Duration.seconds(30)
    static let moveAttempts = 3
    /// Between them, where the first one failed at once.
    static let moveInterval = Duration.seconds(4)

    mutating func hold(_ wanted: Bool) {
        guard !isOver else { return }
        wantsHold = wanted
    }

    /// A re-INVITE under way starts from the old address: its response would be lost, so another one follows.
    mutating func addressChanged(at now: Instant, _ out: inout [Output]) {
        guard !isOver else { return }
        move = Move(until: phase == .established ? now + Self.moveLimit : nil)
        guard phase == .established else { return }
        retryAt = nil
        guard let reinvite else { return }
        undo(reinvite)
        errands[reinvite.number] = nil
        out.append(.abandon(reinvite.number))
    }

    /// Makes the session what it should be, if nothing else is going on.
    mutating func renegotiate(_ out: inout [Output]) {
        guard reinvite == nil, accepted == nil, retryAt == nil, !isSendingDigit, let dialog, let negotiation,
            negotiation.state == .agreed, wantsHold != holds || move != nil
        else { return }
        let number = open(.reinvite, RequestPath(to: dialog.nextHop), &out)
        reinvite = Reinvite(number: number, holds: wantsHold, moves: move != nil, before: negotiation.local)
        move?.attempts += 1
    }

    mutating func submitReinvite(
        _ number: Int, _ flow: Flow, _ occasion: RequestOccasion, at now: Instant, _ out: inout [Output]
    ) {
        guard phase == .established, var reinvite, reinvite.number == number, var dialog, var negotiation else {
            errands[number] = nil
            return out.append(.abandon(number))
        }
        guard var local = localMedia(on: flow) else {
            errands[number] = nil
            out.append(.abandon(number))
            undo(reinvite)
            return failedAttempt("no RTP port is free", moved: reinvite.moves, at: now, &out)
        }
        local.direction = reinvite.holds ? .inactive : .sendrecv
        negotiation.withdrawOffer()
        negotiation.local = local
        guard let offer = try? negotiation.makeOffer() else { return }
        var request = dialog.request(.invite)
        if let earlier = reinvite.request, occasion == .again {
            request.cseq = earlier.cseq
        } else {
            self.dialog = dialog
        }
        request.headers.append(.contact, NameAddress(account.contact(on: flow, for: dialog.remoteTarget)).description)
        request.headers.appendAllow()
        setBody(offer, of: &request)
        self.negotiation = negotiation
        reinvite.request = request
        self.reinvite = reinvite
        out.append(.submit(number, request))
    }

    mutating func reinviteAnswered(
        _ number: Int, _ response: Response, to sent: Request, at now: Instant, _ out: inout [Output]
    ) {
        errands[number] = nil
        if response.isSuccess, var dialog {
            dialog.advance(to: sent.cseq.number)
            dialog.refreshTarget(from: response)
            self.dialog = dialog
            acknowledge(number, in: dialog, to: sent, at: now, &out)
        }
        guard phase == .established, let reinvite, reinvite.number == number else { return }
        guard response.isSuccess else { return reinviteRefused(reinvite, response, at: now, &out) }
        self.reinvite = nil
        do {
            guard let answer = response.sessionDescription else {
                throw NegotiationError.notAcceptable("there is none in the answer")
            }
            try negotiation?.apply(answer: answer)
        } catch {
            out.append(.note(.warning, "\(error)"))
            sayBye(Reason(cause: 488, text: "no usable session description").description, &out)
            return end(488, "\(error)", .failed, at: now, &out)
        }
        holds = reinvite.holds
        if reinvite.moves { move = nil }
        showNegotiated(at: now, &out)
    }

    /// The session stays as it was, unless the dialog is gone (D7, D8).
    private mutating func reinviteRefused(
        _ reinvite: Reinvite, _ response: Response, at now: Instant, _ out: inout [Output]
    ) {
        undo(reinvite)
        switch response.status {
        case 481: end(481, response.reason, .failed, at: now, &out)
        case 408: dialogLost("no answer to re-INVITE", at: now, &out)
        case 491:
            // Who made the Call-ID waits longer; in steps of 10 ms (RFC 3261 §14.1).
            let steps: ClosedRange<Int64> = status.direction == .outgoing ? 210...400 : 0...200
            retryAt = now + .milliseconds(10 * Int64.random(in: steps, using: &random))
        case 500 where response.retryAfter.map { $0 <= 10 } ?? false:
            retryAt = now + .seconds(Int64(response.retryAfter ?? 0))
        default:
            failedAttempt("\(response.status) \(response.reason)", moved: reinvite.moves, at: now, &out)
        }
    }

    mutating func reinviteFailed(_ failure: RequestFailure, at now: Instant, _ out: inout [Output]) {
        guard phase == .established, let reinvite else { return }
        undo(reinvite)
        if failure == .timeout, !reinvite.moves { return dialogLost("no answer to re-INVITE", at: now, &out) }
        failedAttempt(failure.text, moved: reinvite.moves, at: now, &out)
    }

    /// A change that the operator wanted is given up; another address is tried again (R8).
    private mutating func failedAttempt(
        _ why: String, moved: Bool, at now: Instant, _ out: inout [Output]
    ) {
        if moved, let move {
            if move.attempts >= Self.moveAttempts { return giveUpMove(at: now, &out) }
            out.append(.note(.notice, "the peer did not learn our new address: \(why); trying again"))
            retryAt = now + Self.moveInterval
        } else {
            out.append(.note(.warning, "re-INVITE failed: \(why); the call goes on as before"))
            wantsHold = holds
        }
    }

    mutating func giveUpMove(at now: Instant, _ out: inout [Output]) {
        move = nil
        guard phase == .established else { return }
        sayBye(Reason(cause: 503, text: "network changed").description, &out)
        end(503, "the peer did not learn our new address", .unreachable, at: now, &out)
    }

    /// All is as before our offer.
    private mutating func undo(_ reinvite: Reinvite) {
        self.reinvite = nil
        negotiation?.withdrawOffer()
        negotiation?.local = reinvite.before
    }

    // MARK: From the peer

    /// Answers a re-INVITE: an offer, or the wish for one of ours (D12).
    mutating func reinvited(
        _ request: Request, _ id: ServerTransactionID, _ flow: Flow, at now: Instant, _ out: inout [Output]
    ) {
        if phase == .inviting || reinvite?.request != nil { return respond(491, to: request, id, &out) }
        guard phase == .established else { return retryLater(request, id, &out) }
        if accepted?.awaitsAnswer == true { return respond(491, to: request, id, &out) }
        // Whoever goes on to a re-INVITE has our 2xx, even if its ACK was lost.
        accepted = nil
        isAcknowledged = true
        let description = request.sessionDescription
        if description == nil, !request.body.isEmpty { return respond(415, to: request, id, &out) }
        guard var negotiation else { return }
        do throws(NegotiationError) {
            negotiation.local.direction = holds ? .inactive : .sendrecv
            let answer: [UInt8]
            if let description {
                answer = try negotiation.answer(description)
                heldByPeer = negotiation.isHeld(by: description)
            } else {
                answer = try negotiation.makeOffer()
            }
            self.negotiation = negotiation
            dialog?.refreshTarget(from: request)
            var response = dialogResponse(200, to: request, on: flow)
            setBody(answer, of: &response)
            accept(id, response, awaitsAnswer: description == nil, at: now, &out)
            showNegotiated(at: now, &out)
        } catch {
            out.append(.note(.info, "re-INVITE refused: \(error)"))
            respond(error.status, to: request, id, &out)
        }
    }

    /// An answer of ours is due first (D8).
    private mutating func retryLater(_ request: Request, _ id: ServerTransactionID, _ out: inout [Output]) {
        var response = request.response(500, toTag: localTag)
        response.headers.append(.retryAfter, String(Int.random(in: 0...10, using: &random)))
        out.append(.respond(id, response))
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
