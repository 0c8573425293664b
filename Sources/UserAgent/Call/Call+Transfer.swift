import Primitives
import SIP

/// Transfers by REFER in both directions (D14).
extension Call {
    /// How long the outcome of a transfer that we asked for is waited for.
    private static let transferLimit = Duration.seconds(180)
    /// For how long the side that asked may end the call by itself before we do.
    private static let farewell = Duration.seconds(2)
    /// The same where nobody tells how the transfer goes.
    private static let untoldLimit = Duration.seconds(5)

    /// Whether the end of this call would be that of a transfer.
    var isBeingTransferred: Bool { transfer?.isAsked == true || referral?.call != nil }

    // MARK: Ours

    /// The call is put on hold first; the REFER follows, and the call goes on if that fails.
    mutating func transfer(_ order: TransferOrder, at now: Instant, _ out: inout [Output]) {
        guard phase == .established, transfer == nil, referral == nil else {
            return tell(order, .failed, 491, "not possible now", &out)
        }
        transfer = Transfer(order: order, wasHeld: wantsHold, until: now + Self.transferLimit)
        wantsHold = true
        tell(order, .started, nil, nil, &out)
    }

    private func tell(
        _ order: TransferOrder, _ state: TransferStatus.State, _ code: Int?, _ reason: String?, _ out: inout [Output]
    ) {
        var status = TransferStatus(call: key, target: order.target, state: state, isAskedByPeer: false)
        status.other = order.other
        status.code = code
        status.reason = reason
        out.append(.transfer(status))
    }

    /// The Refer-To of a REFER that is to go out now.
    var wantedReferral: SIPURI? {
        guard let transfer, !transfer.isAsked else { return nil }
        var target = transfer.order.target
        if let replaces = transfer.order.replaces { target.addHeader("Replaces", replaces.description) }
        return target
    }

    mutating func add(_ target: SIPURI, to request: inout Request) {
        transfer?.isAsked = true
        request.headers.append(.referTo, NameAddress(target).description)
        request.headers.append(.referredBy, NameAddress(account.uri.addressOfRecord).description)
    }

    mutating func referralAccepted(_ response: Response, at now: Instant) {
        let isUntold = response.headers.first(.referSub)?.lowercased() == "false"
        if isUntold { transfer?.until = now + Self.untoldLimit }
    }

    /// NOTIFY of our REFER's outcome.
    mutating func notified(_ request: Request, _ id: ServerTransactionID, at now: Instant, _ out: inout [Output]) {
        guard transfer?.isAsked == true, request.event?.hasToken("refer") == true else {
            return respond(481, to: request, id, &out)
        }
        guard let told = request.statusFragment else { return respond(400, to: request, id, &out) }
        respond(200, to: request, id, &out)
        if told.status >= 200 {
            transferEnded(told.status, told.reason, at: now, &out)
        } else if request.subscriptionState?.hasToken("terminated") == true {
            // The peer tells no more: either it ends the call, or it has failed.
            transfer?.until = now + Self.untoldLimit
        }
    }

    /// The other side talks with somebody else, or the call goes on here.
    mutating func transferEnded(_ code: Int, _ reason: String, at now: Instant, _ out: inout [Output]) {
        guard let transfer else { return }
        if 200..<300 ~= code {
            tell(transfer.order, .done, code, reason, &out)
            sayBye(nil, &out)
            return end(200, nil, .transferred, at: now, &out)
        }
        self.transfer = nil
        wantsHold = transfer.wasHeld
        tell(transfer.order, .failed, code, reason, &out)
    }

    /// Many a phone ends the call instead of telling how the transfer went: it went.
    mutating func peerLeft(_ out: inout [Output]) {
        if let transfer, transfer.isAsked { tell(transfer.order, .done, nil, nil, &out) }
    }

    // MARK: The peer's

    mutating func referred(
        _ request: Request, _ id: ServerTransactionID, _ flow: Flow, at now: Instant, _ out: inout [Output]
    ) {
        guard phase == .established else { return retryLater(request, id, &out) }
        guard account.acceptTransfer.includes(status.remote) else {
            out.append(.note(.notice, "a transfer was refused (accept-transfer)"))
            return respond(403, to: request, id, &out)
        }
        guard referral == nil, transfer == nil else { return respond(491, to: request, id, &out) }
        let wanted: ReferredCall
        do throws(ReferredCall.Refusal) {
            wanted = try ReferredCall(request)
        } catch {
            return respond(error == .badScheme ? 416 : 400, to: request, id, &out)
        }
        let isTold = request.headers.first(.referSub)?.lowercased() != "false"
        var response = dialogResponse(202, to: request, on: flow)
        if !isTold { response.headers.append(.referSub, "false") }
        out.append(.respond(id, response))
        let referral = Referral(
            id: hasReferred ? request.cseq.number : nil, target: wanted.target, isTold: isTold)
        hasReferred = true
        self.referral = referral
        notify(100, "Trying")
        out.append(.callReferred(wanted))
    }

    private mutating func notify(_ status: Int, _ reason: String) {
        guard let referral, referral.isTold, leg?.waiting.count ?? 0 < Self.waitingLimit else { return }
        leg?.waiting.append(.notify(Referral.Progress(status: status, reason: reason, id: referral.id)))
    }

    func add(_ progress: Referral.Progress, to request: inout Request) {
        request.headers.append(.event, "refer" + (progress.id.map { ";id=\($0)" } ?? ""))
        request.headers.append(
            .subscriptionState, progress.isFinal ? "terminated;reason=noresource" : "active;expires=180")
        request.headers.append(.contentType, "message/sipfrag;version=2.0")
        request.body = Array("SIP/2.0 \(progress.status) \(progress.reason)\r\n".utf8)
    }

    /// The call that the peer asked for was begun, goes on, or is over.
    mutating func referral(_ call: CallStatus, at now: Instant, _ out: inout [Output]) {
        guard var referral, referral.endsAt == nil else { return }
        referral.call = call.call
        self.referral = referral
        switch call.state {
        case .talking, .held, .heldByPeer:
            notify(200, "OK")
            // As long as the peer hears of it, it comes first.
            self.referral?.endsAt = now + (referral.isTold ? Self.untoldLimit : Self.farewell)
        case .ended:
            notify(call.code.flatMap { $0 >= 300 ? $0 : nil } ?? 487, call.reason ?? reasonPhrase(487))
            self.referral = nil
        case .dialing, .ringing, .early, .incoming: break
        }
    }

    /// A NOTIFY is answered.
    mutating func told(_ progress: Referral.Progress, at now: Instant) {
        if progress.isFinal, referral?.endsAt != nil { referral?.endsAt = now + Self.farewell }
    }

    mutating func transferDeadlineReached(at now: Instant, _ out: inout [Output]) {
        if let until = transfer?.until, now >= until { transferEnded(408, "no outcome was told", at: now, &out) }
        if let endsAt = referral?.endsAt, now >= endsAt {
            sayBye(nil, &out)
            end(200, nil, .transferred, at: now, &out)
        }
    }
}
