/// Every section and key there is, in the order of a manual. What is not here is unknown.
extension DeviceSettings {
    static let keys: [Key<Self>] = [
        Key("name", \.name, .text, "Shown as the caller's name where an account sets none"),
        Key("tones", \.tones, .choice, "Whose ringback, busy and congestion tones are played"),
        Key("state-directory", \.stateDirectory, .path, "Where state is kept; read at the next start"),
        Key("socket", \.socket, .socket, "The control socket; read at the next start"),
    ]
}

extension NetworkSettings {
    static let keys: [Key<Self>] = [
        Key("interface", \.interface, .interface, "The one interface to use; empty: whichever has the route"),
        Key("sip-port", \.sipPort, .port, "The port of SIP over UDP and TCP"),
        Key("rtp-ports", \.rtpPorts, .ports, "The ports of media"),
        Key("ipv6", \.ipv6, .boolean, "Whether IPv6 is used"),
        Key("user-agent", \.userAgent, .boolean, "Whether requests say that Portero sent them, and its version"),
    ]
}

extension AccountSettings {
    static let keys: [Key<Self>] = [
        Key("uri", \.uri, .uri(user: true), isRequired: true, "The address of record"),
        Key("display-name", \.displayName, .text, "Shown to those who are called; empty: the device's name"),
        Key("auth-user", \.authUser, .text, "The user of the credentials; empty: the user of uri"),
        Key("password", \.password, .secret, "The password; this, password-file or credential"),
        Key("password-file", \.passwordFile, .path, "A file whose first line is the password"),
        Key("credential", \.credential, .credential, "A systemd credential (LoadCredential=) with the password"),
        Key("registrar", \.registrar, .server, "Where to register; empty: the host of uri"),
        Key("outbound-proxy", \.outboundProxy, .server, "Where every request is sent first"),
        Key("transport", \.transport, .choice, "How the server is reached; auto asks NAPTR and SRV records"),
        Key("tls-verify", \.tlsVerify, .boolean, "Whether the server's certificate is checked"),
        Key("tls-ca", \.tlsCA, .path, "A file or folder of CA certificates; empty: the system's store"),
        Key("tls-pin", \.tlsPin, .list(.keyPin, unique: true), "Public keys, of which the server must have one"),
        Key("tls-certificate", \.tlsCertificate, .path, "Our own certificate with its chain, a PEM file"),
        Key("tls-clock", \.tlsClock, .choice, "Before the clock is set: wait, or go by the last time that is known"),
        Key("tls-key", \.tlsKey, .path, "Its key, a PEM file; empty: in the same file"),
        Key("register", \.registers, .boolean, "Whether the account is registered"),
        Key("register-while", \.registerWhile, .name, "A button, as a switch: registered only while it is pressed"),
        Key(
            "expires", \.expires, .duration(.seconds(10) ... .seconds(604_800), example: "600s", whole: true),
            "How long a registration is asked to last"),
        Key("default", \.isDefault, .boolean, "Used when a call names no account; else the first in the file is"),
        Key("auto-answer", \.autoAnswer, .choice, "Which calls are answered by themselves"),
        Key("auto-answer-from", \.autoAnswerFrom, .list(.caller), "Whose calls are answered by themselves"),
        Key(
            "auto-answer-after", \.autoAnswerAfter, .duration(.zero ... .seconds(60), example: "2s"),
            "How long such a call rings first"),
        Key(
            "auto-answer-tone", \.autoAnswerTone, .boolean,
            "A beep, and half a second before the microphone opens, where a call is answered by itself"),
        Key("accept-from", \.acceptFrom, .acceptFrom, "Who may call at all, beside the registrar"),
        Key("challenge", \.challenge, .boolean, "Callers beside the registrar must know the account's password"),
        Key("codecs", \.codecs, .list(.choice, unique: true), "Codecs in the order of preference"),
        Key("dtmf", \.dtmf, .choice, "How digits are sent"),
        Key(
            "keep-alive", \.keepAlive, .duration(.seconds(1) ... .seconds(3600), example: "25s", zero: "none"),
            "Over UDP, once per flow"),
        Key(
            "session-timer", \.sessionTimer,
            .duration(.seconds(90) ... .seconds(86_400), example: "1800s", zero: "never offered", whole: true),
            "How often a call is refreshed, so that a dead one is noticed"),
        Key("accept-transfer", \.acceptTransfer, .acceptTransfer, "Who may have us call somebody else (REFER)"),
        Key(
            "follow-peer", \.followsPeer, .boolean,
            "Goes on with a peer that turns up at another address during a call over UDP"),
        Key(repeated: "header", \.headers, .header, "Added to every INVITE; may stand more than once"),
        Key("contact-user", \.contactUser, .contactUser, "The user of the Contact that is registered"),
        Key("catch-all", \.catchAll, .boolean, "Takes calls from its registrar whose Request-URI names no account"),
        Key("aliases", \.aliases, .list(.user, unique: true), "Further users that are this account"),
        Key("forward", \.forwarding, .forwarding, "Where its callers are sent instead (302)"),
        Key("mwi", \.mwi, .choice, "Whether it is told that messages wait: not, as the registrar tells, or asked for"),
        Key("ring-sound", \.ringSound, .path, "A WAV file for its calls; empty: as [ringer] says"),
        Key("ring-device", \.ringDevice, .device, "Where its calls ring; empty: as [ringer] says"),
        Key("ring-volume", \.ringVolume, .integer(0...100), "How loud its calls ring; empty: as [ringer] says"),
        Key("opus-complexity", \.opusComplexity, .integer(0...10), "The work spent on encoding Opus"),
        Key("opus-bitrate", \.opusBitrate, .automatic(6000...510_000), "Bits a second of Opus"),
        Key("opus-fec", \.opusFEC, .boolean, "Forward error correction of Opus"),
    ]
}

