internal import Configuration
package import Primitives
package import UserAgent

extension Intercom {
    /// How long the tones at the end of a call last.
    private static let endTone = Duration.seconds(4)

    /// A call came in and may: is it answered, does it ring, or is this a bad time?
    mutating func incoming(_ call: IncomingCall, at now: Instant, _ out: inout [IntercomOutput]) {
        let others = calls.values.filter { !$0.isEnding }
        var leg = Leg(
            call: call.call, direction: .incoming, account: call.account, remote: call.caller, state: .incoming,
            since: now)
        note(
            .notice, call.call, "call of \(call.caller.addressOfRecord) for account \(call.account): \(call.why)", &out)
        if let former = call.replaces {
            // The user agent answers it by itself; who talks there is judged anew (D15).
            calls[call.call] = leg
            return succeed(former, by: call.call)
        }
        let forwarding = forwarding(of: call.account)
        if forwarding.always != nil {
            calls[call.call] = leg
            if forward(call.call, to: forwarding.always, "always", &out) { return }
        }
        if !others.isEmpty, configuration.call.secondCall == .busy {
            calls[call.call] = leg
            if forward(call.call, to: forwarding.busy, "busy", &out) { return }
            leg.isEnding = true
            calls[call.call] = leg
            out.append(.reject(call.call, code: 486))
            return note(.notice, call.call, "refused as busy (second-call = busy)", &out)
        }
        leg.isWaiting = others.contains(where: \.isAnswered) && configuration.call.secondCall == .wait
        leg.ringsUntil = now + (forwarding.noAnswer?.after ?? configuration.call.ringFor)
        if let until = armedUntil, now < until {
            armedUntil = nil
            leg.answersAt = now
        } else if case .automatic(let delay) = call.answer, !leg.isWaiting {
            leg.answersAt = now + delay
        }
        calls[call.call] = leg
        if leg.answersAt != now { out.append(.ring(call.call)) }
        callDeadlines(at: now, &out)
        refreshRinging(at: now, &out)
    }

    mutating func changed(_ status: CallStatus, at now: Instant, _ out: inout [IntercomOutput]) {
        guard let before = calls[status.call] else { return }
        if status.state == .ended { return ended(status, at: now, &out) }
        calls[status.call]?.state = status.state
        calls[status.call]?.remote = status.remote
        if status.hold != .none { calls[status.call]?.entry.clear() }
        if !before.isAnswered, calls[status.call]?.isAnswered == true {
            calls[status.call]?.answeredAt = now
            calls[status.call]?.answersAt = nil
            calls[status.call]?.ringsUntil = nil
            if before.talksUntil == nil { limitTalking(status.call, at: now) }
            if let former = before.succeeds { succeed(former, by: status.call) }
            if let attempt = calls[status.call]?.attempt { answered(status.call, of: attempt, &out) }
            if before.direction == .incoming { makeRoom(for: status.call, &out) }
        }
        refreshRinging(at: now, &out)
        refreshRingback(at: now, &out)
    }

    /// `max-duration` from now on, with its warning.
    private mutating func limitTalking(_ call: CallKey, at now: Instant) {
        let settings = configuration.call
        guard settings.maxDuration > .zero else { return }
        calls[call]?.talksUntil = now + settings.maxDuration
        calls[call]?.warnsAt =
            settings.warnBefore > .zero ? now + max(.zero, settings.maxDuration - settings.warnBefore) : nil
    }

    /// After the warning a digit lets the call go on, unless it is one of a code that is being keyed.
    /// - Returns: whether the digit was that.
    mutating func prolongs(_ digit: UInt8, _ leg: Leg, at now: Instant, _ out: inout [IntercomOutput]) -> Bool {
        guard digit == configuration.call.prolong, leg.isAnswered, leg.entry.isEmpty, leg.warnsAt == nil,
            configuration.call.warnBefore > .zero, leg.talksUntil != nil
        else { return false }
        limitTalking(leg.call, at: now)
        note(.notice, leg.call, "goes on for another max-duration", &out)
        return true
    }

