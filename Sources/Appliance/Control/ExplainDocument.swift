internal import API
internal import EventLoop
internal import Primitives
internal import SIP
internal import UserAgent

/// Why things are as they are, in plain sentences (`portero explain`, `GET /v1/explain`), and the last calls
/// (`portero history`, `GET /v1/calls`).
extension Appliance {
    /// Calls that are explained: the last ones.
    private static let explainedCalls = 3

    var explainDocument: JSON {
        .members([
            "accounts": .array(
                agent.accountStatuses.map { status in
                    .members([
                        "name": .string(status.name), "state": .string(status.state.rawValue),
                        "step": status.step.map { .string($0.rawValue) },
                        "text": .string(explanation(of: status)),
                    ])
                }),
            "calls": .array(history.entries.suffix(Self.explainedCalls).map(document)),
            "refused": .array(
                history.refused.map { refusal in
                    .members([
                        "time": .string(refusal.at.description),
                        "remote": .string(refusal.call.caller.description),
                        "source": .string(refusal.call.source.description),
                        "account": refusal.call.account.map { .string($0) },
                        "code": refusal.call.code.map { .integer($0) },
                        "text": .string(explanation(of: refusal.call)),
                    ])
                }),
            "dropped": .integer(history.dropped),
        ])
    }

    /// Every call that is remembered, the newest last.
    var historyDocument: JSON { .members(["calls": .array(history.entries.map(document))]) }

    private func document(_ entry: CallHistory.Entry) -> JSON {
        let status = entry.status
        return .members([
            "id": .string(entry.call.description), "since": .string(entry.since.description),
            "direction": status.map { .string($0.direction.rawValue) },
            "account": status.map { .string($0.account) },
            "group": entry.group.map { .string($0) },
            "remote": status.map { .string($0.remote.addressOfRecord.description) },
            "remote-name": status.flatMap { $0.remoteName.isEmpty ? nil : .string($0.remoteName) },
            "state": status.map { .string($0.state.rawValue) },
            "answered": entry.answeredAt.map { .string($0.description) },
            "ended": entry.endedAt.map { .string($0.description) },
            "duration": entry.answeredAt.flatMap { answered in
                entry.endedAt.map { .number(Double($0.milliseconds &- answered.milliseconds) / 1000) }
            },
            "code": status?.code.map { .integer($0) }, "reason": status?.reason.map { .string($0) },
            "cause": status?.cause.map { .string($0) },
            "steps": .array(entry.steps.map { .string($0) }),
            "text": .string(outcome(of: entry)),
        ])
    }

    // MARK: Sentences

    private func explanation(of status: AccountStatus) -> String {
        let now = loop.now
        let account = agentSettings.accounts.first { $0.name == status.name }
        let registrar = account?.registrar.host?.description ?? status.uri
        let place = [status.registrar?.description, status.transport.map { "over \($0.rawValue)" }]
            .compactMap { $0 }.joined(separator: " ")
        let next = status.nextAttempt.map { Int(max(.zero, $0 - now).inSeconds.rounded(.up)) }
        switch status.state {
        case .registered:
            return "registered at \(place); renewed in \(next ?? 0) s"
        case .disabled:
            if account?.waitsForSwitch == true { return "not registered: its switch (register-while) is off" }
            return account?.registers == false
                ? "not registered: register = no; it is used without"
                : "not registered: it was taken away by command; portero register \(status.name) brings it back"
        case .unregistered, .registering, .failed: break
        }
        if status.state != .failed {
            switch status.step {
            case .name: return "not registered yet: looking for the name \(registrar)"
            case .route, .connection, .certificate: return "not registered yet: connecting to \(place)"
            case .challenge, .answer: return "not registered yet: waiting for the answer of \(place)"
            case nil: return "not registered yet: it begins in \(next ?? 0) s"
            }
        }
        let reason = status.reason ?? "no reason is known"
        let answer = status.code.map { "\($0) \(reason)" } ?? reason
        let trouble =
            switch status.step {
            case .name: "name: \(registrar) was not found: \(reason)"
            case .route: "route: \(reason)"
            case .connection: "connection: \(place.isEmpty ? registrar : place): \(reason)"
            case .certificate: "certificate: that of \(registrar) was not accepted: \(reason)"
            case .challenge: "challenge: \(registrar) refused the password of \(account?.authUser ?? "") (\(answer))"
            case .answer where status.code == 408 || status.code == nil: "answer: \(reason)"
            case .answer, nil: "answer: \(registrar) said \(answer)"
            }
        return "not registered: \(trouble); tried again in \(next ?? 0) s"
    }

    private func explanation(of call: RefusedCall) -> String {
        let what = call.code.map { "refused with \($0)" } ?? "dropped without an answer"
        return "call of \(call.caller) from \(call.source) for \(call.uri) \(what): \(call.why)"
    }

    /// What became of a call.
    private func outcome(of entry: CallHistory.Entry) -> String {
        guard let status = entry.status else { return "it did not begin" }
        let answer = status.code.map { " (\($0) \(status.reason ?? ""))" } ?? ""
        let wasAnswered = entry.answeredAt != nil
        guard status.state == .ended else {
            return wasAnswered ? "it was answered and goes on" : "it is \(status.state.rawValue)"
        }
        let why: String =
            switch status.cause {
            case "normal": wasAnswered ? "one side hung up" : "it was given up"
            case "busy": "the far side was busy"
            case "declined": "it was declined"
            case "no-answer": "nobody answered in time"
            case "cancelled": "the caller gave up"
            case "answered-elsewhere": "somebody else answered"
            case "unreachable": "the far side could not be reached"
            case "media-timeout": "no sound came any more"
            case "too-long": "it lasted as long as a call may"
            case "shutdown": "the appliance stopped"
            default: "it was refused or failed"
            }
        return "it was \(wasAnswered ? "answered, and ended" : "not answered"): \(why)\(answer)"
    }
}
