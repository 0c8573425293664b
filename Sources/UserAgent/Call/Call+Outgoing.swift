import Primitives
import SDP
import SIP

extension Call {
    /// Calls out. `routes`: the proxies of the account; `flow`: taken for the first attempt.
    init(
        dialling order: DialOrder, for account: Account, routes: [NameAddress], flow: Flow?,
        capabilities: UserAgentCapabilities, at now: Instant, _ out: inout [Output]
    ) {
        var random = capabilities.random
        let callID = random.token(bits: 100)
        let localTag = random.token(bits: 100)
        self.init(
            key: order.call, account: account, capabilities: capabilities, callID: callID, localTag: localTag,
            phase: .inviting,
            status: CallStatus(
                call: order.call, direction: .outgoing, state: .dialing, account: account.name,
                remote: order.uri.addressOfRecord, remoteName: "", since: now, sipCallID: callID))
        outgoing = OutgoingInvite(order, for: account, routes: routes, tag: localTag)
        invite(flow: flow, at: now, &out)
        tell(&out)
    }

    /// Sends the INVITE to its present target.
    private mutating func invite(flow: Flow? = nil, at now: Instant, _ out: inout [Output]) {
        guard var outgoing else { return }
        forgetLegs()
        outgoing.cseq = nextSequence(after: outgoing.cseq)
        outgoing.request = nil
        outgoing.retryAt = nil
        outgoing.isHeard = false
        show(nil, &out)
        become(.dialing, at: now)
        let path = RequestPath(to: outgoing.target, routes: outgoing.routes, flow: flow)
        outgoing.number = open(.invite, in: nil, path, &out)
        self.outgoing = outgoing
    }

    private mutating func forgetLegs() {
        legs = [:]
        outgoing?.soundTag = nil
    }

    private func nextSequence(after number: UInt32) -> UInt32 { number < 0x7FFF_FFFF ? number + 1 : 1 }

    mutating func submitInvite(
        _ number: Int, _ flow: Flow, _ occasion: RequestOccasion, at now: Instant, _ out: inout [Output]
    ) {
        guard phase == .inviting, var outgoing, outgoing.number == number else { return }
        guard let local = localMedia(on: flow), let offer = outgoing.offer(local, of: account, &random) else {
            abandon(number, &out)
            return end(503, "no RTP port is free", .failed, at: now, &out)
        }
        if occasion == .authorized {
            outgoing.cseq = nextSequence(after: outgoing.cseq)
            forgetLegs()
        }
        var request = Request(
            .invite, outgoing.target, from: outgoing.from, to: outgoing.to, callID: callID, cseq: outgoing.cseq)
        for route in outgoing.routes { request.headers.append(.route, route.description) }
        request.headers.append(.contact, NameAddress(account.contact(on: flow, for: outgoing.target)).description)
        request.headers.appendAllow()
        request.headers.append(.supported, outgoing.supported.joined(separator: ", "))
        request.headers.append(.accept, "application/sdp")
        if outgoing.supported.contains("timer") { terms.offer(in: &request, current: nil) }
        if let replaces = outgoing.replaces {
            request.headers.append(.require, "replaces")
            request.headers.append(.replaces, replaces.description)
        }
        if let referredBy = outgoing.referredBy { request.headers.append(.referredBy, referredBy) }
        for header in outgoing.headers { request.headers.append(HeaderName(header.name), header.value) }
        setBody(offer, of: &request)
        outgoing.request = request
        self.outgoing = outgoing
        out.append(.submit(number, request))
    }

    // MARK: Provisional responses

