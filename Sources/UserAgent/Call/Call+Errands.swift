import Primitives
import SIP

extension Call {
    /// What a request of ours is for.
    enum Errand {
        case invite
        case reinvite
        /// Composed already; nothing comes back.
        case acknowledge(Request)
        case bye(Request)
        /// A digit; composed when its flow is there, so that numbers rise in the order of sending.
        case info(digit: UInt8, Request?)
    }

    /// An INVITE of ours that got a 2xx.
    struct AnsweredInvite {
        var acknowledgement: Request
        /// Tags of further legs that answered and got their BYE.
        var refusedTags: Set<String> = []
        /// Until when repeats may come.
        var until: Instant
    }

    /// How long a 2xx may be repeated: longer than its sender does.
    private static let repeatLimit = Duration.seconds(40)

    mutating func ready(
        _ number: Int, _ flow: Flow, _ occasion: RequestOccasion, at now: Instant, _ out: inout [Output]
    ) {
        saw(flow)
        switch errands[number] {
        case .invite: submitInvite(number, flow, occasion, at: now, &out)
        case .reinvite: submitReinvite(number, flow, occasion, at: now, &out)
        case .acknowledge(let request):
            errands[number] = nil
            out.append(.submit(number, request))
        case .bye(let request):
            let next = numbered(request, occasion)
            errands[number] = .bye(next)
            out.append(.submit(number, next))
        case .info(let digit, let request):
            guard phase == .established, let next = request.map({ numbered($0, occasion) }) ?? composeInfo(digit) else {
                errands[number] = nil
                return out.append(.abandon(number))
            }
            errands[number] = .info(digit: digit, next)
            out.append(.submit(number, next))
        case nil: out.append(.abandon(number))
        }
    }

    /// With credentials a request takes the next number (A2, D4).
    private mutating func numbered(_ request: Request, _ occasion: RequestOccasion) -> Request {
        guard occasion == .authorized else { return request }
        var request = request
        request.cseq.number = nextSequence(after: request.cseq.number)
        if request.to.tag == dialog?.id.remoteTag { dialog?.advance(to: request.cseq.number) }
        return request
    }

    func nextSequence(after number: UInt32) -> UInt32 { number < 0x7FFF_FFFF ? number + 1 : 1 }

    mutating func final(
        _ number: Int, _ response: Response, to sent: Request, at now: Instant, _ out: inout [Output]
    ) {
        switch errands[number] {
        case .invite where response.isSuccess: inviteAnswered(number, response, to: sent, at: now, &out)
        case .invite: inviteRefused(number, response, at: now, &out)
        case .reinvite: reinviteAnswered(number, response, to: sent, at: now, &out)
        case .info:
            errands[number] = nil
            digitSent(response, at: now, &out)
        case .bye, .acknowledge: errands[number] = nil
        case nil: if response.isSuccess { repeated(number, response, to: sent, &out) }
        }
    }

    mutating func failed(_ number: Int, _ failure: RequestFailure, at now: Instant, _ out: inout [Output]) {
        switch errands.removeValue(forKey: number) {
        case .invite: inviteFailed(failure, at: now, &out)
        case .reinvite: reinviteFailed(failure, at: now, &out)
        case .info: digitFailed(failure, at: now, &out)
        case .bye, .acknowledge, nil: break
        }
    }

    // MARK: ACK and BYE

    /// Acknowledges the 2xx of an INVITE of ours, and each repeat of it to come (T4).
    mutating func acknowledge(
        _ number: Int, in dialog: Dialog, to sent: Request, at now: Instant, _ out: inout [Output]
    ) {
        let request = acknowledgement(in: dialog, to: sent)
        answered = answered.filter { $0.value.until > now }
        answered[number] = AnsweredInvite(acknowledgement: request, until: now + Self.repeatLimit)
        open(.acknowledge(request), RequestPath(to: dialog.nextHop), &out)
    }

    /// With the credentials of the INVITE (RFC 3261 §22.1).
    private func acknowledgement(in dialog: Dialog, to sent: Request) -> Request {
        var request = dialog.acknowledgement(cseq: sent.cseq.number)
        for name in [HeaderName.authorization, .proxyAuthorization] {
            for value in sent.headers.all(name) { request.headers.append(name, value) }
        }
        return request
    }

