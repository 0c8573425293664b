import Primitives
import SIP

/// Calls that take the place of others: by Replaces (D15) and by REFER (D14).
extension Agent {
    // MARK: Replaces

    /// The call that an INVITE takes the place of; nil: it names none.
    func replacedCall(by request: Request, for account: Account) throws(Call.Refusal) -> CallKey? {
        guard request.headers.contains(.replaces) else { return nil }
        guard let replaces = request.replaces, !request.headers.contains(.join) else {
            throw Call.Refusal(status: 400, text: "Replaces is malformed, or stands with Join")
        }
        let dialog = DialogKey(callID: replaces.callID, localTag: replaces.toTag)
        guard let key = dialogs[dialog], let call = calls[key], call.account.name == account.name,
            call.legs[replaces.fromTag] != nil
        else { throw Call.Refusal(status: 481, text: "there is no such call to replace") }
        switch call.phase {
        case .inviting: return key
        // Only the side that called may have an early dialog replaced (RFC 3891 §3).
        case .incoming: throw Call.Refusal(status: 481, text: "the call to replace still rings here")
        case .established where replaces.earlyOnly:
            throw Call.Refusal(status: 486, text: "the call to replace is answered already")
        case .established: return key
        case .leaving, .finished: throw Call.Refusal(status: 603, text: "the call to replace is over")
        }
    }

    /// The new call is answered at once, and the one before it ends.
    mutating func replace(_ former: CallKey, by key: CallKey, at now: Instant) {
        wire.note(.notice, account: calls[key]?.account.name, call: key, "takes the place of call \(former)")
        tell(key, .answer, at: now)
        tell(former, .hangUp(calls[former]?.phase == .inviting ? .answeredElsewhere : .transferred), at: now)
    }

    // MARK: REFER

    mutating func transfer(_ key: CallKey, to target: TransferTarget, at now: Instant) {
        switch target {
        case .uri(let uri): tell(key, .transfer(TransferOrder(target: uri)), at: now)
        case .call(let other):
            guard other != key, let dialog = calls[other]?.dialog, calls[other]?.phase == .established else {
                var status = TransferStatus(
                    call: key, target: calls[other]?.status.remote ?? SIPURI(telephone: ""), state: .failed,
                    isAskedByPeer: false)
                status.other = other
                status.reason = "no such call is answered"
                return wire.out.append(.event(.transfer(status)))
            }
            tell(key, .transfer(TransferOrder(to: dialog, of: other)), at: now)
        }
    }

    /// The peer of a call has us call somebody else.
    mutating func dial(_ wanted: ReferredCall, for referrer: CallKey, at now: Instant) {
        guard let account = calls[referrer]?.account else { return }
        let key = capabilities.numbering.next()
        var order = DialOrder(call: key, uri: wanted.target, account: account.name)
        order.replaces = wanted.replaces
        order.referredBy = wanted.referredBy
        var status = TransferStatus(call: referrer, target: wanted.target, state: .started, isAskedByPeer: true)
        status.other = key
        wire.out.append(.event(.transfer(status)))
        referrals[key] = referrer
        dial(order, at: now)
    }

    /// A call went on; if a REFER asked for it, that call's peer hears of it, and the owner.
    mutating func referralChanged(_ call: CallStatus, at now: Instant) {
        guard let referrer = referrals[call.call] else { return }
        tell(referrer, .referral(call), at: now)
        let isOver = call.state == .ended
        guard isOver || call.answeredAt != nil else { return }
        referrals[call.call] = nil
        var status = TransferStatus(
            call: referrer, target: call.remote, state: isOver ? .failed : .done, isAskedByPeer: true)
        status.other = call.call
        status.code = call.code
        status.reason = call.reason
        wire.out.append(.event(.transfer(status)))
    }
}

/// With whom a peer is brought together.
struct TransferOrder {
    var target: SIPURI
    /// The dialog at the target that its call takes the place of: attended.
    var replaces: Replaces?
    /// Ours to it.
    var other: CallKey?

    init(target: SIPURI) { self.target = target }

    /// To the peer of another call of ours: at its address of record, unless its Contact can be reached from anywhere,
    /// or nobody knows who it is (RFC 5589 §7.3).
    init(to dialog: Dialog, of call: CallKey) {
        let isGlobal = dialog.remoteTarget.parameters.contains("gr")
        let isAnonymous = dialog.remote.uri.host?.text.lowercased().hasSuffix(".invalid") ?? false
        target = isGlobal || isAnonymous ? dialog.remoteTarget : dialog.remote.uri
        target.headers = []
        replaces = Replaces(callID: dialog.id.callID, toTag: dialog.id.remoteTag, fromTag: dialog.id.localTag)
        other = call
    }
}
