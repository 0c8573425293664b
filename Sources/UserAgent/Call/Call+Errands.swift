import Primitives
import SDP
import SIP

/// Requests of ours: opened, composed when their flow is there, and what comes of them.
extension Call {
    /// Opens a request.
    @discardableResult
    mutating func open(_ purpose: Errand.Purpose, in tag: String?, _ path: RequestPath, _ out: inout [Output]) -> Int {
        lastErrand += 1
        errands[lastErrand] = Errand(purpose: purpose, tag: tag)
        out.append(.open(lastErrand, path))
        return lastErrand
    }

    /// Opens a request in a dialog.
    @discardableResult
    mutating func open(_ purpose: Errand.Purpose, in leg: Leg, _ out: inout [Output]) -> Int {
        open(purpose, in: leg.dialog.id.remoteTag, RequestPath(to: leg.dialog.nextHop), &out)
    }

    // MARK: One after the other

    /// Sends what is to be said next in each dialog: one request at a time, for on the way they would overtake each
    /// other, and the peer refuses the one that comes late (D4).
    mutating func proceed(_ out: inout [Output]) {
        for tag in legs.keys.sorted() {
            guard let leg = legs[tag], leg.current == nil, leg.pausedUntil == nil, let purpose = next(in: tag) else {
                continue
            }
            let number = open(purpose, in: leg, &out)
            legs[tag]?.current = number
        }
    }

    private mutating func next(in tag: String) -> Errand.Purpose? {
        guard let leg = legs[tag] else { return nil }
        switch phase {
        case .inviting, .incoming:
            if !leg.waiting.isEmpty { return legs[tag]?.waiting.removeFirst() }
            return earlyChange(in: leg).map { .change($0) }
        case .established:
            guard tag == self.tag, isAcknowledged else { return nil }
            if let change = wantedChange { return .change(change) }
            if let target = wantedReferral { return .refer(target) }
            return leg.waiting.isEmpty ? nil : legs[tag]?.waiting.removeFirst()
        case .leaving, .finished: return nil
        }
    }

    // MARK: Composed

    mutating func ready(
        _ number: Int, _ flow: Flow, _ occasion: RequestOccasion, at now: Instant, _ out: inout [Output]
    ) {
        saw(flow)
        guard let errand = errands[number] else { return out.append(.abandon(number)) }
        switch errand.purpose {
        case .invite: submitInvite(number, flow, occasion, at: now, &out)
        case .acknowledge(let request):
            errands[number] = nil
            out.append(.submit(number, request))
        default:
            guard let request = compose(errand, number, flow, occasion, at: now, &out) else {
                return abandon(number, &out)
            }
            errands[number]?.request = request
            out.append(.submit(number, request))
        }
    }

    mutating func abandon(_ number: Int, _ out: inout [Output]) {
        guard let errand = errands.removeValue(forKey: number) else { return }
        release(number, of: errand)
        out.append(.abandon(number))
    }

    private mutating func release(_ number: Int, of errand: Errand) {
        guard let tag = errand.tag, legs[tag]?.current == number else { return }
        legs[tag]?.current = nil
    }

    /// The request in its dialog; nil if nobody wants it any more. For another server it keeps its number (T11), with
    /// credentials it takes the next one (A2, D4).
    private mutating func compose(
        _ errand: Errand, _ number: Int, _ flow: Flow, _ occasion: RequestOccasion, at now: Instant,
        _ out: inout [Output]
    ) -> Request? {
        let isBye = if case .bye = errand.purpose { true } else { false }
        guard !isOver || isBye, let tag = errand.tag, var dialog = legs[tag]?.dialog else { return nil }
        var request = dialog.request(errand.purpose.method)
        if let earlier = errand.request, occasion == .again { request.cseq = earlier.cseq }
        if errand.purpose.saysWhoWeAre {
            let contact = account.contact(on: flow, for: dialog.remoteTarget)
            request.headers.append(.contact, NameAddress(contact).description)
            request.headers.appendAllow()
            request.headers.appendSupported()
        }
        switch errand.purpose {
        case .invite, .acknowledge: return nil
        case .bye(let reason): if let reason { request.headers.append(.reason, reason) }
        case .prack(let rack): request.headers.append(.rack, rack.description)
        case .change(let change):
            guard add(change, to: &request, number, in: tag, flow, at: now, &out) else { return nil }
        case .digit(let digit):
            request.headers.append(.contentType, "application/dtmf-relay")
            request.body = Array("Signal=".utf8) + [digit] + Array("\r\nDuration=160\r\n".utf8)
        case .refer(let target): add(target, to: &request)
        case .notify(let progress): add(progress, to: &request)
        }
        if request.cseq.number == dialog.localSequence { legs[tag]?.dialog = dialog }
        return request
    }

    // MARK: Answered

