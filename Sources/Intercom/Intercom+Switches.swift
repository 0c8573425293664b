internal import Configuration
internal import Primitives
internal import UserAgent

/// Buttons that are switches: an account is registered only while its own is pressed (`register-while`).
extension Intercom {
    /// Says what the switches want that was not said.
    mutating func followSwitches(_ out: inout [IntercomOutput]) {
        var wanted: [String: Bool] = [:]
        for account in configuration.accounts where account.registers {
            guard let name = account.registerWhile, let button = buttons.first(where: { $0.settings.name == name })
            else { continue }
            wanted[account.name] = button.isPressed
        }
        for (account, isOn) in wanted.sorted(by: { $0.key < $1.key }) where switches[account] ?? false != isOn {
            note(
                .notice, nil, "account \(account): its switch is \(isOn ? "on: it registers" : "off: it unregisters")",
                &out)
            out.append(.register(account: account, isOn))
        }
        switches = wanted
    }
}

extension Configuration {
    /// The buttons; one that is a switch stays pressed, and is never stuck.
    var panelButtons: [ButtonSettings] {
        let switches = Set(accounts.compactMap(\.registerWhile))
        return buttons.map { button in
            var button = button
            if switches.contains(button.name) { button.stuckAfter = .zero }
            return button
        }
    }
}
