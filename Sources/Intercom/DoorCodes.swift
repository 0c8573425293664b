internal import Configuration
internal import Primitives
internal import UserAgent

/// Opening by digits, of a caller or of the keypad (I5).
extension Intercom {
    /// Who the keypad is, for the lock-out.
    private static let keypadCaller = "keypad"
    /// From opening to the end of the call (`hang-up = opened`).
    private static let farewell = Duration.seconds(2)

    mutating func digit(
        _ digit: UInt8, in call: CallKey, by source: DigitSource, at now: Instant, _ out: inout [IntercomOutput]
    ) {
        guard var leg = calls[call] else { return }
        let permits = permits.filter { $0.allows(leg) }
        out.append(.event(.digit(call, digit: permits.isEmpty ? digit : nil, by: source)))
        if prolongs(digit, leg, at: now, &out) { return }
        // Only a confirmed dialog opens a door, never early media (I5).
        guard leg.isAnswered, !permits.isEmpty, !leg.entry.isExhausted, !lockOut.isLocked(at: now) else { return }
        let verdict = leg.entry.digit(digit, permits: permits, hashes: hashes, at: now, holds: holds)
        calls[call] = leg
        judge(verdict, of: call, at: now, &out)
    }

    mutating func keypad(_ digit: UInt8, at now: Instant, _ out: inout [IntercomOutput]) {
        let permits = permits.filter(\.isForKeypad)
        guard !permits.isEmpty, !lockOut.isLocked(at: now) else { return }
        judgeKeypad(keypadEntry.digit(digit, permits: permits, hashes: hashes, at: now, holds: holds), at: now, &out)
    }

    /// Whether a code counts now. What depends on the time counts for nothing while nobody knows it.
    private func holds(_ permit: Permit) -> Bool {
        if let when = permit.when, !configuration.holds(when, at: localTime) { return false }
        if let until = permit.until {
            guard let localTime, !until.isPast(at: localTime) else { return false }
        }
        guard permit.uses > 0, let name = permit.code.name else { return true }
        return uses[name, default: 0] < permit.uses
    }

    /// What was keyed is a code, or it is wrong.
    mutating func judge(_ verdict: CodeEntry.Verdict, of call: CallKey, at now: Instant, _ out: inout [IntercomOutput])
    {
        switch verdict {
        case .incomplete: break
        case .opens(let permit):
            guard open(by: permit, "dtmf", at: now, &out) else { return }
            switch configuration.door(named: permit.door)?.hangUp ?? .never {
            case .never: break
            case .opened: calls[call]?.endsAt = now + Self.farewell
            case .closed: calls[call]?.endsWithDoor = permit.door
            }
        case .wrong:
            guard let leg = calls[call] else { return }
            let caller = leg.remote.addressOfRecord.description
            note(.warning, call, "wrong door code of \(caller)", &out)
            wrongCode(of: caller, at: now, &out)
        }
    }

    mutating func judgeKeypad(_ verdict: CodeEntry.Verdict, at now: Instant, _ out: inout [IntercomOutput]) {
        switch verdict {
        case .incomplete: break
        case .opens(let permit): _ = open(by: permit, "keypad", at: now, &out)
        case .wrong:
            note(.warning, nil, "wrong door code at the keypad", &out)
            wrongCode(of: Self.keypadCaller, at: now, &out)
        }
    }

    private mutating func open(
        by permit: Permit, _ way: String, at now: Instant, _ out: inout [IntercomOutput]
    ) -> Bool {
        do throws(IntercomRefusal) {
            // A use is counted first: a power cut between the two does not give one more.
            if permit.uses > 0, let name = permit.code.name {
                uses[name, default: 0] += 1
                out.append(.keepUses(uses))
            }
            try open(permit.door, by: permit.code.name.map { "\(way) \($0)" } ?? way, at: now, &out)
            return true
        } catch {
            note(.warning, nil, "\(way): \(error)", &out)
            return false
        }
    }

    private mutating func wrongCode(of caller: String, at now: Instant, _ out: inout [IntercomOutput]) {
        if let time = lockOut.wrongCode(of: caller, at: now) {
            isLockedOut = true
            out.append(.event(.lockedOut(time)))
        }
        out.append(.keep(lockOut))
    }

    /// The door is shut, or its relay at rest where nothing tells: calls that it let somebody in by end.
    mutating func endCalls(with door: String, at now: Instant) {
        for call in calls.keys where calls[call]?.endsWithDoor == door { calls[call]?.endsAt = now }
    }
}