    mutating func provisional(_ number: Int, _ response: Response, at now: Instant, _ out: inout [Output]) {
        guard phase == .inviting, outgoing?.number == number, let request = outgoing?.request else { return }
        outgoing?.isHeard = true
        guard response.status > 100, let tag = response.to.tag else { return }
        if response.status == 199 { return legEnded(tag, at: now, &out) }
        guard var leg = legs[tag] ?? newLeg(request, response) else { return }
        let isReliable = response.require.contains("100rel")
        if isReliable {
            // A repeat, or one that overtook another: its PRACK is under way, or its turn comes (D11).
            guard let number = response.rseq, leg.takes(reliable: number) else { return }
            leg.dialog.confirm(with: response)
            if leg.waiting.count < Self.waitingLimit {
                leg.waiting.append(.prack(RAck(rseq: number, cseq: response.cseq)))
            }
        }
        leg.note(allowed: response.allow)
        if let description = response.sessionDescription, leg.negotiation.state == .offered {
            do {
                var answered = leg.negotiation
                try answered.apply(answer: description)
                if isReliable { leg.negotiation = answered } else { leg.preview = answered }
            } catch {
                out.append(.note(.info, "early media is not played: \(error)"))
            }
        }
        // Of several early dialogs with sound the youngest is heard: a proxy that goes on to the next phone has given
        // the one before up (D10).
        let isYoungest = legs.values.allSatisfy { $0.order <= leg.order }
        if leg.earlyPlan != nil, outgoing?.soundTag == nil || isYoungest { outgoing?.soundTag = tag }
        legs[tag] = leg
        if response.status == 180, status.state == .dialing { become(.ringing, at: now) }
        showEarly(at: now, &out)
    }

    private mutating func newLeg(_ request: Request, _ response: Response) -> Leg? {
        guard legs.count < Self.legLimit, let offer = outgoing?.offer,
            let dialog = Dialog(request: request, response: response)
        else { return nil }
        return Leg(dialog, offer, order: (legs.values.map(\.order).max() ?? 0) + 1)
    }

    /// Early media when there is some, else our own ringback; never both (D10).
    mutating func showEarly(at now: Instant, _ out: inout [Output]) {
        guard phase == .inviting, let tag = outgoing?.soundTag, let plan = legs[tag]?.earlyPlan else { return }
        show(plan, &out)
        become(.early, at: now)
    }

    /// An early dialog is over, others may go on.
    mutating func legEnded(_ tag: String, at now: Instant, _ out: inout [Output]) {
        legs[tag] = nil
        guard outgoing?.soundTag == tag else { return }
        outgoing?.soundTag =
            legs.filter { $0.value.earlyPlan != nil }.max { $0.value.order < $1.value.order }?.key
        if outgoing?.soundTag != nil { return showEarly(at: now, &out) }
        show(nil, &out)
        become(.ringing, at: now)
    }

    // MARK: Final responses

    /// The first 2xx wins (D5); one that comes after our CANCEL gets ACK and BYE (D6).
    mutating func inviteAnswered(
        _ number: Int, _ response: Response, to sent: Request, at now: Instant, _ out: inout [Output]
    ) {
        errands[number] = nil
        let tag = response.to.tag ?? ""
        guard var leg = legs[tag] ?? newWinner(sent, response) else { return }
        outgoing = nil
        leg.dialog.confirm(with: response)
        leg.dialog.advance(to: sent.cseq.number)
        leg.note(allowed: response.allow)
        leg.owesMove = false
        legs = [tag: leg]
        self.tag = tag
        acknowledge(number, in: leg.dialog, to: sent, at: now, &out)
        guard phase == .inviting else {
            out.append(.note(.info, "answered while being cancelled: BYE"))
            return sayBye(nil, &out)
        }
        do {
            if leg.negotiation.state == .agreed {
                // A reliable 18x brought the answer; what stands here only repeats it.
            } else if let description = response.sessionDescription {
                try self.leg?.negotiation.apply(answer: description)
            } else if let preview = leg.preview {
                self.leg?.negotiation = preview
            } else {
                throw NegotiationError.notAcceptable("there is none in the answer")
            }
        } catch {
            return endForDescription(error, at: now, &out)
        }
        establish(at: now)
        timer = terms.timer(after: response, current: nil, at: now)
        showNegotiated(at: now, &out)
    }

    /// The leg of a 2xx whose tag was never seen before (D5), be there room for it or not.
    private func newWinner(_ sent: Request, _ response: Response) -> Leg? {
        guard let offer = outgoing?.offer else { return nil }
        return Dialog(request: sent, response: response).map { Leg($0, offer) }
    }

