import Primitives
import SDP
import SIP

extension Call {
    /// An INVITE of ours without a final response.
    struct OutgoingInvite {
        /// One of the places that a forked INVITE rings at (D5).
        struct Leg {
            var dialog: Dialog
            /// Its answer in an unreliable 18x: a preview of the final one (D12).
            var preview: OfferAnswer?
        }

        let from: NameAddress
        let to: NameAddress
        /// Added by the account and by the order.
        let headers: [(name: String, value: String)]
        let routes: [NameAddress]
        /// Where it goes now, and where it may go next (D9).
        var target: SIPURI
        var further: [SIPURI] = []
        var tried: [SIPURI]
        var cseq: UInt32
        var number: Int?
        /// As last submitted.
        var request: Request?
        var legs: [String: Leg] = [:]
        /// A waiting time that a server asked for is honoured once.
        var hasWaited = false
    }

    /// Calls out. `routes`: the proxies of the account; `flow`: taken for the first attempt.
    init(
        dialling order: DialOrder, for account: Account, routes: [NameAddress], flow: Flow?,
        capabilities: UserAgentCapabilities, at now: Instant, _ out: inout [Output]
    ) {
        var random = capabilities.random
        let target = account.requestTarget(order.uri)
        let callID = random.token(bits: 100)
        let tag = random.token(bits: 100)
        self.init(
            key: order.call, account: account, capabilities: capabilities, callID: callID, localTag: tag,
            phase: .inviting,
            status: CallStatus(
                call: order.call, direction: .outgoing, state: .dialing, account: account.name,
                remote: order.uri.addressOfRecord, remoteName: "", since: now, sipCallID: callID))
        let displayName = account.displayName.isEmpty ? nil : account.displayName
        outgoing = OutgoingInvite(
            from: NameAddress(account.uri.addressOfRecord, displayName: displayName, parameters: ["tag": tag]),
            to: NameAddress(target.addressOfRecord),
            headers: account.headers.map { ($0.name, $0.value) } + order.headers, routes: routes,
            target: target, tried: [target], cseq: 0)
        invite(flow: flow, at: now, &out)
        tell(&out)
    }

    /// Sends the INVITE to its present target.
    mutating func invite(flow: Flow? = nil, at now: Instant, _ out: inout [Output]) {
        guard var outgoing else { return }
        outgoing.cseq = nextSequence(after: outgoing.cseq)
        outgoing.legs = [:]
        outgoing.request = nil
        become(.dialing, at: now)
        let path = RequestPath(to: outgoing.target, routes: outgoing.routes, flow: flow)
        outgoing.number = open(.invite, path, &out)
        self.outgoing = outgoing
    }

    mutating func submitInvite(
        _ number: Int, _ flow: Flow, _ occasion: RequestOccasion, at now: Instant, _ out: inout [Output]
    ) {
        guard phase == .inviting, var outgoing, outgoing.number == number else { return }
        guard let local = localMedia(on: flow), let offer = offer(local) else {
            errands[number] = nil
            out.append(.abandon(number))
            return end(503, "no RTP port is free", .failed, at: now, &out)
        }
        if occasion == .authorized {
            outgoing.cseq = nextSequence(after: outgoing.cseq)
            outgoing.legs = [:]
        }
        var request = Request(
            .invite, outgoing.target, from: outgoing.from, to: outgoing.to, callID: callID, cseq: outgoing.cseq)
        for route in outgoing.routes { request.headers.append(.route, route.description) }
        request.headers.append(.contact, NameAddress(account.contact(on: flow, for: outgoing.target)).description)
        request.headers.appendAllow()
        request.headers.append(.accept, "application/sdp")
        for header in outgoing.headers { request.headers.append(HeaderName(header.name), header.value) }
        setBody(offer, of: &request)
        outgoing.request = request
        self.outgoing = outgoing
        out.append(.submit(number, request))
    }

    /// Our offer: made once, and again if our address changed meanwhile.
    private mutating func offer(_ local: LocalMedia) -> [UInt8]? {
        var negotiation = negotiation ?? OfferAnswer(local: local, randomness: &random)
        if negotiation.state == .offered, negotiation.local == local { return negotiation.localDescription }
        negotiation.withdrawOffer()
        negotiation.local = local
        let offer = try? negotiation.makeOffer()
        self.negotiation = negotiation
        return offer
    }

    // MARK: Provisional responses

