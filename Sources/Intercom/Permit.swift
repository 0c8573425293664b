internal import Configuration
internal import Primitives

/// A code with everything that bounds it.
struct Permit: Equatable, Sendable {
    let door: String
    let code: DoorCode
    let from: CodeFrom
    /// In calls of this account alone.
    var account: String?
    var when: ScheduleCondition?
    var until: Expiry?
    /// 0: without bound.
    var uses = 0
    /// Whether the keypad may form it.
    let isForKeypad: Bool

    /// Every code there is: those of the doors, then those with bounds.
    static func all(in configuration: Configuration) -> [Permit] {
        let plain = configuration.doors.flatMap { door in
            (door.codes + door.codeHashes).map {
                Permit(
                    door: door.name, code: $0, from: door.codeFrom, isForKeypad: door.keypad && door.codeFrom == .any)
            }
        }
        let bounded = configuration.codes.compactMap { settings -> Permit? in
            guard let code = settings.code, let door = configuration.door(named: settings.door) else { return nil }
            return Permit(
                door: door.name, code: code, from: settings.from, account: settings.account, when: settings.when,
                until: settings.until, uses: settings.uses,
                isForKeypad: door.keypad && settings.from == .any && settings.account == nil)
        }
        return plain + bounded
    }

    func allows(_ leg: Leg) -> Bool {
        if let account, account != leg.account { return false }
        guard case .callers(let patterns) = from else { return true }
        return patterns.contains { $0.matches(user: leg.remote.escapedUser, host: leg.host) }
    }
}