    mutating func final(
        _ number: Int, _ response: Response, to sent: Request, at now: Instant, _ out: inout [Output]
    ) {
        guard let errand = errands[number] else {
            if response.isSuccess { repeated(number, response, to: sent, &out) }
            return
        }
        switch errand.purpose {
        case .invite where response.isSuccess: inviteAnswered(number, response, to: sent, at: now, &out)
        case .invite: inviteRefused(number, response, at: now, &out)
        default:
            errands[number] = nil
            release(number, of: errand)
            guard let tag = errand.tag else { return }
            legs[tag]?.dialog.advance(to: sent.cseq.number)
            if response.isSuccess, response.cseq.method == .invite, let leg = legs[tag] {
                legs[tag]?.dialog.refreshTarget(from: response)
                acknowledge(number, in: leg.dialog, to: sent, at: now, &out)
            }
            if !isOver { answered(errand.purpose, in: tag, response, at: now, &out) }
        }
    }

    /// A request in a dialog has its final response (D7, D8).
    private mutating func answered(
        _ purpose: Errand.Purpose, in tag: String, _ response: Response, at now: Instant, _ out: inout [Output]
    ) {
        let wait = response.retryAfter.map { Duration.seconds(Int64($0)) }
        switch response.status {
        case 200..<300: succeeded(purpose, in: tag, response, at: now, &out)
        case 491:
            // Who made the Call-ID waits longer; in steps of 10 ms (RFC 3261 §14.1).
            let steps: ClosedRange<Int64> = status.direction == .outgoing ? 210...400 : 0...200
            retry(purpose, in: tag, at: now + .milliseconds(10 * Int64.random(in: steps, using: &random)))
        case 500 where wait.map { $0 <= .seconds(10) } ?? false: retry(purpose, in: tag, at: now + (wait ?? .zero))
        case 481 where purpose.standsForTheDialog && tag == self.tag:
            end(481, response.reason, .failed, at: now, &out)
        case 408 where purpose.standsForTheDialog && tag == self.tag:
            dialogLost("no answer to \(purpose.method)", at: now, &out)
        default:
            refused(purpose, in: tag, "\(response.status) \(response.reason)", response, at: now, &out)
        }
    }

    private mutating func retry(_ purpose: Errand.Purpose, in tag: String, at instant: Instant) {
        legs[tag]?.pausedUntil = instant
        if case .change(let change) = purpose { return undo(change, in: tag) }  // If it is still wanted then.
        legs[tag]?.waiting.insert(purpose, at: 0)
    }

    private mutating func succeeded(
        _ purpose: Errand.Purpose, in tag: String, _ response: Response, at now: Instant, _ out: inout [Output]
    ) {
        switch purpose {
        case .change(let change): changed(change, in: tag, by: response, at: now, &out)
        case .refer: referralAccepted(response, at: now)
        case .notify(let progress): told(progress, at: now)
        case .invite, .acknowledge, .bye, .prack, .digit: break
        }
    }

    private mutating func refused(
        _ purpose: Errand.Purpose, in tag: String, _ why: String, _ response: Response?, at now: Instant,
        _ out: inout [Output]
    ) {
        switch purpose {
        case .change(let change): refused(change, in: tag, why, response, at: now, &out)
        case .refer: transferEnded(response?.status ?? 503, why, at: now, &out)
        case .notify(let progress): told(progress, at: now)
        case .digit: out.append(.note(.warning, "a digit was not sent: \(why)"))
        case .prack: out.append(.note(.info, "PRACK was refused: \(why)"))
        case .invite, .acknowledge, .bye: break
        }
    }

    mutating func failed(_ number: Int, _ failure: RequestFailure, at now: Instant, _ out: inout [Output]) {
        guard let errand = errands.removeValue(forKey: number) else { return }
        if case .invite = errand.purpose { return inviteFailed(failure, at: now, &out) }
        release(number, of: errand)
        guard !isOver, let tag = errand.tag else { return }
        if failure == .timeout, tag == self.tag, errand.purpose.standsForTheDialog {
            return dialogLost("no answer to \(errand.purpose.method)", at: now, &out)
        }
        refused(errand.purpose, in: tag, failure.text, nil, at: now, &out)
    }

    /// The peer does not answer in the dialog any more: BYE, and the end (D7).
    mutating func dialogLost(_ why: String, at now: Instant, _ out: inout [Output]) {
        guard phase == .established else { return }
        sayBye(Reason(cause: 408, text: why).description, &out)
        end(408, why, .unreachable, at: now, &out)
    }
}

extension Call.Errand.Purpose {
    /// Whether the request has our Contact: it refreshes the target, or begins a subscription.
    fileprivate var saysWhoWeAre: Bool {
        switch self {
        case .change, .refer, .notify: true
        case .invite, .acknowledge, .bye, .prack, .digit: false
        }
    }

    /// Whether the dialog is gone where the peer does not know this request or does not answer it (D7). A PRACK and a
    /// NOTIFY can be unknown alone, and a change of address has tries of its own (R8).
    fileprivate var standsForTheDialog: Bool {
        switch self {
        case .digit, .refer: true
        case .change(let change): !change.moves
        case .invite, .acknowledge, .bye, .prack, .notify: false
        }
    }
}
