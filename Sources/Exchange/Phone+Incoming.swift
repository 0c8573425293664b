import Primitives
import SDP
import SIP

/// Requests that come to the phone.
extension Phone {
    mutating func serve(_ request: Request, _ id: ServerTransactionID, at now: Instant) {
        func answer(_ response: Response) { layer.respond(id, response, at: now, &steps) }
        guard request.uri.isSIP else { return answer(request.response(416)) }
        guard request.require.isEmpty else {
            var response = request.response(420)
            for option in request.require { response.headers.append(.unsupported, option) }
            return answer(response)
        }
        switch request.method {
        case .options:
            var response = request.response(200)
            response.headers.append(.allow, Self.allowed)
            response.headers.append(.accept, "application/sdp")
            answer(response)
        case .invite where request.to.tag == nil: ring(request, id, at: now)
        case .invite, .bye, .info: serveInCall(request, id, at: now)
        default:
            var response = request.response(request.method.isDefined ? 405 : 501)
            response.headers.append(.allow, Self.allowed)
            answer(response)
        }
    }

    // MARK: Ringing

    private mutating func ring(_ invite: Request, _ id: ServerTransactionID, at now: Instant) {
        guard call == nil else { return layer.respond(id, invite.response(486), at: now, &steps) }
        guard !invite.contacts.isEmpty else {
            return layer.respond(id, invite.response(400, reason: "Contact Is Missing"), at: now, &steps)
        }
        var call = PhoneCall(stage: .ringing, invite: invite, negotiation: freshNegotiation(), transaction: id)
        guard Self.isDescription(invite) else {
            var response = invite.response(415)
            response.headers.append(.accept, "application/sdp")
            return layer.respond(id, response, at: now, &steps)
        }
        if !invite.body.isEmpty {
            do throws(NegotiationError) {
                _ = try call.negotiation.answer(invite.body)
            } catch {
                return layer.respond(id, invite.response(error.status), at: now, &steps)
            }
            guard call.negotiation.plan != nil else {
                return layer.respond(id, invite.response(488), at: now, &steps)
            }
        }
        call.localTag = random.token(bits: 96)
        call.answerAt = settings.answersAfter.map { now + $0 }
        self.call = call
        layer.respond(id, dialogResponse(180, to: invite), at: now, &steps)
        tell(.ringing(from: invite.assertedIdentities.first?.uri ?? invite.from.uri))
    }

    private static func isDescription(_ request: Request) -> Bool {
        request.body.isEmpty || request.contentType?.name == "application/sdp"
    }

    mutating func answer(at now: Instant) {
        guard let call, call.stage == .ringing, let id = call.transaction else { return }
        self.call?.answerAt = nil
        self.call?.stage = .talking
        self.call?.dialog = Dialog(answering: call.invite, localTag: call.localTag)
        accept(call.invite, id, isOffer: !call.invite.body.isEmpty, at: now)
    }

    /// Sends the 2xx with our answer, or with our offer if none came, and repeats it until the ACK.
    private mutating func accept(_ invite: Request, _ id: ServerTransactionID, isOffer: Bool, at now: Instant) {
        if !isOffer { _ = try? call?.negotiation.makeOffer() }
        guard let description = call?.negotiation.localDescription else { return }
        var response = dialogResponse(200, to: invite)
        response.headers.append(.contentType, "application/sdp")
        response.body = description
        layer.respond(id, response, at: now, &steps)
        call?.unacknowledged = PhoneCall.Unacknowledged(response, id, awaitsAnswer: !isOffer, at: now)
        if isOffer { _ = startMedia(at: now) }
    }

    /// A response that makes a dialog: with the way and the place of further requests (RFC 3261 §12.1.1).
    private func dialogResponse(_ status: Int, to invite: Request) -> Response {
        var response = invite.response(status, toTag: call?.localTag)
        for route in invite.headers.all(.recordRoute) { response.headers.append(.recordRoute, route) }
        response.headers.append(.contact, NameAddress(contact).description)
        response.headers.append(.allow, Self.allowed)
        return response
    }

    mutating func repeatAnswer(at now: Instant) {
        guard var waiting = call?.unacknowledged else { return }
        if waiting.until <= now {
            sendBye(at: now)
            end(status: 408, byPeer: true)
        } else if waiting.repeatAt <= now {
            layer.respond(waiting.transaction, waiting.response, at: now, &steps)
            waiting.interval = min(waiting.interval * 2, TransactionTimers.t2)
            waiting.repeatAt = now + waiting.interval
            call?.unacknowledged = waiting
        }
    }

    mutating func acknowledged(by ack: Request, at now: Instant) {
        guard let waiting = call?.unacknowledged, call?.dialog?.id == Dialog.ID(of: ack),
            ack.cseq.number == waiting.response.cseq.number
        else { return }
        call?.unacknowledged = nil
        guard waiting.awaitsAnswer else { return }
        guard (try? call?.negotiation.apply(answer: ack.body)) != nil, startMedia(at: now) else {
            sendBye(at: now)
            return end(status: 488, byPeer: false)
        }
    }

    mutating func reject(_ status: Int, at now: Instant) {
        guard let call, call.stage == .ringing, let id = call.transaction else { return }
        layer.respond(id, call.invite.response(status, toTag: call.localTag), at: now, &steps)
        end(status: status, byPeer: false)
    }

    mutating func cancelled(_ id: ServerTransactionID, at now: Instant) {
        guard let call, call.stage == .ringing, call.transaction == id else { return }
        layer.respond(id, call.invite.response(487, toTag: call.localTag), at: now, &steps)
        end(status: nil, byPeer: true)
    }

    // MARK: In a call

    private mutating func serveInCall(_ request: Request, _ id: ServerTransactionID, at now: Instant) {
        func answer(_ status: Int) { layer.respond(id, request.response(status), at: now, &steps) }
        guard let dialogID = call?.dialog?.id, dialogID == Dialog.ID(of: request) else { return answer(481) }
        guard call?.dialog?.accepts(request) == true else { return answer(500) }
        switch request.method {
        case .bye:
            answer(200)
            end(status: nil, byPeer: true)
        case .info:
            guard let format = request.contentType.flatMap({ DTMFInfo.Format(contentType: $0.name) }) else {
                return answer(415)
            }
            guard let key = DTMFInfo.signal(in: request.body, format: format) else { return answer(400) }
            answer(200)
            tell(.digit(key))
        default: renegotiate(request, id, at: now)
        }
    }

    /// A hold, a resume, or a peer that moved.
    private mutating func renegotiate(_ invite: Request, _ id: ServerTransactionID, at now: Instant) {
        guard call?.unacknowledged == nil else {
            var response = invite.response(500)
            response.headers.append(.retryAfter, "\(Int.random(in: 0...10, using: &random))")
            return layer.respond(id, response, at: now, &steps)
        }
        guard Self.isDescription(invite) else {
            return layer.respond(id, invite.response(415), at: now, &steps)
        }
        if !invite.body.isEmpty {
            do throws(NegotiationError) {
                _ = try call?.negotiation.answer(invite.body)
            } catch {
                return layer.respond(id, invite.response(error.status), at: now, &steps)
            }
        }
        call?.dialog?.refreshTarget(from: invite)
        accept(invite, id, isOffer: !invite.body.isEmpty, at: now)
    }
}
