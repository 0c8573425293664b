/// What an operator's files say, whole and checked: names that are used exist, no line is used twice, groups end.
package struct Configuration: Equatable, Sendable {
    package var device = DeviceSettings()
    package var network = NetworkSettings()
    /// In the order of the file, like every other list here.
    package var accounts: [AccountSettings] = []
    package var audio = AudioSettings()
    package var ringer = RingerSettings()
    package var buttons: [ButtonSettings] = []
    package var leds: [LEDSettings] = []
    package var doors: [DoorSettings] = []
    package var codes: [CodeSettings] = []
    package var schedules: [ScheduleSettings] = []
    package var contacts: [ContactSettings] = []
    package var groups: [GroupSettings] = []
    package var call = CallSettings()
    package var provisioning = ProvisioningSettings()
    package var log = LogSettings()

    /// Every default, and nothing that is a site's own.
    package init() {}

    /// The account of a call that names none: the one with `default = yes`, else the first.
    package var defaultAccount: AccountSettings? { accounts.first(where: \.isDefault) ?? accounts.first }

    package func account(named name: String) -> AccountSettings? { accounts.first { $0.name == name } }
    package func contact(named name: String) -> ContactSettings? { contacts.first { $0.name == name } }
    package func group(named name: String) -> GroupSettings? { groups.first { $0.name == name } }
    package func door(named name: String) -> DoorSettings? { doors.first { $0.name == name } }
}