    private mutating func ended(_ status: CallStatus, at now: Instant, _ out: inout [IntercomOutput]) {
        guard let leg = calls.removeValue(forKey: status.call) else { return }
        if let attempt = leg.attempt {
            legEnded(status.call, of: attempt, cause: status.cause, at: now, &out)
        } else if leg.isAnswered, !leg.isEnding, calls.isEmpty {
            play(.ended, at: now, &out)
        }
        refreshRinging(at: now, &out)
        refreshRingback(at: now, &out)
    }

    /// `second-call`: what an answered call does to those that talk.
    private mutating func makeRoom(for call: CallKey, _ out: inout [IntercomOutput]) {
        for other in calls.values.filter({ $0.call != call && $0.isAnswered && !$0.isEnding }).sorted(by: {
            $0.call < $1.call
        }) {
            switch configuration.call.secondCall {
            case .accept: break
            case .replace: hangUp(other.call, .normal, &out)
            case .hold, .wait, .busy:
                if other.state != .held { out.append(.hold(other.call)) }
            }
        }
    }

    mutating func callDeadlines(at now: Instant, _ out: inout [IntercomOutput]) {
        for leg in calls.values.sorted(by: { $0.call < $1.call }) where !leg.isEnding {
            if let answersAt = leg.answersAt, now >= answersAt {
                calls[leg.call]?.answersAt = nil
                calls[leg.call]?.ringsUntil = nil
                note(.notice, leg.call, "answered by itself", &out)
                out.append(.answer(leg.call, byItself: true))
            } else if let until = leg.ringsUntil, now >= until {
                if forward(leg.call, to: forwarding(of: leg.account).noAnswer?.uri, "no-answer", &out) { continue }
                calls[leg.call]?.isEnding = true
                note(.notice, leg.call, "nobody answered within ring-for", &out)
                out.append(.reject(leg.call, code: configuration.call.ringTimeoutCode))
            } else if let endsAt = leg.endsAt, now >= endsAt {
                note(.notice, leg.call, "ended, the door has been opened (hang-up)", &out)
                endCall(leg, .normal, at: now, &out)
            } else if let warnsAt = leg.warnsAt, now >= warnsAt, leg.talksUntil.map({ now < $0 }) ?? false {
                calls[leg.call]?.warnsAt = nil
                play(.warning, at: now, &out)
            } else if let until = leg.talksUntil, now >= until {
                note(.notice, leg.call, "ended after max-duration", &out)
                endCall(leg, .tooLong, at: now, &out)
            }
            if let deadline = leg.entry.deadline, now >= deadline, let verdict = calls[leg.call]?.entry.passed(now) {
                judge(verdict, of: leg.call, at: now, &out)
            }
        }
        for attempt in attempts.values.sorted(by: { $0.number < $1.number }) {
            if let deadline = attempt.deadline, now >= deadline { stageEnded(attempt.number, at: now, &out) }
        }
    }

    /// Ends a call; of a dial the whole.
    private mutating func endCall(_ leg: Leg, _ reason: HangUpReason, at now: Instant, _ out: inout [IntercomOutput]) {
        if let attempt = leg.attempt {
            end(attempt, reason, at: now, &out)
        } else {
            hangUp(leg.call, reason, &out)
        }
    }

    // MARK: Sound

    /// The ringer rings while a call does that is not answered by itself at once; a waiting call is a tone instead.
    mutating func refreshRinging(at now: Instant, _ out: inout [IntercomOutput]) {
        // Without a limit to its ringing it is being answered: the state follows in this turn or the next.
        let ringing = calls.values.filter { $0.state == .incoming && !$0.isEnding && $0.ringsUntil != nil }
        let first = ringing.filter { !$0.isWaiting }.min { $0.call < $1.call }
        if first != nil || chimeUntil != nil, !isRinging {
            isRinging = true
            out.append(.startRinging(account: first?.account))
        } else if first == nil, chimeUntil == nil, isRinging {
            isRinging = false
            out.append(.stopRinging)
        }
        let waits = ringing.contains { $0.isWaiting }
        if waits, tone?.tone != .waiting { play(.waiting, at: now, &out) }
        if !waits, tone?.tone == .waiting { play(nil, at: now, &out) }
    }