    mutating func provisional(_ number: Int, _ response: Response, at now: Instant, _ out: inout [Output]) {
        guard phase == .inviting, response.status > 100, outgoing?.number == number,
            let request = outgoing?.request, let tag = response.to.tag
        else { return }
        var leg = outgoing?.legs[tag]
        if leg == nil, outgoing?.legs.count ?? 0 < Self.legLimit {
            leg = Dialog(request: request, response: response).map { OutgoingInvite.Leg(dialog: $0) }
        }
        guard var leg else { return }
        leg.dialog.refreshTarget(from: response)
        if let description = response.sessionDescription, var preview = negotiation {
            do {
                try preview.apply(answer: description)
                leg.preview = preview
            } catch {
                out.append(.note(.info, "early media is not played: \(error)"))
            }
        }
        outgoing?.legs[tag] = leg
        // Early media when there is some, else our own ringback; never both (D10).
        if let plan = leg.preview?.plan {
            show(plan, &out)
            become(.early, at: now)
        } else if response.status == 180, status.state == .dialing {
            become(.ringing, at: now)
        }
    }

    // MARK: Final responses

    /// The first 2xx wins (D5); one that comes after our CANCEL gets ACK and BYE (D6).
    mutating func inviteAnswered(
        _ number: Int, _ response: Response, to sent: Request, at now: Instant, _ out: inout [Output]
    ) {
        errands[number] = nil
        let leg = response.to.tag.flatMap { outgoing?.legs[$0] }
        outgoing = nil
        guard var dialog = leg?.dialog ?? Dialog(request: sent, response: response) else { return }
        dialog.confirm(with: response)
        dialog.advance(to: sent.cseq.number)
        self.dialog = dialog
        acknowledge(number, in: dialog, to: sent, at: now, &out)
        guard phase == .inviting else {
            out.append(.note(.info, "answered while being cancelled: BYE"))
            return sayBye(nil, &out)
        }
        do {
            if let description = response.sessionDescription {
                try negotiation?.apply(answer: description)
            } else if let preview = leg?.preview {
                negotiation = preview
            } else {
                throw NegotiationError.notAcceptable("there is none in the answer")
            }
        } catch {
            out.append(.note(.warning, "\(error)"))
            sayBye(Reason(cause: 488, text: "no usable session description").description, &out)
            return end(488, "\(error)", .failed, at: now, &out)
        }
        establish(at: now)
        showNegotiated(at: now, &out)
    }

    mutating func inviteRefused(_ number: Int, _ response: Response, at now: Instant, _ out: inout [Output]) {
        errands[number] = nil
        guard phase == .inviting, var outgoing, outgoing.number == number else { return }
        outgoing.number = nil
        outgoing.legs = [:]
        if 300..<400 ~= response.status { outgoing.redirect(to: response.contacts, for: account) }
        let wait = response.retryAfter.map { Duration.seconds(Int64($0)) }
        if [500, 503, 504].contains(response.status), let wait, wait <= TransactionTimers.timeout,
            !outgoing.hasWaited, outgoing.further.isEmpty
        {
            outgoing.hasWaited = true
            retryAt = now + wait
            self.outgoing = outgoing
            show(nil, &out)
            return become(.dialing, at: now)
        }
        self.outgoing = outgoing
        if response.status < 600, inviteNext(at: now, &out) { return }
        let cause = 300..<400 ~= response.status ? CallCause.unreachable : CallCause(status: response.status)
        end(response.status, response.reason, cause, at: now, &out)
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
        guard var outgoing, !outgoing.further.isEmpty else { return false }
        outgoing.target = outgoing.further.removeFirst()
        outgoing.tried.append(outgoing.target)
        self.outgoing = outgoing
        out.append(.note(.info, "redirected to \(outgoing.target)"))
        show(nil, &out)
        invite(at: now, &out)
        return true
    }
}

extension Call.OutgoingInvite {
    /// Contacts of a 3xx, best first (D9).
    mutating func redirect(to contacts: [NameAddress], for account: Account) {
        let ordered = contacts.enumerated().sorted {
            ($1.element.preference, $0.offset) < ($0.element.preference, $1.offset)
        }
        for contact in ordered.map(\.element.uri) {
            guard tried.count + further.count < Call.targetLimit else { return }
            guard contact.isSIP || contact.scheme == .tel, target.scheme != .sips || contact.scheme == .sips else {
                continue
            }
            let next = account.requestTarget(contact)
            if !tried.contains(next), !further.contains(next) { further.append(next) }
        }
    }
}

extension Account {
    /// A URI as Request-URI: a telephone number is asked of our own domain; what belongs to no Request-URI goes.
    func requestTarget(_ uri: SIPURI) -> SIPURI {
        var target = uri
        if uri.scheme == .tel, let host = self.uri.host {
            target = SIPURI(
                scheme: self.uri.scheme, user: uri.numberDigits, host: host, port: self.uri.port,
                parameters: ["user": "phone"])
        }
        target.headers = []
        target.parameters.remove("method")
        return target
    }
}
