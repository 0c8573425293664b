import Audio
import Primitives

/// Looking for cards that nothing needs at the moment: at the start, after a change of the settings, and after a failure.
extension MediaEngine {
    /// A card that failed and that nothing needs is looked for so often, so that its fault ends when it comes back.
    static let checkRetry: Duration = .seconds(10)

    /// Looks whether the cards of the settings are there: each is opened and closed again.
    /// - Parameter done: called on the loop once each was tried; what was found has come as events by then.
    package func checkDevices(then done: @escaping () -> Void) {
        checked = done
        for role in DeviceRole.allCases where cardToCheck(role) != nil { slots[role]?.isChecked = true }
        reconcile()
        endCheck()
    }

    /// The check is over once no card waits for its first attempt.
    func endCheck() {
        let isOver = slots.values.allSatisfy { slot in
            switch slot.state {
            case .closed: !slot.isChecked
            case .opening, .closing: false
            case .open, .waiting: true
            }
        }
        guard isOver, let done = checked else { return }
        checked = nil
        loop.nextTurn(done)
    }

    /// The card that a role names; files and silence need no check.
    func cardToCheck(_ role: DeviceRole) -> DeviceUse? {
        let name: DeviceName? =
            switch role {
            case .speaker: settings.speaker
            case .microphone: settings.microphone
            case .ringer: settings.ringer == settings.speaker ? nil : settings.ringer
            }
        guard let name, case .alsa = name else { return nil }
        return use(name)
    }

    /// What a device is to be opened for now: its use, else a check.
    func due(_ role: DeviceRole) -> DeviceUse? {
        wanted(role) ?? (slots[role]?.isChecked == true ? cardToCheck(role) : nil)
    }

    /// Takes over other settings; cards that are new in them are looked for.
    func take(_ settings: MediaSettings) {
        let former = DeviceRole.allCases.map { cardToCheck($0)?.name }
        self.settings = settings
        for (role, name) in zip(DeviceRole.allCases, former) {
            if case .waiting = slots[role]?.state { slots[role]?.state = .closed }
            let card = cardToCheck(role)?.name
            if card == name { continue }
            slots[role]?.isChecked = card != nil
            slots[role]?.told = nil
        }
    }
}