    /// Ringback while a called phone rings and sends no sound of its own, nobody talks.
    private mutating func refreshRingback(at now: Instant, _ out: inout [IntercomOutput]) {
        let outgoing = calls.values.filter { $0.direction == .outgoing && !$0.isEnding }
        let rings =
            outgoing.contains { $0.state == .ringing } && !calls.values.contains { $0.isAnswered || $0.state == .early }
        if rings, tone?.tone != .ringback { play(.ringback, at: now, &out) }
        if !rings, tone?.tone == .ringback { play(nil, at: now, &out) }
    }

    mutating func play(_ tone: CallTone?, at now: Instant, _ out: inout [IntercomOutput]) {
        if tone == self.tone?.tone { return }
        // A tone at the end of a call does not sound over another call.
        if let tone, [.busy, .congestion, .ended].contains(tone), calls.values.contains(where: \.isAnswered) {
            return play(nil, at: now, &out)
        }
        switch tone {
        case nil: self.tone = nil
        case .ringback?, .waiting?: self.tone = tone.map { ($0, nil) }
        case .busy?, .congestion?, .ended?, .warning?: self.tone = tone.map { ($0, now + Self.endTone) }
        }
        out.append(.tone(tone))
    }

    // MARK: Requests

    /// What a person or program asks for.
    /// - Returns: the call that a dial began.
    package mutating func request(
        _ request: IntercomRequest, at now: Instant, _ out: inout [IntercomOutput]
    ) throws(IntercomRefusal) -> CallKey? {
        switch request {
        case .dial(let target, let headers): return try dial(target, headers: headers, at: now, &out)
        case .answer(let call):
            let call = try find(call, "answer") { $0.state == .incoming }
            calls[call]?.answersAt = nil
            calls[call]?.ringsUntil = nil
            note(.info, call, "answered here", &out)
            out.append(.answer(call, byItself: false))
            refreshRinging(at: now, &out)
        case .reject(let call, let code):
            let call = try find(call, "reject") { $0.state == .incoming }
            calls[call]?.isEnding = true
            note(.info, call, "rejected here with \(code)", &out)
            out.append(.reject(call, code: code))
            refreshRinging(at: now, &out)
        case .hangUp(let call):
            let call = try find(call, "hang up") { _ in true }
            note(.info, call, "hung up here", &out)
            if let leg = calls[call] { endCall(leg, .normal, at: now, &out) }
            refreshRinging(at: now, &out)
            refreshRingback(at: now, &out)
        case .hold(let call):
            out.append(.hold(try find(call, "hold") { $0.state == .talking || $0.state == .heldByPeer }))
        case .resume(let call): out.append(.resume(try find(call, "resume") { $0.state == .held }))
        case .transfer(let call, let target): try transfer(call, to: target, &out)
        case .mute(let call, let muted):
            let call = try find(call, muted ? "mute" : "unmute") { $0.isAnswered }
            calls[call]?.isMuted = muted
            out.append(.mute(call, muted))
        case .open(let door): try open(door, by: "command", at: now, &out)
        }
        return nil
    }

    /// The call named, else the one that the word can apply to: of several the active one, then the oldest.
    func find(
        _ call: CallKey?, _ word: String, where applies: (Leg) -> Bool
    ) throws(IntercomRefusal) -> CallKey {
        if let call {
            guard let leg = calls[call] else { throw .unknown("no call \(call)") }
            guard !leg.isEnding, applies(leg) else {
                throw .impossible("call \(call) is \(leg.state.rawValue): cannot \(word) it")
            }
            return call
        }
        guard let call = oldest(where: applies) else { throw .impossible("no call to \(word)") }
        return call
    }

    /// The call that digits are sent in: one that is answered or on its way.
    package func callForDigits(_ call: CallKey?) throws(IntercomRefusal) -> CallKey {
        try find(call, "send digits in") { $0.state != .incoming }
    }

    func oldest(where applies: (Leg) -> Bool) -> CallKey? {
        let rank = { (leg: Leg) in leg.state == .talking ? 0 : leg.isAnswered ? 1 : 2 }
        return calls.values.filter { !$0.isEnding && applies($0) }.min { (rank($0), $0.call) < (rank($1), $1.call) }?
            .call
    }
}
