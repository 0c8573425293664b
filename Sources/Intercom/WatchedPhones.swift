package import Configuration
internal import SIP
package import UserAgent

/// LEDs that show what a phone does (`watch`) instead of what the appliance does.
extension Intercom {
    /// The phones that LEDs watch, each with the account that a call to it would take.
    package static func watchedPhones(of configuration: Configuration) -> Set<WatchedPhone> {
        Set(configuration.leds.compactMap { watchedPhone(of: $0, in: configuration) })
    }

    private static func watchedPhone(of led: LEDSettings, in configuration: Configuration) -> WatchedPhone? {
        guard let target = led.watch, let plan = try? DialPlan(target, in: configuration),
            let leg = plan.stages.first?.legs.first, let uri = try? SIPURI(leg.uri)
        else { return nil }
        return WatchedPhone(account: leg.account, uri: uri)
    }

    /// The states that hold for a light: those of the appliance, or of the phone that it watches.
    func holding(for light: Light, _ states: Set<LEDState>) -> Set<LEDState> {
        guard light.settings.watch != nil else { return states }
        guard let phone = Self.watchedPhone(of: light.settings, in: configuration) else { return [] }
        return switch phones[phone] {
        case .idle: [.idle]
        case .ringing: [.ringing]
        case .busy: [.talking]
        case nil: []
        }
    }
}
