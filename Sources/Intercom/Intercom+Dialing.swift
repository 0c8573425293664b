internal import Configuration
internal import Primitives
internal import SIP
internal import UserAgent

extension Intercom {
    /// Begins a dial.
    /// - Returns: the first call of it.
    mutating func dial(
        _ target: DialTarget, headers: [HeaderField], at now: Instant, _ out: inout [IntercomOutput]
    ) throws(IntercomRefusal) -> CallKey {
        let plan: DialPlan
        do throws(DialPlan.Failure) {
            plan = try DialPlan(target, in: configuration, at: localTime)
        } catch {
            switch error {
            case .unknownTarget(let name): throw .unknown("no contact or group named \(name)")
            case .unknownAccount(let name): throw .unknown("no account named \(name)")
            case .noAccount: throw .impossible("there is no account to call with")
            case .notNow(let name): throw .impossible("group \(name) is not called at this time")
            }
        }
        let number = nextAttempt
        nextAttempt += 1
        attempts[number] = DialAttempt(number: number, plan: plan, headers: headers)
        nextStage(of: number, at: now, &out)
        guard let first = attempts[number]?.legs.first else {
            attempts[number] = nil
            throw .impossible("\(target): no phone can be called")
        }
        return first
    }

    /// Rings the next phones of the plan; without any the dial is over.
    private mutating func nextStage(of number: Int, at now: Instant, _ out: inout [IntercomOutput]) {
        while var attempt = attempts[number] {
            attempt.stage += 1
            attempt.stageEnds = nil
            guard attempt.stage < attempt.plan.stages.count else {
                attempts[number] = attempt
                return finish(number, at: now, &out)
            }
            let stage = attempt.plan.stages[attempt.stage]
            let isLast = attempt.stage == attempt.plan.stages.count - 1
            var legs: [CallKey] = []
            for phone in stage.legs {
                guard let order = order(for: phone, attempt, mayPassOver: !isLast || stage.legs.count > 1, &out) else {
                    continue
                }
                legs.append(order.call)
                calls[order.call] = Leg(
                    call: order.call, direction: .outgoing, account: order.account, remote: order.uri, state: .dialing,
                    since: now, attempt: number, group: attempt.plan.group)
                out.append(.dial(order))
            }
            attempt.legs += legs
            attempt.stageEnds = now + stage.ringFor
            attempts[number] = attempt
            if !legs.isEmpty { return }
        }
    }

    /// The order to call a phone; nil if its account is not registered and another phone can be tried.
    private func order(
        for phone: DialPlan.Leg, _ attempt: DialAttempt, mayPassOver: Bool, _ out: inout [IntercomOutput]
    ) -> DialOrder? {
        let state = accountStates[phone.account] ?? .failed
        if mayPassOver, state != .registered, state != .disabled {
            note(.notice, nil, "\(phone.uri): passed over, account \(phone.account) is not registered", &out)
            return nil
        }
        guard let uri = try? SIPURI(phone.uri) else {
            note(.warning, nil, "\(phone.uri): no usable URI", &out)
            return nil
        }
        var order = DialOrder(call: numbering.next(), uri: uri, account: phone.account)
        order.headers = attempt.headers.map { ($0.name, $0.value) }
        note(.notice, order.call, "calling \(phone.uri) with account \(phone.account): \(phone.why)", &out)
        return order
    }

    /// A phone of the dial answered: it wins, the others stop ringing.
    mutating func answered(_ call: CallKey, of number: Int, _ out: inout [IntercomOutput]) {
        guard var attempt = attempts[number] else { return }
        if attempt.winner == nil { attempt.winner = call }
        attempts[number] = attempt
        for leg in attempt.legs where leg != attempt.winner { hangUp(leg, .answeredElsewhere, &out) }
    }

    /// A phone of the dial is gone. When none is left the next stage rings, unless one had answered.
    mutating func legEnded(
        _ call: CallKey, of number: Int, cause: String?, at now: Instant, _ out: inout [IntercomOutput]
    ) {
        guard var attempt = attempts[number] else { return }
        attempt.legs.removeAll { $0 == call }
        if cause != "answered-elsewhere", cause != "cancelled" { attempt.lastCause = cause }
        attempts[number] = attempt
        if attempt.winner == nil, attempt.plan.stages.indices.contains(attempt.stage),
            attempt.plan.stages[attempt.stage].policy.after(cause) == .stop
        {
            note(.notice, call, "the dial ends: \(cause ?? "")", &out)
            for leg in attempt.legs {
                calls[leg]?.attempt = nil
                hangUp(leg, .normal, &out)
            }
            return finish(number, at: now, &out)
        }
        let living = attempt.legs.filter { calls[$0]?.isEnding == false }
        guard living.isEmpty else { return }
        if attempt.winner == nil {
            nextStage(of: number, at: now, &out)
        } else if attempt.legs.isEmpty {
            attempts[number] = nil
            play(.ended, at: now, &out)
        }
    }

    /// The stage has rung long enough.
    mutating func stageEnded(_ number: Int, at now: Instant, _ out: inout [IntercomOutput]) {
        guard let attempt = attempts[number], attempt.winner == nil else { return }
        for leg in attempt.legs { hangUp(leg, .normal, &out) }
        attempts[number]?.lastCause = "no-answer"
        nextStage(of: number, at: now, &out)
    }

    /// Nobody answered.
    private mutating func finish(_ number: Int, at now: Instant, _ out: inout [IntercomOutput]) {
        guard let attempt = attempts.removeValue(forKey: number) else { return }
        switch attempt.lastCause {
        case nil, "normal": play(nil, at: now, &out)
        case "busy", "declined", "no-answer": play(.busy, at: now, &out)
        default: play(.congestion, at: now, &out)
        }
    }

    /// Ends every phone of a dial.
    mutating func end(_ number: Int, _ reason: HangUpReason, at now: Instant, _ out: inout [IntercomOutput]) {
        guard let attempt = attempts.removeValue(forKey: number) else { return }
        for leg in attempt.legs {
            calls[leg]?.attempt = nil
            hangUp(leg, reason, &out)
        }
        play(nil, at: now, &out)
    }

    mutating func hangUp(_ call: CallKey, _ reason: HangUpReason, _ out: inout [IntercomOutput]) {
        guard let leg = calls[call], !leg.isEnding else { return }
        calls[call]?.isEnding = true
        out.append(.hangUp(call, reason))
    }

    func note(_ level: IntercomNote.Level, _ call: CallKey?, _ text: String, _ out: inout [IntercomOutput]) {
        out.append(.note(IntercomNote(level: level, call: call, text: text)))
    }
}