extension AudioSettings {
    static let keys: [Key<Self>] = [
        Key("speaker", \.speaker, .device, "The loudspeaker"),
        Key("microphone", \.microphone, .device, "The microphone"),
        Key("rate", \.rate, .automatic(8000...192_000), "Samples a second of both"),
        Key(
            "period", \.period, .duration(.milliseconds(2) ... .milliseconds(60), example: "10ms"),
            "How much sound is moved at once"),
        Key("half-duplex", \.halfDuplex, .boolean, "Ducks the microphone while the far side talks"),
    ]
}

extension RingerSettings {
    static let keys: [Key<Self>] = [
        Key("device", \.device, .device, "Where calls ring; empty: the speaker"),
        Key("sound", \.sound, .path, "A WAV file; empty: the built-in ring"),
        Key("volume", \.volume, .integer(0...100), "How loud, in percent"),
        Key(
            "repeat", \.repeatEvery, .duration(.milliseconds(500) ... .seconds(60), example: "4s"),
            "From ring to ring"),
    ]
}

extension ButtonSettings {
    static let keys: [Key<Self>] = [
        Key("line", \.line, .line, isRequired: true, "The line of the button"),
        Key("active", \.active, .choice, "The level that means pressed"),
        Key("bias", \.bias, .choice, "The resistor of the line"),
        Key(
            "debounce", \.debounce, .duration(.zero ... .seconds(1), example: "20ms"),
            "How long a level must hold to count"),
        Key("press", \.press, .action, "What a press does"),
        Key("hold", \.hold, .action, "What holding does; then a press acts on release"),
        Key(
            "hold-time", \.holdTime, .duration(.milliseconds(100) ... .seconds(60), example: "2s"),
            "How long holding takes"),
        Key("while-ringing", \.whileRinging, .action, "What a press does while an incoming call rings"),
        Key("while-talking", \.whileTalking, .action, "What a press does during a call"),
        Key("quiet", \.quiet, .condition, "Its dials are refused then, with event and tone; empty: never"),
        Key(
            "dials-per-minute", \.dialsPerMinute, .integer(0...60), "More are refused, with event and tone; 0: no limit"
        ),
        Key(
            "stuck-after", \.stuckAfter, .duration(.seconds(1) ... .seconds(86_400), example: "2min", zero: "never"),
            "Pressed for so long it is stuck, which is a fault"),
    ]
}

extension LEDSettings {
    static let keys: [Key<Self>] =
        [
            Key("line", \.line, .line, isRequired: true, "The line of the LED"),
            Key("active", \.active, .choice, "The level that means lit"),
            Key("watch", \.watch, .watched, "A phone whose state it shows: idle off, ringing blink, talking on"),
        ]
        + LEDState.allCases.map { state in
            Key(state.rawValue, \.patterns[state], .pattern, "The pattern while \(state.summary)")
        }
}

