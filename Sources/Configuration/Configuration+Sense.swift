extension Configuration {
    /// Warns of what is allowed and yet does nothing, or less than it seems to.
    func checkSense(_ context: inout SectionContext) {
        for account in accounts {
            let section = SectionName(kind: "account", name: account.name)
            switch account.autoAnswer {
            case .list where account.autoAnswerFrom.isEmpty:
                context.warn(section, "auto-answer", "no call is answered by itself: auto-answer-from is empty")
            case .never where !account.autoAnswerFrom.isEmpty:
                context.warn(section, "auto-answer-from", "does nothing while auto-answer is never")
            case .always where !account.autoAnswerFrom.isEmpty:
                context.warn(section, "auto-answer-from", "does nothing while auto-answer is always")
            default: break
            }
            checkTLS(account, section, &context)
            if account.registerWhile != nil, !account.registers {
                context.warn(section, "register-while", "does nothing while register is no")
            }
            if account.challenge, account.acceptFrom == .registrar {
                context.warn(section, "challenge", "does nothing while accept-from is registrar")
            }
            if account.challenge, account.passwordSource == nil {
                context.warn(section, "challenge", "nobody but the registrar can call: the account has no password")
            }
        }
        for button in buttons {
            let section = SectionName(kind: "button", name: button.name)
            if button.actions.allSatisfy({ $0.action == .nothing }),
                !accounts.contains(where: { $0.registerWhile == button.name })
            {
                context.warn(section, nil, "the button does nothing: no action is set")
            }
            if button.hold == nil, context.isSet(section, "hold-time") {
                context.warn(section, "hold-time", "does nothing without hold")
            }
        }
        for led in leds {
            let section = SectionName(kind: "led", name: led.name)
            if led.watch != nil {
                for state in LEDState.allCases
                where led.patterns[state] != nil && ![.idle, .ringing, .talking].contains(state) {
                    context.warn(section, state.rawValue, "does nothing beside watch")
                }
            } else if led.patterns.isEmpty {
                context.warn(section, nil, "the LED stays dark: no state has a pattern")
            }
            if led.patterns[.messages] != nil, accounts.allSatisfy({ $0.mwi == .no }) {
                context.warn(section, "messages", "does nothing while no account has mwi")
            }
        }
        for door in doors {
            let section = SectionName(kind: "door", name: door.name)
            if door.codes.contains(where: { $0.count < 4 }) {
                context.warn(section, "code", "a code of fewer than 4 digits is easily guessed")
            }
            if door.codes.isEmpty, door.codeHashes.isEmpty, context.isSet(section, "code-from") {
                context.warn(section, "code-from", "does nothing without code")
            }
            let needs = [
                ("opener", ["opener-active", "opener-delay", "opener-time"]),
                ("exit-button", ["exit-active", "exit-bias"]),
                ("sensor", ["sensor-active", "sensor-bias", "held-open", "on-forced", "on-held-open"]),
                ("tamper", ["tamper-active", "tamper-bias", "on-tamper"]),
            ]
            for (needed, keys) in needs where !context.isSet(section, needed) {
                for key in keys where context.isSet(section, key) {
                    context.warn(section, key, "does nothing without \(needed)")
                }
            }
        }
        for group in groups where group.otherwise != nil && group.when == nil {
            context.warn(SectionName(kind: "group", name: group.name), "otherwise", "does nothing without when")
        }
        let call = SectionName(kind: "call", name: nil)
        if self.call.warnBefore > .zero, self.call.maxDuration > .zero, self.call.warnBefore >= self.call.maxDuration {
            context.warn(call, "warn-before", "is not shorter than max-duration: the tone sounds at once")
        }
        if self.call.prolong != nil, self.call.warnBefore == .zero {
            context.warn(call, "prolong", "does nothing without warn-before")
        }
        for code in codes where (code.code?.count ?? 4) < 4 {
            let section = SectionName(kind: "code", name: code.name)
            context.warn(section, "digits", "a code of fewer than 4 digits is easily guessed")
        }
        if provisioning.url == nil, context.isSet(SectionName(kind: "provisioning", name: nil), "every") {
            context.warn(SectionName(kind: "provisioning", name: nil), "every", "does nothing without url")
        }
        if network.rtpPorts.contains(network.sipPort) {
            let section = SectionName(kind: "network", name: nil)
            context.warn(section, "rtp-ports", "port \(network.sipPort) among them is sip-port")
        }
    }
}

extension Configuration {
    private func checkTLS(_ account: AccountSettings, _ section: SectionName, _ context: inout SectionContext) {
        let keys = ["tls-verify", "tls-ca", "tls-pin", "tls-certificate", "tls-key", "tls-clock"]
        if account.transport == .udp || account.transport == .tcp {
            for key in keys where context.isSet(section, key) {
                context.warn(section, key, "does nothing with transport = \(account.transport.rawValue)")
            }
            return
        }
        if !account.tlsVerify, account.tlsPin.isEmpty {
            context.warn(section, "tls-verify", "anybody can pass for the server: the certificate is not checked")
        }
        if !account.tlsVerify, account.tlsCA != nil {
            context.warn(section, "tls-ca", "does nothing while tls-verify is no")
        }
        if account.tlsKey != nil, account.tlsCertificate == nil {
            context.warn(section, "tls-key", "does nothing without tls-certificate")
        }
    }
}

extension SectionContext {
    fileprivate mutating func warn(_ section: SectionName, _ key: String?, _ message: String) {
        warn(place(of: section, key), section, key, message)
    }
}
