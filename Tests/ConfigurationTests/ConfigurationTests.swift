import Configuration
import Primitives
import Testing

@Suite struct ConfigurationTests {
    @Test func everyKeyReachesItsValue() throws {
        let reading = read(sample)
        #expect(reading.faultTexts == [])
        #expect(reading.warningTexts == [])
        let configuration = try #require(reading.configuration)

        #expect(configuration.device.name == "Garden gate")
        #expect(configuration.device.tones == .de)
        #expect(configuration.device.stateDirectory == "/tmp/portero")
        #expect(reading.socket == "/tmp/portero.sock")
        #expect(configuration.network.interface == "eth0")
        #expect(configuration.network.sipPort == 0)
        #expect(configuration.network.rtpPorts == 20000...20099)
        #expect(!configuration.network.ipv6 && !configuration.network.userAgent)

        let house = try #require(configuration.account(named: "house"))
        #expect(house.uri == "sip:frontdoor@pbx.example.org")
        #expect(house.passwordSource == .literal(Secret("s3cr;t #1")))
        #expect(house.registrar == "sip:sip.example.org:5070")
        #expect(house.outboundProxy == "sip:proxy.example.org;lr")
        #expect(house.transport == .tls)
        #expect(house.tlsVerify == false)
        #expect(house.tlsPin.first?.digest.prefix(2) == [0xE3, 0xB0])
        #expect(house.tlsCertificate == "/etc/portero/door.pem")
        #expect(house.tlsKey == "/etc/portero/door.key")
        #expect(house.registers && house.registerWhile == "more")
        #expect(configuration.account(named: "barn")?.registers == false)
        #expect(house.forwarding.always == "sip:300@pbx.example.org")
        #expect(house.forwarding.busy == "sip:301@pbx.example.org;transport=tcp")
        #expect(house.forwarding.noAnswer == Forwarding.NoAnswer(after: .seconds(20), uri: "sip:302@x"))
        #expect(house.tlsClock == .tolerant)
        #expect(house.expires == .seconds(5400))
        #expect(house.autoAnswer == .header)
        #expect(house.autoAnswerFrom.map(\.description) == ["sip:100@pbx.example.org", "sip:2*@pbx.example.org"])
        #expect(house.autoAnswerAfter == .milliseconds(1500))
        let network = CallSource.network(.v4(0xC000_0200), prefixLength: 24)
        let pattern = try #require(CallerPattern("sip:*@*.example.net"))
        #expect(house.acceptFrom == .sources([network, .host("gate.example.org"), .caller(pattern)]))
        #expect(house.codecs == [.pcmu, .opus])
        #expect(house.dtmf == .info)
        #expect(house.keepAlive == .zero)
        #expect(house.sessionTimer == .seconds(600))
        #expect(
            house.acceptTransfer
                == .callers(["sip:2*@pbx.example.org", "sip:100@*"].compactMap { CallerPattern($0) }))
        #expect(house.followsPeer)
        #expect(
            house.headers == [
                HeaderField(name: "X-Door", value: "front"), HeaderField(name: "X-Side", value: "\"north; east\""),
            ])
        #expect(house.contactUser == .fixed("4930123456"))
        #expect(house.catchAll && house.isDefault && !house.opusFEC)
        #expect(house.aliases == ["100", "101"])
        #expect(house.mwi == .subscribe)
        #expect(house.challenge && !house.autoAnswerTone)
        #expect(house.ringDevice == .alsa("hw:1,0"))
        #expect(house.ringVolume == 55)
        #expect(house.opusBitrate == 24000)
        #expect(configuration.account(named: "cabin")?.tlsCA == "/etc/portero/ca.pem")
        #expect(configuration.account(named: "cabin")?.passwordSource == .file("/etc/portero/cabin.password"))
        #expect(configuration.account(named: "barn")?.passwordSource == .credential("barn"))

        #expect(configuration.audio.speaker == .wav("/tmp/out.wav"))
        #expect(configuration.audio.microphone == .tone(hertz: 440))
        #expect(configuration.audio.rate == 48000)
        #expect(configuration.ringer.device == .alsa("plughw:CARD=Device"))
        #expect(configuration.ringer.repeatEvery == .seconds(3))

        let bell = try #require(configuration.buttons.first)
        #expect(bell.press == .dial(DialTarget(.name("family"))))
        #expect(bell.hold == .open(door: "front"))
        #expect(bell.whileRinging == .answer)
        #expect(bell.whileTalking == .hangUp)
        let more = try #require(configuration.buttons.dropFirst().first)
        #expect(more.line == .chip("pinctrl-bcm2711", offset: 17))
        #expect(more.press == .dial(DialTarget(.uri("sip:200@pbx.example.org"), via: "cabin")))
        #expect(more.whileTalking == .volume(-5))

        let led = try #require(configuration.leds.first)
        #expect(led.line == .simulated("status"))
        #expect(led.patterns[.unregistered] == .blink)
        #expect(led.patterns[.doorOpen]?.description == "100ms/100ms/200ms/1s")
        #expect(led.patterns.count == LEDState.allCases.count)

        #expect(configuration.leds.last?.watch == DialTarget(.uri("sip:300@pbx.example.org"), via: "house"))

        let door = try #require(configuration.door(named: "front"))
        #expect(
            door.codes == [DoorCode(name: "cleaner", .plain(Secret("4711"))), DoorCode(.plain(Secret("0815#")))])
        #expect(door.active == .low)
        let family = try #require(configuration.group(named: "family"))
        #expect(family.targets[1] == DialTarget(.uri("sip:2,00@pbx.example.org"), via: "house"))
        #expect(family.order == .parallel)
        #expect(configuration.call.maxDuration == .seconds(600))
        #expect(configuration.call.secondCall == .wait)
        #expect(configuration.provisioning.every == .seconds(86_400))
        #expect(configuration.log.level == .debug && configuration.log.sip)
    }

    @Test func sampleSetsEveryKey() throws {
        var kind = ""
        var keys: [String: Set<String>] = [:]
        for line in sample.split(separator: "\n") {
            if line.hasPrefix("[") {
                kind = String(line.dropFirst().prefix { $0 != "]" && $0 != " " })
            } else if let key = line.split(separator: " ").first {
                keys[kind, default: []].insert(String(key))
            }
        }
        for section in Configuration.manual { #expect(keys[section.kind] == Set(section.keys.map(\.name))) }
        #expect(keys.count == Configuration.manual.count)
    }

    @Test func defaultsAreTheManual() throws {
        let configuration = try #require(read("[account a]\nuri = sip:a@b\n").configuration)
        #expect(configuration.accounts == [AccountSettings(name: "a", uri: "sip:a@b")])
        #expect(read("").configuration == Configuration())
        let defaults = Dictionary(
            uniqueKeysWithValues: Configuration.manual.flatMap { section in
                section.keys.map { ("\(section.kind) \($0.name)", $0.defaultText) }
            })
        let expected = [
            "device name": "", "device tones": "eu", "network rtp-ports": "16384-16483", "account expires": "10min",
            "account auto-answer": "never", "account default": "no", "account codecs": "opus, g722, pcma, pcmu",
            "account keep-alive": "25s", "account session-timer": "30min", "account accept-transfer": "no",
            "account contact-user": "random", "account opus-bitrate": "auto",
            "account accept-from": "registrar", "audio speaker": "default", "audio period": "10ms",
            "ringer device": "", "ringer volume": "80", "button active": "low", "button bias": "pull-up",
            "button press": "none", "button hold-time": "2s", "led active": "high", "led idle": "",
            "door open-time": "5s", "door code": "", "door code-from": "any", "group order": "sequential",
            "group rounds": "1", "group ring-for": "25s", "call max-duration": "5min", "call second-call": "busy",
            "provisioning every": "1h", "log level": "notice",
        ]
        for (key, text) in expected { #expect(defaults[key] == text, "\(key)") }
    }

    @Test func defaultAccountIsTheNamedElseTheFirst() throws {
        let first = "[account a]\nuri = sip:a@x\n[account b]\nuri = sip:b@x\n"
        #expect(read(first).configuration?.defaultAccount?.name == "a")
        #expect(read(first + "default = yes\n").configuration?.defaultAccount?.name == "b")
        #expect(Configuration().defaultAccount == nil)
    }

    @Test func textReadsBackAsTheSameValue() throws {
        let tricky = #"""
            [account x]
            uri = sip:x@y
            display-name = "  padded  "
            password = "ends in \"
            aliases = <a,b>, c
            auto-answer = list
            auto-answer-from = <sip:a,b@c>
            header = X-A: # no comment
            [door d]
            relay = sim:d
            code = #1234, x:5678
            """#
        for text in [sample, tricky, ""] {
            let configuration = try #require(read(text).configuration)
            let again = read(configuration.text)
            #expect(again.faultTexts == [])
            #expect(again.configuration == configuration)
        }
    }

    @Test func secretsDoNotShow() throws {
        let reading = read(sample)
        let configuration = try #require(reading.configuration)
        var dumped = ""
        dump(configuration, to: &dumped)
        let shown = dumped + "\(configuration)" + String(reflecting: configuration)
        for secret in ["s3cr;t", "4711", "0815"] { #expect(!shown.contains(secret)) }
        #expect(shown.contains("••••"))
    }
}
