extension DoorSettings {
    static let keys: [Key<Self>] = relayKeys + codeKeys + inputKeys

    private static let relayKeys: [Key<Self>] = [
        Key("relay", \.relay, .line, isRequired: true, "The line of the relay"),
        Key("active", \.active, .choice, "The level that energises the relay"),
        Key("mode", \.mode, .choice, "What opening does: a pulse of open-time, or on and the next time off"),
        Key("open-time", \.openTime, .pulse("5s"), "How long the relay is energised"),
        Key(
            "max-on", \.maxOn, .duration(.milliseconds(100) ... .seconds(86_400), example: "20s"),
            "No relay stays energised longer; empty: 4 times open-time, with toggle 1h"),
        Key("opener", \.opener, .line, "The line of a second relay: a lock, then its opener"),
        Key("opener-active", \.openerActive, .choice, "The level that energises the second relay"),
        Key(
            "opener-delay", \.openerDelay, .duration(.zero ... .seconds(60), example: "500ms"),
            "From the first relay to the second"),
        Key("opener-time", \.openerTime, .pulse("1s"), "How long the second relay is energised"),
        Key("interlock", \.interlock, .list(.name, unique: true), "Doors that must be shut while this one opens"),
    ]

    private static let codeKeys: [Key<Self>] = [
        Key("code", \.codes, .codes, "Digits by which a caller opens; each optionally NAME:CODE for the log"),
        Key(
            "code-hash", \.codeHashes, .codeHashes,
            "Hashes of such digits, of portero hash-code; each NAME:HASH or HASH"),
        Key("code-from", \.codeFrom, .codeFrom, "Who may open by code"),
        Key("keypad", \.keypad, .boolean, "Whether buttons with the action key may form its codes"),
        Key("hang-up", \.hangUp, .choice, "When a call ends by itself in which a code opened"),
    ]

    private static let inputKeys: [Key<Self>] = [
        Key("exit-button", \.exitButton, .line, "The line of a request to exit: it opens"),
        Key("exit-active", \.exitActive, .choice, "The level that means pressed"),
        Key("exit-bias", \.exitBias, .choice, "The resistor of that line"),
        Key("sensor", \.sensor, .line, "The line of the contact that tells whether the door is open"),
        Key("sensor-active", \.sensorActive, .choice, "The level that means open"),
        Key("sensor-bias", \.sensorBias, .choice, "The resistor of that line"),
        Key("tamper", \.tamper, .line, "The line of the contact that tells of tampering"),
        Key("tamper-active", \.tamperActive, .choice, "The level that means tampered with"),
        Key("tamper-bias", \.tamperBias, .choice, "The resistor of that line"),
        Key("filter", \.filter, .choice, "When a level of these inputs counts: held for 20ms, or at its first edge"),
        Key(
            "held-open", \.heldOpen, .duration(.seconds(1) ... .seconds(86_400), example: "60s", zero: "never"),
            "Open for so long it is held open"),
        Key("on-forced", \.onForced, .list(.action, maximum: 8), "What happens when it opens unbidden"),
        Key("on-held-open", \.onHeldOpen, .list(.action, maximum: 8), "What happens when it is held open"),
        Key("on-tamper", \.onTamper, .list(.action, maximum: 8), "What happens on tampering"),
    ]
}

extension CodeSettings {
    static let keys: [Key<Self>] = [
        Key("door", \.door, .name, isRequired: true, "The door that it opens"),
        Key("digits", \.digits, .code, "The digits; this or hash"),
        Key("hash", \.hash, .codeHash, "The hash of the digits, of portero hash-code"),
        Key("when", \.when, .condition, "Counts only then; empty: always"),
        Key("until", \.until, .expiry, "Counts so long; empty: for ever"),
        Key("uses", \.uses, .integer(0...1_000_000), "How often it opens; 0: without bound"),
        Key("from", \.from, .codeFrom, "Whose digits count; with any and keypad = yes also the keypad's"),
        Key("account", \.account, .name, "In calls of this account alone; empty: of any"),
    ]
}

extension ScheduleSettings {
    static let keys: [Key<Self>] = [
        Key(
            "times", \.times, .list(.times), isRequired: true,
            "When it holds; over midnight counts to the day of its start"),
        Key("holidays", \.holidays, .list(.holiday), "Days that are none of the week"),
    ]
}

extension Form<Duration> {
    /// How long a relay is energised.
    fileprivate static func pulse(_ example: String) -> Form {
        .duration(.milliseconds(100) ... .seconds(3600), example: example)
    }
}
