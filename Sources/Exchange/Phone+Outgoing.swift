import Primitives
import SDP
import SIP

/// Calls that the phone makes.
extension Phone {
    mutating func dial(_ uri: SIPURI, _ headers: Headers, at now: Instant) {
        guard call == nil else { return }
        var negotiation = freshNegotiation()
        guard let offer = try? negotiation.makeOffer() else { return }
        var from = NameAddress(self.uri, displayName: settings.displayName.isEmpty ? nil : settings.displayName)
        from.tag = random.token(bits: 96)
        var invite = Request(
            .invite, uri, from: from, to: NameAddress(uri), callID: random.token(bits: 96), cseq: 1,
            headers: [
                .maxForwards: "70", .contact: NameAddress(contact).description, .allow: Self.allowed,
                .contentType: "application/sdp",
            ], body: offer)
        for field in headers.fields { invite.headers.append(field.name, field.value) }
        authenticator.authorize(&invite, &random)
        let branch = send(Errand(purpose: .call, request: invite), at: now)
        call = PhoneCall(
            stage: .dialing, invite: errands[branch]?.request ?? invite, negotiation: negotiation, branch: branch)
    }

    mutating func hangUp(at now: Instant) {
        guard let call else { return }
        switch call.stage {
        case .dialing:
            self.call?.stage = .cancelling
            if let branch = call.branch { layer.cancel(branch, at: now, &steps) }
        case .cancelling: break
        case .ringing: reject(603, at: now)
        case .talking:
            sendBye(at: now)
            end(status: nil, byPeer: false)
        }
    }

    mutating func sendBye(at now: Instant) {
        guard var bye = call?.dialog?.request(.bye) else { return }
        authenticator.authorize(&bye, &random)
        send(Errand(purpose: .bye, request: bye), at: now)
    }

    mutating func callAnswered(_ invite: Request, _ branch: ClientTransactionID, _ response: Response, at now: Instant)
    {
        guard let call, call.branch == branch else {
            if response.isSuccess { refuseAnswer(response, to: invite, at: now) }
            return
        }
        switch response.status {
        case 100: break
        case 101..<200: if call.stage == .dialing, response.status != 183 { tell(.ringback) }
        case 200..<300 where call.stage == .cancelling:
            refuseAnswer(response, to: invite, at: now)
            end(status: nil, byPeer: false)
        case 200..<300: accept(response, to: invite, at: now)
        default: end(status: response.status, byPeer: call.stage != .cancelling)
        }
    }

    private mutating func accept(_ response: Response, to invite: Request, at now: Instant) {
        guard let dialog = Dialog(request: invite, response: response) else { return }
        if let own = call?.dialog {
            // A repeat gets its ACK again; another phone's answer to the same call gets an end (D5).
            guard own.id == dialog.id else { return refuseAnswer(response, to: invite, at: now) }
            if let ack = call?.acknowledgement { layer.sendStateless(ack, on: flow(for: ack), &steps) }
            return
        }
        let ack = acknowledge(dialog, invite)
        call?.dialog = dialog
        call?.acknowledgement = ack
        call?.stage = .talking
        guard (try? call?.negotiation.apply(answer: response.body)) != nil, startMedia(at: now) else {
            sendBye(at: now)
            return end(status: 488, byPeer: false)
        }
    }

    /// Sends the ACK of a 2xx.
    @discardableResult
    private mutating func acknowledge(_ dialog: Dialog, _ invite: Request) -> Request {
        var ack = dialog.acknowledgement(cseq: invite.cseq.number)
        for credentials in invite.headers.all(.proxyAuthorization) {
            ack.headers.append(.proxyAuthorization, credentials)
        }
        let flow = flow(for: ack)
        ack.vias = [Via(leavingBy: flow, random: &random)]
        layer.sendStateless(ack, on: flow, &steps)
        return ack
    }

    /// Ends a call that was answered though nobody wants it any more: ACK, then BYE (D5).
    ///
    /// - Parameter invite: As it was sent; nil if that is forgotten.
    mutating func refuseAnswer(_ response: Response, to invite: Request?, at now: Instant) {
        guard response.isSuccess, response.cseq.method == .invite else { return }
        let invite =
            invite
            ?? Request(
                .invite, response.to.uri, from: response.from, to: response.to, callID: response.callID,
                cseq: response.cseq.number)
        guard var dialog = Dialog(request: invite, response: response) else { return }
        acknowledge(dialog, invite)
        send(Errand(purpose: .bye, request: dialog.request(.bye)), at: now)
    }

    // MARK: Media

    func freshNegotiation() -> OfferAnswer {
        var random = random
        return OfferAnswer(
            local: LocalMedia(
                codecs: settings.codecs.filter { $0 == .pcma || $0 == .pcmu }, address: settings.media.address,
                port: settings.media.port, rtcpMux: true),
            randomness: &random)
    }

    /// Begins to speak and listen by what is agreed, or changes over to it; false if nothing is.
    mutating func startMedia(at now: Instant) -> Bool {
        guard let plan = call?.negotiation.plan else { return false }
        if media == nil {
            media = PhoneMedia(
                plan: plan, tone: settings.tone, amplitude: settings.amplitude, listensFor: settings.listensFor,
                random: &random, at: now)
            tell(.answered(plan.codec))
        } else {
            media?.follow(plan)
        }
        return true
    }
}
