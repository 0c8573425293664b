internal import Configuration
internal import Primitives
internal import UserAgent

/// Opening by digits (I5).
extension Intercom {
    /// The codes that the far side of a call may use.
    private func codes(for leg: Leg) -> [(door: String, code: DoorCode)] {
        var codes: [(door: String, code: DoorCode)] = []
        for door in doors {
            if case .callers(let patterns) = door.settings.codeFrom,
                !patterns.contains(where: { $0.matches(user: leg.remote.escapedUser, host: leg.host) })
            {
                continue
            }
            codes += door.settings.codes.map { (door.settings.name, $0) }
        }
        return codes
    }

    mutating func digit(
        _ digit: UInt8, in call: CallKey, by source: DigitSource, at now: Instant, _ out: inout [IntercomOutput]
    ) {
        guard var leg = calls[call] else { return }
        let codes = codes(for: leg)
        out.append(.event(.digit(call, digit: codes.isEmpty ? digit : nil, by: source)))
        // Only a confirmed dialog opens a door, never early media (I5).
        guard leg.isAnswered, !codes.isEmpty, !leg.entry.isExhausted, !lockOut.isLocked(at: now) else { return }
        let verdict = leg.entry.digit(digit, codes: codes, at: now)
        calls[call] = leg
        judge(verdict, of: call, at: now, &out)
    }

    /// What was keyed is a code, or it is wrong.
    mutating func judge(_ verdict: CodeEntry.Verdict, of call: CallKey, at now: Instant, _ out: inout [IntercomOutput])
    {
        switch verdict {
        case .incomplete: break
        case .opens(let door, let code):
            do throws(IntercomRefusal) {
                try open(door, by: code.map { "dtmf \($0)" } ?? "dtmf", at: now, &out)
            } catch {
                out.append(.note(IntercomNote(level: .warning, call: call, text: "door \(door): \(error)")))
            }
        case .wrong:
            guard let leg = calls[call] else { return }
            out.append(
                .note(
                    IntercomNote(level: .warning, call: call, text: "wrong door code of \(leg.remote.addressOfRecord)"))
            )
            if let time = lockOut.wrongCode(of: leg.remote.addressOfRecord.description, at: now) {
                isLockedOut = true
                out.append(.event(.lockedOut(time)))
            }
            out.append(.keep(lockOut))
        }
    }
}
