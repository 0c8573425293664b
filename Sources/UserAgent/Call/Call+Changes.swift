import Primitives
import SDP
import SIP

/// What we change in a session by re-INVITE and UPDATE: hold and resume (S4), another address of ours (R8), the session
/// timer's refresh (D13).
extension Call {
    /// Our address changed, and the peer does not know it yet.
    struct Move {
        /// The call is given up then; nil before it is answered.
        var until: Instant?
        var attempts = 0
    }

    /// Another address of ours.
    struct AddressChange {
        /// The address that the way to the peer begins at now.
        var local: SocketAddress
        /// Nothing that is sent to the former address arrives any more.
        var isFormerGone: Bool
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

    /// What is under way starts from the old address: its response would be lost, so another request follows. A call
    /// that still rings tells it in its early dialogs; where its answer could not reach us any more the INVITE goes
    /// anew, from the new address.
    mutating func addressChanged(_ change: AddressChange, at now: Instant, _ out: inout [Output]) {
        guard !isOver else { return }
        for tag in legs.keys {
            legs[tag]?.owesMove = phase != .established
            legs[tag]?.pausedUntil = nil
            guard let number = legs[tag]?.current else { continue }
            if case .change(let change)? = errands[number]?.purpose {
                undo(change, in: tag)
                abandon(number, &out)
            }
        }
        switch phase {
        case .inviting where change.isFormerGone: inviteAnew(at: now, &out)
        case .inviting: move = Move()
        case .incoming: incoming?.flow.leave(from: change.local)
        case .established: move = Move(until: now + Self.moveLimit)
        case .leaving, .finished: break
        }
    }

    // MARK: Wanted

    /// What the session should be and is not.
    var wantedChange: Change? {
        guard accepted == nil, let leg, leg.negotiation.state == .agreed else { return nil }
        if wantsHold != holds || move != nil {
            return Change(method: .invite, offer: Change.Wish(holds: wantsHold), moves: move != nil)
        }
        guard isRefreshDue else { return nil }
        if leg.takesUpdate { return Change(method: .update) }
        return Change(method: .invite, offer: Change.Wish(holds: holds, isRepeated: true))
    }

    /// An early dialog hears of our new address by UPDATE, where its peer takes that; with an offer if one was
    /// answered in it.
    func earlyChange(in leg: Leg) -> Change? {
        guard leg.owesMove, leg.takesUpdate else { return nil }
        let mayOffer = phase == .inviting && leg.negotiation.state == .agreed
        return Change(method: .update, offer: mayOffer ? Change.Wish(holds: false) : nil, moves: true)
    }

    // MARK: Asked

    /// Completes the request; false: nobody wants it any more, or there is no way.
    mutating func add(
        _ wanted: Change, to request: inout Request, _ number: Int, in tag: String, _ flow: Flow, at now: Instant,
        _ out: inout [Output]
    ) -> Bool {
        var change = wanted
        if phase == .established { terms.offer(in: &request, current: timer) }
        if let wish = change.offer, var negotiation = legs[tag]?.negotiation {
            negotiation.withdrawOffer()
            let before = change.before ?? negotiation.local
            if !wish.isRepeated {
                guard var local = localMedia(on: flow) else {
                    refused(change, in: tag, "no RTP port is free", nil, at: now, &out)
                    return false
                }
                local.direction = wish.holds ? .inactive : .sendrecv
                negotiation.local = local
            }
            guard let offer = try? negotiation.makeOffer(repeating: wish.isRepeated) else { return false }
            setBody(offer, of: &request)
            legs[tag]?.negotiation = negotiation
            change.before = before
        }
        if change.moves, errands[number]?.request == nil { move?.attempts += 1 }
        errands[number]?.purpose = .change(change)
        return true
    }

    // MARK: Answered

    mutating func changed(
        _ change: Change, in tag: String, by response: Response, at now: Instant, _ out: inout [Output]
    ) {
        if change.method == .update { legs[tag]?.dialog.refreshTarget(from: response) }
        legs[tag]?.note(allowed: response.allow)
        if change.offer != nil {
            do {
                guard let answer = response.sessionDescription else {
                    throw NegotiationError.notAcceptable("there is none in the answer")
                }
                try legs[tag]?.negotiation.apply(answer: answer)
            } catch {
                if phase == .established { return endForDescription(error, at: now, &out) }
                undo(change, in: tag)
            }
        }
        legs[tag]?.owesMove = false
        guard phase == .established else { return showEarly(at: now, &out) }
        isRefreshDue = false
        timer = terms.timer(after: response, current: timer, at: now)
        if change.moves { move = nil }
        guard let wish = change.offer else { return }
        holds = wish.holds
        showNegotiated(at: now, &out)
    }

    /// The session stays as it was (D8).
    mutating func refused(
        _ change: Change, in tag: String, _ why: String, _ response: Response?, at now: Instant, _ out: inout [Output]
    ) {
        undo(change, in: tag)
        if let response, response.status == 422, terms.follow(response) { return }
        if change.method == .update, let response, response.status == 405 || response.status == 501 {
            // By re-INVITE then.
            legs[tag]?.forgetUpdate()
            return
        }
        legs[tag]?.owesMove = false
        guard phase == .established else {
            return out.append(.note(.info, "the early dialog did not learn our new address: \(why)"))
        }
        if change.moves, let move {
            if move.attempts >= Self.moveAttempts { return giveUpMove(at: now, &out) }
            out.append(.note(.notice, "the peer did not learn our new address: \(why); trying again"))
            legs[tag]?.pausedUntil = now + Self.moveInterval
        } else if isRefreshDue, wantsHold == holds {
            isRefreshDue = false
            timer?.refreshFailed(at: now)
            out.append(.note(.notice, "the session was not refreshed: \(why)"))
        } else {
            out.append(.note(.warning, "\(change.method) failed: \(why); the call goes on as before"))
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
    mutating func undo(_ change: Change, in tag: String) {
        guard change.offer != nil, let before = change.before else { return }
        legs[tag]?.negotiation.withdrawOffer()
        legs[tag]?.negotiation.local = before
    }

    // MARK: The session timer

    mutating func timerDeadlineReached(at now: Instant, _ out: inout [Output]) {
        guard phase == .established else { return }
        switch timer?.deadlineReached(at: now) {
        case .refresh: isRefreshDue = true
        case .expire:
            timer = nil
            sayBye(Reason(cause: 408, text: "session timer expired").description, &out)
            end(408, "session timer expired", .unreachable, at: now, &out)
        case .wait, nil: break
        }
    }
}

extension Flow {
    /// The same way from another address of ours; a connection has a port of its own.
    fileprivate mutating func leave(from address: SocketAddress) {
        if transport.isStream { local.address = address.address } else { local = address }
    }
}