    mutating func inviteRefused(_ number: Int, _ response: Response, at now: Instant, _ out: inout [Output]) {
        errands[number] = nil
        guard phase == .inviting, outgoing?.number == number else { return }
        outgoing?.number = nil
        let account = account
        if 300..<400 ~= response.status { outgoing?.redirect(to: response.contacts, for: account) }
        if triesOtherwise(after: response, at: now) {
            if outgoing?.retryAt != nil {
                forgetLegs()
                show(nil, &out)
                return become(.dialing, at: now)
            }
            return invite(at: now, &out)
        }
        if response.status < 600, inviteNext(at: now, &out) { return }
        let cause = 300..<400 ~= response.status ? CallCause.unreachable : CallCause(status: response.status)
        end(response.status, response.reason, cause, at: now, &out)
    }

    /// Whether the same place gets another INVITE: without what it does not know, with what it demands, or later; each
    /// of that once (D9).
    private mutating func triesOtherwise(after response: Response, at now: Instant) -> Bool {
        guard var outgoing else { return false }
        defer { self.outgoing = outgoing }
        switch response.status {
        case 420:
            let unknown = Set(response.unsupported)
            // What the INVITE requires cannot be left out.
            guard outgoing.replaces == nil || !unknown.contains("replaces") else { return false }
            let news = unknown.intersection(outgoing.supported)
            outgoing.withheld.formUnion(news)
            return !news.isEmpty
        case 422:
            guard outgoing.timerRetries > 0 else { return false }
            outgoing.timerRetries -= 1
            return terms.follow(response)
        case 488, 606:
            let plain = account.codecs.filter(\.isPlain)
            guard !outgoing.isPlain, !plain.isEmpty, plain.count < account.codecs.count else { return false }
            outgoing.isPlain = true
            return true
        case 500, 503, 504:
            guard let wait = response.retryAfter.map({ Duration.seconds(Int64($0)) }),
                wait <= TransactionTimers.timeout, !outgoing.hasWaited, outgoing.further.isEmpty
            else { return false }
            outgoing.hasWaited = true
            outgoing.retryAt = now + wait
            return true
        default: return false
        }
    }

    mutating func inviteFailed(_ failure: RequestFailure, at now: Instant, _ out: inout [Output]) {
        guard phase == .inviting else { return }
        outgoing?.number = nil
        if inviteNext(at: now, &out) { return }
        let wasRinging = status.state != .dialing
        end(
            failure.status, failure.text, CallCause(failure: failure, wasRinging: wasRinging), at: now, &out)
    }

    /// Goes on to the next place of a redirection.
    private mutating func inviteNext(at now: Instant, _ out: inout [Output]) -> Bool {
        guard let target = outgoing?.takeNext() else { return false }
        out.append(.note(.info, "redirected to \(target)"))
        invite(at: now, &out)
        return true
    }

    /// Our address changed, and no answer reaches the former one: the INVITE is cancelled from the new address, and goes
    /// out again a little later, when that is done (R8).
    mutating func inviteAnew(at now: Instant, _ out: inout [Output]) {
        guard let invite = outgoing, let number = invite.number else { return }
        errands[number] = nil
        outgoing?.number = nil
        out.append(invite.isHeard ? .withdraw(number) : .abandon(number))
        out.append(.note(.notice, "our address changed while it rang: calling again"))
        forgetLegs()
        show(nil, &out)
        become(.dialing, at: now)
        outgoing?.retryAt = now + Self.withdrawTime
    }

    mutating func outgoingDeadlineReached(at now: Instant, _ out: inout [Output]) {
        if phase == .inviting, let retryAt = outgoing?.retryAt, now >= retryAt { invite(at: now, &out) }
    }
}

extension Call.OutgoingInvite {
    /// Our offer: made once, and again if our address or what it holds changed meanwhile.
    fileprivate mutating func offer(
        _ local: LocalMedia, of account: Account, _ random: inout Randomness
    ) -> [UInt8]? {
        var local = local
        if isPlain {
            local.codecs = account.codecs.filter(\.isPlain)
            local.rtcpMux = false
        }
        var negotiation = offer ?? OfferAnswer(local: local, randomness: &random)
        if negotiation.state == .offered, negotiation.local == local { return negotiation.localDescription }
        negotiation.withdrawOffer()
        negotiation.local = local
        let description = try? negotiation.makeOffer()
        offer = negotiation
        return description
    }
}

extension AudioCodec {
    /// What every device understands.
    fileprivate var isPlain: Bool { self == .pcma || self == .pcmu }
}
