internal import Configuration
internal import Primitives
internal import SIP
internal import UserAgent

/// One call takes the place of another: by our transfer, by the other side's, or by a call that replaces one.
extension Intercom {
    /// Asks for a transfer of the call named, else of the one that can be transferred.
    func transfer(
        _ call: CallKey?, to text: String, _ out: inout [IntercomOutput]
    ) throws(IntercomRefusal) {
        let call = try find(call, "transfer") { $0.isAnswered }
        out.append(.transfer(call, try transferTarget(text, of: call)))
    }

    private func transferTarget(_ text: String, of call: CallKey) throws(IntercomRefusal) -> UserAgent.TransferTarget {
        if let contact = configuration.contact(named: text), let uri = try? SIPURI(contact.uri) { return .uri(uri) }
        if configuration.group(named: text) != nil { throw .impossible("\(text) is a group: a call goes to one place") }
        if let other = CallKey(text) {
            guard let leg = calls[other] else { throw .unknown("no call \(other)") }
            guard other != call else { throw .impossible("call \(call) cannot be transferred to itself") }
            guard leg.isAnswered, !leg.isEnding else { throw .impossible("call \(other) is \(leg.state.rawValue)") }
            return .call(other)
        }
        guard let text = DialTarget.uri(text), let uri = try? SIPURI(text) else {
            throw .unknown("no contact or call named \(text)")
        }
        return .uri(uri)
    }

    /// A transfer began or ended. By the other side's wish the user agent calls somebody: that call is of the door from
    /// now on, and takes the place of the one before it when it is answered.
    mutating func transferred(_ status: TransferStatus, at now: Instant, _ out: inout [IntercomOutput]) {
        calls[status.call]?.entry.clear()
        let who = status.isAskedByPeer ? "the other side's" : "our"
        let code = status.code.map { " (\($0) \(status.reason ?? ""))" } ?? ""
        note(.notice, status.call, "\(who) transfer to \(status.target): \(status.state.rawValue)\(code)", &out)
        guard status.isAskedByPeer, status.state == .started, let key = status.other, let former = calls[status.call]
        else { return }
        var leg = Leg(
            call: key, direction: .outgoing, account: former.account, remote: status.target, state: .dialing,
            since: now,
            group: former.group)
        leg.talksUntil = former.talksUntil
        leg.isMuted = former.isMuted
        leg.succeeds = former.call
        calls[key] = leg
    }

    /// The dial that the former call is part of goes on with this one.
    mutating func succeed(_ former: CallKey, by call: CallKey) {
        guard let before = calls[former] else { return }
        calls[call]?.succeeds = nil
        calls[call]?.group = before.group
        calls[call]?.attempt = before.attempt
        calls[call]?.talksUntil = before.talksUntil
        calls[former]?.attempt = nil
        calls[former]?.isEnding = true
        guard let attempt = before.attempt else { return }
        attempts[attempt]?.legs.removeAll { $0 == former }
        attempts[attempt]?.legs.append(call)
        if attempts[attempt]?.winner == former { attempts[attempt]?.winner = call }
    }
}
