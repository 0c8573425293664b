internal import API
internal import EventLoop
internal import Intercom
internal import Primitives
internal import UserAgent

/// What the door logic says, carried out; and what becomes of calls.
extension Appliance {
    func perform(_ output: IntercomOutput) {
        switch output {
        case .light(let name, let lit): panel?.light(name, lit)
        case .relay(let door, let role, let on): panel?.relay(door, role, on)
        case .dial(let order):
            callRecords[order.call] = CallRecord(account: order.account)
            take(.agent(.dial(order)))
        case .ring(let call): take(.agent(.ring(call)))
        case .answer(let call, let byItself):
            callRecords[call]?.answersByItself = byItself
            take(.agent(.answer(call)))
        case .reject(let call, let code): take(.agent(.reject(call, code: code)))
        case .redirect(let call, let uri): take(.agent(.redirect(call, to: uri)))
        case .register(let account, let on):
            take(.agent(on ? .register(account: account) : .unregister(account: account)))
        case .hangUp(let call, let reason): take(.agent(.hangUp(call, reason)))
        case .hold(let call): take(.agent(.hold(call)))
        case .resume(let call): take(.agent(.resume(call)))
        case .transfer(let call, let target): take(.agent(.transfer(call, target)))
        case .mute(let call, let muted): setMuted(call, muted)
        case .startRinging(let account): startRinging(account)
        case .stopRinging: stopRinging()
        case .tone(let tone): play(tone)
        case .volume(let step): setVolume(.speaker, .step(step))
        case .fault(let what, let message?): raise(what, message)
        case .fault(let what, nil): clear(what)
        case .keep(let lockOut): keep(lockOut)
        case .keepUses(let uses): save(.codeUses, CodeUsesDocument.write(uses))
        case .event(let event): happened(event)
        case .note(let note):
            let level: LogLevel =
                switch note.level {
                case .warning: .warning
                case .notice: .notice
                case .info: .info
                }
            if let call = note.call {
                history.decided(note.text, about: call, at: loop.wallClock)
                journal.log(.door, level, "call \(call): \(note.text)", .call(call.description))
            } else {
                journal.log(.door, level, "\(note.text)")
            }
        }
    }

    private func happened(_ event: IntercomEvent) {
        switch event {
        case .button(let name, let action, let refusal):
            publish(
                "button",
                ["name": .string(name), "action": .string(action.rawValue), "refused": refusal.map { .string($0) }])
        case .light(let name, let state):
            publish("led", ["name": .string(name), "state": .string(state?.rawValue ?? "off")])
        case .door(let name, let state, let relay, let who):
            publish(
                "door",
                [
                    "name": .string(name), "state": state.map { .string($0.rawValue) }, "relay": .bool(relay),
                    "by": .string(who),
                ])
        case .digit(let call, let digit, let source):
            publish(
                "dtmf",
                [
                    "call": .string(call.description), "digit": digit.map { .string(String(UnicodeScalar($0))) },
                    "by": .string(source.rawValue),
                ])
        case .lockedOut(let time): raiseLockOut(time)
        case .codesCount: clear(Self.codesFault)
        }
    }

    func callChanged(_ status: CallStatus) {
        let before = callRecords[status.call]
        callRecords[status.call, default: CallRecord(account: status.account)].status = status
        history.changed(status, group: intercom.group(of: status.call), at: loop.wallClock)
        if before?.since == nil { callRecords[status.call]?.since = loop.wallClock }
        if let former = before?.status, former.remote != status.remote || former.remoteName != status.remoteName {
            publish(
                "call-updated",
                [
                    "id": .string(status.call.description),
                    "remote": .string(status.remote.addressOfRecord.description),
                    "remote-name": .string(status.remoteName),
                ])
        }
        if before?.status?.state != status.state || status.state == .ended {
            publish(
                "call",
                [
                    "id": .string(status.call.description), "state": .string(status.state.rawValue),
                    "direction": .string(status.direction.rawValue), "account": .string(status.account),
                    "remote": .string(status.remote.addressOfRecord.description),
                    "group": intercom.group(of: status.call).map { .string($0) },
                    "code": status.code.map { .integer($0) }, "reason": status.reason.map { .string($0) },
                    "cause": status.cause.map { .string($0) },
                ])
            var text = "\(status.direction.rawValue), \(status.remote.addressOfRecord), \(status.state.rawValue)"
            if let cause = status.cause { text += ", \(cause)" }
            if let code = status.code { text += " (\(code) \(status.reason ?? ""))" }
            journal.log(
                .sip, .notice, "call \(status.call): \(text)", .call(status.call.description),
                .account(status.account), .callID(status.sipCallID))
        }
        take(.intercom(.call(status)))
        if status.state == .ended {
            callRecords[status.call] = nil
            if callRecords.isEmpty { resetSpeaker() }
        }
    }

    func callTransferred(_ status: TransferStatus) {
        publish(
            "transfer",
            [
                "call": .string(status.call.description), "state": .string(status.state.rawValue),
                "by": .string(status.isAskedByPeer ? "peer" : "us"), "target": .string(status.target.description),
                "other": status.other.map { .string($0.description) }, "code": status.code.map { .integer($0) },
                "reason": status.reason.map { .string($0) },
            ])
        if status.isAskedByPeer, status.state == .started, let call = status.other {
            callRecords[call] = CallRecord(account: callRecords[status.call]?.account ?? "")
        }
        take(.intercom(.transfer(status)))
    }

    private static let codesFault = "door codes"

    func raiseLockOut(_ time: Duration) {
        let minutes = Int((time.inSeconds / 60).rounded(.up))
        raise(Self.codesFault, "shut off for \(minutes) min after too many wrong ones")
    }

    private func keep(_ lockOut: LockOut) {
        let document = LockOutDocument.write(lockOut.record(at: loop.now, wall: loop.wallClock))
        save(.lockOut, document)
    }
}
