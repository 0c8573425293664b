import Exchange

/// The configuration that the demo's appliance runs on.
extension Demo {
    /// Patterns of the light, in the words of the INI file, by state.
    static let patterns = [
        "registered": "on", "unregistered": "blink", "calling": "100ms/300ms", "ringing": "fast", "talking": "on",
    ]
    /// Whether the light is on in a state that does not blink.
    static let steady = ["registered": true, "talking": true]

    /// - Parameter users: the two accounts', then the phone's.
    static func configuration(folder: String, exchange: DemoExchange, users: [User]) -> String {
        var text = """
            [device]
            name = Front door
            state-directory = \(folder)/state
            socket = \(folder)/portero.sock

            [network]
            sip-port = 0
            ipv6 = no

            [audio]
            speaker = wav:\(folder)/speaker.wav
            microphone = tone:\(Int(doorTone))

            [ringer]
            device = silent

            [log]
            level = warning

            [contact kitchen]
            uri = \(exchange.uri("kitchen"))
            account = house

            [button bell]
            line = sim:bell
            active = low
            press = dial kitchen

            [led status]
            line = sim:status

            """
        for (state, pattern) in patterns { text += "\(state) = \(pattern)\n" }
        for (account, user) in zip(["house", "garden"], users) {
            text += """

                [account \(account)]
                uri = \(exchange.uri(user.name))
                password = \(user.password)
                transport = udp
                codecs = pcma, pcmu
                auto-answer = header

                """
        }
        return text
    }
}