    /// A 2xx came again: ACK. Or another leg of a forked INVITE answered too: ACK and BYE (D5).
    private mutating func repeated(_ number: Int, _ response: Response, to sent: Request, _ out: inout [Output]) {
        guard let first = answered[number], errands.count < Self.errandLimit else { return }
        if response.to.tag == first.acknowledgement.to.tag {
            if let dialog { open(.acknowledge(first.acknowledgement), RequestPath(to: dialog.nextHop), &out) }
            return
        }
        guard var other = Dialog(request: sent, response: response) else { return }
        open(.acknowledge(acknowledgement(in: other, to: sent)), RequestPath(to: other.nextHop), &out)
        guard first.refusedTags.count < Self.legLimit,
            answered[number]?.refusedTags.insert(other.id.remoteTag).inserted == true
        else { return }
        out.append(.note(.info, "another leg answered too: it gets BYE"))
        open(.bye(other.request(.bye)), RequestPath(to: other.nextHop), &out)
    }

    /// A 2xx to a re-INVITE that was given up: the peer must hear of it, or it ends the call.
    mutating func acknowledge(stray response: Response, _ out: inout [Output]) {
        guard let dialog, response.to.tag == dialog.id.remoteTag, errands.count < Self.errandLimit else { return }
        open(
            .acknowledge(dialog.acknowledgement(cseq: response.cseq.number)), RequestPath(to: dialog.nextHop), &out)
    }

    /// Says BYE in the dialog, as soon as that may be (D7). `reason`: the value of a Reason header.
    mutating func sayBye(_ reason: String?, _ out: inout [Output]) {
        guard isAcknowledged else {
            lateBye = .some(reason)
            return
        }
        guard var dialog else { return }
        var request = dialog.request(.bye)
        if let reason { request.headers.append(.reason, reason) }
        self.dialog = dialog
        open(.bye(request), RequestPath(to: dialog.nextHop), &out)
    }

    // MARK: Digits

    mutating func sendDigit(_ digit: UInt8) {
        guard phase == .established, digits.count < Self.digitLimit else { return }
        digits.append(digit)
    }

    /// One INFO at a time, and none beside a re-INVITE: on the way they would overtake each other, and the peer
    /// refuses the one that comes late (D4).
    mutating func sendNextDigit(_ out: inout [Output]) {
        guard !isSendingDigit, reinvite == nil, isAcknowledged, let dialog, !digits.isEmpty else { return }
        isSendingDigit = true
        open(.info(digit: digits.removeFirst(), nil), RequestPath(to: dialog.nextHop), &out)
    }

    private mutating func composeInfo(_ digit: UInt8) -> Request? {
        guard var request = dialog?.request(.info) else { return nil }
        request.headers.append(.contentType, "application/dtmf-relay")
        request.body = Array("Signal=".utf8) + [digit] + Array("\r\nDuration=160\r\n".utf8)
        return request
    }

    private mutating func digitSent(_ response: Response, at now: Instant, _ out: inout [Output]) {
        isSendingDigit = false
        guard phase == .established else { return }
        switch response.status {
        case 481: end(481, nil, .failed, at: now, &out)
        case 408: dialogLost("no answer to INFO", at: now, &out)
        case 200..<300: break
        default: out.append(.note(.warning, "a digit was refused: \(response.status) \(response.reason)"))
        }
    }

    private mutating func digitFailed(_ failure: RequestFailure, at now: Instant, _ out: inout [Output]) {
        isSendingDigit = false
        guard phase == .established else { return }
        if failure == .timeout { return dialogLost("no answer to INFO", at: now, &out) }
        out.append(.note(.warning, "a digit was not sent: \(failure.text)"))
    }

    /// The peer does not answer in the dialog any more: BYE, and the end (D7).
    mutating func dialogLost(_ why: String, at now: Instant, _ out: inout [Output]) {
        guard phase == .established else { return }
        sayBye(Reason(cause: 408, text: why).description, &out)
        end(408, why, .unreachable, at: now, &out)
    }
}