extension LEDState {
    fileprivate var summary: String {
        switch self {
        case .tamper: "a tamper contact is open"
        case .doorForced: "a door has been opened unbidden"
        case .doorHeldOpen: "a door is held open"
        case .doorOpen: "a door is open"
        case .talking: "a call is answered"
        case .ringing: "an incoming call rings"
        case .calling: "an outgoing call is tried"
        case .fault: "something is wrong"
        case .unregistered: "an account that should be registered is not"
        case .messages: "messages wait in the mailbox of an account"
        case .registered: "all accounts are registered"
        case .idle: "nothing else holds"
        }
    }
}

extension ContactSettings {
    static let keys: [Key<Self>] = [
        Key("uri", \.uri, .uri(user: false), isRequired: true, "Whom to call"),
        Key("account", \.account, .name, "The account to call through; empty: the default"),
    ]
}

extension GroupSettings {
    static let keys: [Key<Self>] = [
        Key("targets", \.targets, .list(.target, maximum: 64), isRequired: true, "Whom to call"),
        Key("order", \.order, .choice, "One after another, or all at once"),
        Key(
            "ring-for", \.ringFor, .duration(.milliseconds(100) ... .seconds(3600), example: "25s"),
            "How long each target is tried"),
        Key("rounds", \.rounds, .integer(1...10), "How often the targets are gone through"),
        Key("on-busy", \.onBusy, .choice, "What follows when a target is busy"),
        Key("on-declined", \.onDeclined, .choice, "What follows when a target declines"),
        Key("on-unreachable", \.onUnreachable, .choice, "What follows when a target cannot be reached"),
        Key("last-resort", \.lastResort, .target, "Who is called when nobody has answered"),
        Key("when", \.when, .condition, "The targets are called only then; empty: always"),
        Key("otherwise", \.otherwise, .target, "Who is called at other times; empty: nobody"),
    ]
}

extension CallSettings {
    static let keys: [Key<Self>] = [
        Key(
            "max-duration", \.maxDuration,
            .duration(.milliseconds(100) ... .seconds(86_400), example: "5min", zero: "no limit"),
            "How long a call may last"),
        Key(
            "warn-before", \.warnBefore,
            .duration(.seconds(1) ... .seconds(3600), example: "10s", zero: "none"),
            "So long before its end a tone warns"),
        Key("prolong", \.prolong, .digit, "The far side's digit that lets a call go on after that tone; empty: none"),
        Key(
            "ring-for", \.ringFor, .duration(.milliseconds(100) ... .seconds(3600), example: "45s"),
            "How long an incoming call rings"),
        Key(
            "dial-timeout", \.dialTimeout, .duration(.milliseconds(100) ... .seconds(3600), example: "45s"),
            "How long an outgoing call outside a group is tried"),
        Key("ring-timeout-code", \.ringTimeoutCode, .integer(400...699), "What the caller gets after ring-for"),
        Key("second-call", \.secondCall, .choice, "What happens to a call that comes in during another"),
        Key("max-calls", \.maxCalls, .integer(1...256), "How many calls there may be at once"),
        Key(
            "answer-arm", \.answerArm, .duration(.zero ... .seconds(3600), example: "10s"),
            "Answer pressed so long before a call comes in answers it; 0: off"),
        Key(
            "media-timeout", \.mediaTimeout,
            .duration(.milliseconds(100) ... .seconds(86_400), example: "30s", zero: "never"),
            "A call ends after so long without media"),
    ]
}

extension ProvisioningSettings {
    static let keys: [Key<Self>] = [
        Key("url", \.url, .provisioningURL, "Where the last drop-in comes from; may hold {mac}"),
        Key(
            "every", \.every, .duration(.seconds(1) ... .seconds(2_592_000), example: "1h"),
            "How often it is looked for"),
        Key("ca", \.authorities, .path, "A PEM file of authorities to trust; empty: the system's store"),
    ]
}

extension LogSettings {
    static let keys: [Key<Self>] = [
        Key("level", \.level, .choice, "What is logged"),
        Key("sip", \.sip, .boolean, "Whole SIP messages at info, secrets blanked"),
    ]
}
