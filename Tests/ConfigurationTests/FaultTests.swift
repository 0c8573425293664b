import Configuration
import Testing

/// Each text with every fault that it has, without the file's name.
private let faults: [(String, [String])] = [
    // The language.
    ("level = info", ["1: level stands before any [section]"]),
    ("[log]\nlevel", ["2: [log]: expected key = value"]),
    ("[log]\n= info", ["2: [log]: expected key = value"]),
    ("[log\nlevel = x", ["1: expected [kind] or [kind name], found \"[log\""]),
    (
        "[log] # here\nlevel = x",
        ["1: expected [kind] or [kind name], found \"[log] # here\"; comments stand on lines of their own"]
    ),
    ("[]", ["1: expected [kind] or [kind name], found \"[]\""]),
    ("[button a b]", ["1: expected [kind] or [kind name], found \"[button a b]\""]),
    ("[log]\nlevel = a\u{01}b", ["2: [log]: the line holds a control character"]),
    (
        "[log]\n\n\nlevel = \\\n warn",
        ["4: [log] level: expected error, warning, notice, info, debug or trace, found \"warn\""]
    ),
    // Sections.
    ("[lod]", ["1: unknown section [lod]; did you mean led?"]),
    ("[Log]", ["1: unknown section [Log]; did you mean log?"]),
    ("[api]\nlisten = unix", ["1: unknown section [api]"]),
    ("[zebra]\nx = 1", ["1: unknown section [zebra]"]),
    ("[button]\nline = A", ["1: [button]: needs a name: [button NAME]"]),
    ("[log x]", ["1: [log x]: has no name: [log]"]),
    (
        "[door a,b]", ["1: [door a,b]: a name has 1 to 64 characters and no blank, control character, comma, / or ]"]
    ),
    ("[log]\nsip = no\n[device]\n[log]\nsip = no", ["4: [log]: stands twice; first in line 1"]),
    // Keys.
    ("[log]\nlevl = info", ["2: [log] levl: unknown key; did you mean level?"]),
    ("[log]\nzzz = info", ["2: [log] zzz: unknown key"]),
    ("[audio]\necho-cancel = yes", ["2: [audio] echo-cancel: unknown key"]),
    ("[log]\nlevel = info\nlevel = debug", ["3: [log] level: stands twice; first in line 2"]),
    ("[log]\nlevel =\nlevel = debug", ["3: [log] level: stands twice; first in line 2"]),
    ("[account a]", ["1: [account a] uri: is needed here"]),
    ("[account a]\nuri =", ["1: [account a] uri: is needed here"]),
    ("[button a]\npress = answer", ["1: [button a] line: is needed here"]),
    ("[door a]", ["1: [door a] relay: is needed here"]),
    ("[group a]", ["1: [group a] targets: is needed here"]),
    // Comments beside values.
    ("[log]\nlevel = info # or debug", ["2: [log] level: comments stand on lines of their own"]),
    ("[log]\nlevel = info\t; or debug", ["2: [log] level: comments stand on lines of their own"]),
    ("[network]\ninterface = # any", ["2: [network] interface: comments stand on lines of their own"]),
    // Values.
    (
        "[account a]\nuri = sip:a@192.168.1.256",
        ["2: [account a] uri: expected a URI such as sip:100@pbx.example.org, found \"sip:a@192.168.1.256\""]
    ),
    (
        "[account a]\nuri = sip:a@b\nregistrar = 10.0.0.1.2",
        ["3: [account a] registrar: expected a host such as pbx.example.org:5060, found \"10.0.0.1.2\""]
    ),
    (
        "[account a]\nuri = sip:a@b\naccept-from = 300.1.1.1",
        ["3: [account a] accept-from: expected a host, a network or a pattern of callers, found \"300.1.1.1\""]
    ),
    (
        "[audio]\nspeaker = file:'|reboot',raw",
        [
            "2: [audio] speaker: expected an ALSA PCM, wav:PATH, tone:20 to tone:20000 or silent, "
                + "found \"file:'|reboot',raw\""
        ]
    ),
    (
        "[provisioning]\nurl = file:door.ini",
        [
            "2: [provisioning] url: expected an https or file URL, or http to loopback, with no braces but {mac}, "
                + "found \"file:door.ini\""
        ]
    ),
    (
        "[provisioning]\nurl = file://server/door.ini",
        [
            "2: [provisioning] url: expected an https or file URL, or http to loopback, with no braces but {mac}, "
                + "found \"file://server/door.ini\""
        ]
    ),
    (
        "[button bell]\nline = B\npress = answer\ndebounce = fast",
        ["4: [button bell] debounce: expected a duration such as 20ms, found \"fast\""]
    ),
    (
        "[button bell]\nline = B\npress = answer\ndebounce = 2s",
        ["4: [button bell] debounce: expected a duration from 0s to 1s, found \"2s\""]
    ),
    ("[log]\nsip = maybe", ["2: [log] sip: expected yes or no, found \"maybe\""]),
    ("[network]\nsip-port = 65536", ["2: [network] sip-port: expected a port from 0 to 65535, found \"65536\""]),
    ("[network]\nsip-port = -1", ["2: [network] sip-port: expected a port from 0 to 65535, found \"-1\""]),
    (
        "[network]\nrtp-ports = 16384",
        [
            "2: [network] rtp-ports: expected ports such as 16384-16483, an even one and the next at least, found \"16384\""
        ]
    ),
    (
        "[network]\nrtp-ports = 16385-16386",
        [
            "2: [network] rtp-ports: expected ports such as 16384-16483, an even one and the next at least, "
                + "found \"16385-16386\""
        ]
    ),
    (
        "[call]\nring-timeout-code = 200",
        ["2: [call] ring-timeout-code: expected a number from 400 to 699, found \"200\""]
    ),
    ("[call]\nmax-calls = +4", ["2: [call] max-calls: expected a number from 1 to 256, found \"+4\""]),
    (
        "[call]\nsecond-call = bussy",
        ["2: [call] second-call: expected busy, wait, hold, replace or accept, found \"bussy\"; did you mean busy?"]
    ),
    ("[ringer]\nvolume = 101", ["2: [ringer] volume: expected a number from 0 to 100, found \"101\""]),
    (
        "[audio]\nmicrophone = tone:5",
        ["2: [audio] microphone: expected an ALSA PCM, wav:PATH, tone:20 to tone:20000 or silent, found \"tone:5\""]
    ),
    ("[audio]\nrate = 12", ["2: [audio] rate: expected auto or a number from 8000 to 192000, found \"12\""]),
    (
        "[led x]\nline = L\nidle = 100ms",
        [
            "3: [led x] idle: expected off, on, blink, fast, pulse or times of at least 10ms such as 100ms/100ms, "
                + "found \"100ms\""
        ]
    ),
    (
        "[led x]\nline = L\nidle = 9ms/100ms",
        [
            "3: [led x] idle: expected off, on, blink, fast, pulse or times of at least 10ms such as 100ms/100ms, "
                + "found \"9ms/100ms\""
        ]
    ),
    (
        "[led x]\nline = L\nidle = blick",
        [
            "3: [led x] idle: expected off, on, blink, fast, pulse or times of at least 10ms such as 100ms/100ms, "
                + "found \"blick\"; did you mean blink?"
        ]
    ),
    (
        "[led x]\nline = sim:\nidle = on",
        ["2: [led x] line: expected a line's name, CHIP:OFFSET or sim:NAME, found \"sim:\""]
    ),
    (
        "[provisioning]\nurl = http://config.example.org/x",
        [
            "2: [provisioning] url: expected an https or file URL, or http to loopback, with no braces but {mac}, "
                + "found \"http://config.example.org/x\""
        ]
    ),
    (
        "[provisioning]\nurl = http://127.0.0.1@evil.example/x",
        [
            "2: [provisioning] url: expected an https or file URL, or http to loopback, with no braces but {mac}, "
                + "found \"http://127.0.0.1@evil.example/x\""
        ]
    ),
    (
        "[provisioning]\nurl = https://x/{serial}",
        [
            "2: [provisioning] url: expected an https or file URL, or http to loopback, with no braces but {mac}, "
                + "found \"https://x/{serial}\""
        ]
    ),
    // Actions.
    (
        "[button a]\nline = A\npress = answr",
        ["3: [button a] press: unknown action \"answr\"; did you mean answer?"]
    ),
    ("[button a]\nline = A\npress = page all", ["3: [button a] press: unknown action \"page all\""]),
    (
        "[button a]\nline = A\npress = volume 5",
        ["3: [button a] press: expected volume +N or volume -N, N from 1 to 100, found \"volume 5\""]
    ),
    (
        "[button a]\nline = A\npress = volume +101",
        ["3: [button a] press: expected volume +N or volume -N, N from 1 to 100, found \"volume +101\""]
    ),
    ("[button a]\nline = A\npress = mute now", ["3: [button a] press: expected mute alone, found \"mute now\""]),
    (
        "[button a]\nline = A\npress = dial",
        ["3: [button a] press: expected dial TARGET or dial TARGET via ACCOUNT, found \"dial\""]
    ),
    (
        "[button a]\nline = A\npress = dial x via",
        ["3: [button a] press: expected TARGET or TARGET via ACCOUNT, found \"x via\""]
    ),
    ("[button a]\nline = A\npress = open", ["3: [button a] press: expected open DOOR, found \"open\""]),
    // Doors.
    (
        "[door a]\nrelay = A\nopen-time = 5s\nmax-on = 3s",
        ["4: [door a] max-on: is shorter than a pulse of 5s"]
    ),
    (
        "[door a]\nrelay = A\nopener = B\nopener-delay = 5s",
        ["4: [door a] opener-delay: the first relay would be at rest again: open-time is 5s"]
    ),
    ("[door a]\nrelay = A\ninterlock = a", ["3: [door a] interlock: names the door itself"]),
    ("[door a]\nrelay = A\nsensor = A", ["3: [door a] sensor: line A is used by [door a] already"]),
    (
        "[door aa]\nrelay = A\ninterlock = ab",
        ["3: [door aa] interlock: no door is named \"ab\"; did you mean aa?"]
    ),
    (
        "[door a]\nrelay = A\non-forced = ring, dal x",
        ["3: [door a] on-forced: unknown action \"dal x\"; did you mean dial?"]
    ),
    // Codes.
    ("[door a]\nrelay = A\n[code c]\ndoor = a", ["3: [code c]: digits or hash is needed here"]),
    ("[door a]\nrelay = A\n[code c]\ndoor = b\ndigits = 1234", ["4: [code c] door: no door is named \"b\""]),
    (
        "[door a]\nrelay = A\n[code c]\ndoor = a\ndigits = 12x4",
        ["5: [code c] digits: expected 1 to 16 of the digits 0-9, *, #, A-D"]
    ),
    (
        "[door a]\nrelay = A\n[code c]\ndoor = a\ndigits = 1234\nwhen = not nigh\n"
            + "[schedule night]\ntimes = 00:00-06:00",
        ["6: [code c] when: no schedule is named \"nigh\"; did you mean night?"]
    ),
    (
        "[door a]\nrelay = A\ncode-hash = x:1234",
        ["3: [door a] code-hash: code 1: expected what portero hash-code prints, optionally NAME:HASH"]
    ),
    (
        "[button a]\nline = A\npress = key 12",
        ["3: [button a] press: expected key and one of the digits 0-9, *, #, A-D, found \"key 12\""]
    ),
    // Accounts.
    (
        "[account a]\nuri = frontdoor@pbx",
        ["2: [account a] uri: expected a URI such as sip:100@pbx.example.org, found \"frontdoor@pbx\""]
    ),
    (
        "[account a]\nuri = sip:pbx",
        ["2: [account a] uri: expected a URI such as sip:100@pbx.example.org, found \"sip:pbx\""]
    ),
    (
        "[account a]\nuri = sips:a@pbx\ntransport = udp",
        ["2: [account a] uri: sips needs transport = tls or auto, not udp"]
    ),
    (
        "[account a]\nuri = sip:a@b\nexpires = 5",
        ["3: [account a] expires: expected a duration from 10s to 1w, found \"5\""]
    ),
    (
        "[account a]\nuri = sip:a@b\nexpires = 60.5s",
        ["3: [account a] expires: expected whole seconds, found \"60.5s\""]
    ),
    (
        "[account a]\nuri = sip:a@b\ntls-pin = 47DEQpj8HBSa",
        [
            "3: [account a] tls-pin: expected the SHA-256 of a public key in base64, 44 characters, "
                + "found \"47DEQpj8HBSa\""
        ]
    ),
    (
        "[account a]\nuri = sip:a@b\ntransport = sctp",
        ["3: [account a] transport: expected auto, udp, tcp or tls, found \"sctp\""]
    ),
    (
        "[account a]\nuri = sip:a@b\ncodecs = opus, g711",
        ["3: [account a] codecs: expected opus, g722, pcma or pcmu, found \"g711\""]
    ),
    ("[account a]\nuri = sip:a@b\ncodecs = opus, opus", ["3: [account a] codecs: opus stands twice"]),
    ("[account a]\nuri = sip:a@b\ncodecs = opus,,pcma", ["3: [account a] codecs: an element of the list is empty"]),
    (
        "[account a]\nuri = sip:a@b\nheader = X-A: 1\tx",
        ["3: [account a] header: the header holds a control character"]
    ),
    (
        "[account a]\nuri = sip:a@b\nheader = v: x",
        ["3: [account a] header: the header v is written by the stack itself"]
    ),
    (
        "[account a]\nuri = sip:a@b\nheader = nothing",
        ["3: [account a] header: expected a header such as X-Door: front, found \"nothing\""]
    ),
    (
        "[account a]\nuri = sip:a@b\naccept-from = anyone, x",
        ["3: [account a] accept-from: expected a host, a network or a pattern of callers, found \"anyone\""]
    ),
    (
        "[account a]\nuri = sip:a@b\naccept-from = 192.0.2.0/33",
        ["3: [account a] accept-from: expected a host, a network or a pattern of callers, found \"192.0.2.0/33\""]
    ),
    (
        "[account a]\nuri = sip:a@b\nauto-answer = list\nauto-answer-from = 100",
        [
            "4: [account a] auto-answer-from: expected a pattern of callers such as sip:2*@pbx.example.org, "
                + "found \"100\""
        ]
    ),
    (
        "[account a]\nuri = sip:a@b\ndefault = yes\n[account b]\nuri = sip:b@b\ndefault = on",
        ["6: [account b] default: account a is the default already"]
    ),
    (
        "[account a]\nuri = sip:a@b\npassword = secret\npassword-file = /x",
        ["4: [account a] password-file: only one of password, password-file may be set"]
    ),
    (
        "[account a]\nuri = sip:a@b\npassword = one\npassword = two",
        ["4: [account a] password: stands twice; first in line 3"]
    ),
    // Codes are in no message.
    (
        "[door d]\nrelay = R\ncode = 4711 # cleaner",
        [
            "3: [door d] code: code 1: expected 1 to 16 of the digits 0-9, *, #, A-D, optionally NAME:CODE; "
                + "comments stand on lines of their own"
        ]
    ),
    (
        "[door d]\nrelay = R\ncode = 4711, 12345678901234567",
        ["3: [door d] code: code 2: expected 1 to 16 of the digits 0-9, *, #, A-D, optionally NAME:CODE"]
    ),
    ("[door d]\nrelay = R\ncode = 4711, x:4711", ["3: [door d] code: code 2 stands twice"]),
    // References.
    (
        "[button a]\nline = A\npress = dial famly\n[contact family]\nuri = sip:a@b",
        ["3: [button a] press: no contact or group is named \"famly\"; did you mean family?"]
    ),
    (
        "[button a]\nline = A\npress = dial sip:a@b via hose\n[account house]\nuri = sip:a@b",
        ["3: [button a] press: no account is named \"hose\"; did you mean house?"]
    ),
    ("[button a]\nline = A\npress = answer\nhold = open front", ["4: [button a] hold: no door is named \"front\""]),
    ("[contact a]\nuri = sip:a@b\naccount = x", ["3: [contact a] account: no account is named \"x\""]),
    (
        "[group g]\ntargets = a, sip:x@y via z",
        [
            "2: [group g] targets: no contact or group is named \"a\"",
            "2: [group g] targets: no account is named \"z\"",
        ]
    ),
    (
        "[contact a]\nuri = sip:a@b\n[group a]\ntargets = sip:a@b",
        ["3: [group a]: [contact a] has this name already"]
    ),
    (
        "[group a]\ntargets = sip:a@b\n[contact a]\nuri = sip:a@b",
        ["3: [contact a]: [group a] has this name already"]
    ),
    ("[group a]\ntargets = a", ["2: [group a] targets: leads to a group that leads back to itself"]),
    (
        "[group a]\ntargets = b\n[group b]\ntargets = a\n[group c]\ntargets = sip:x@y",
        [
            "2: [group a] targets: leads to a group that leads back to itself",
            "4: [group b] targets: leads to a group that leads back to itself",
        ]
    ),
    (
        "[button a]\nline = X\npress = answer\n[led b]\nline = X\nidle = on\n[door c]\nrelay = X",
        [
            "5: [led b] line: line X is used by [button a] already",
            "8: [door c] relay: line X is used by [button a] already",
        ]
    ),
    // Several at once, in the order of the lines.
    (
        "[button a]\npress = dial x\nline = A\nbogus = 1\n[log]\nlevel = x",
        [
            "2: [button a] press: no contact or group is named \"x\"", "4: [button a] bogus: unknown key",
            "6: [log] level: expected error, warning, notice, info, debug or trace, found \"x\"",
        ]
    ),
]

private let warnings: [(String, [String])] = [
    (
        "[account a]\nuri = sip:a@b\ntransport = tls\ntls-verify = no\ntls-ca = /ca.pem\ntls-key = /key.pem",
        [
            "4: warning: [account a] tls-verify: anybody can pass for the server: the certificate is not checked",
            "5: warning: [account a] tls-ca: does nothing while tls-verify is no",
            "6: warning: [account a] tls-key: does nothing without tls-certificate",
        ]
    ),
    (
        "[account a]\nuri = sip:a@b\ntransport = udp\ntls-ca = /ca.pem",
        ["4: warning: [account a] tls-ca: does nothing with transport = udp"]
    ),
    ("[button a]\nline = A", ["1: warning: [button a]: the button does nothing: no action is set"]),
    (
        "[button a]\nline = A\npress = answer\nhold-time = 1s",
        ["4: warning: [button a] hold-time: does nothing without hold"]
    ),
    ("[led a]\nline = A", ["1: warning: [led a]: the LED stays dark: no state has a pattern"]),
    (
        "[door a]\nrelay = A\ncode = 123",
        ["3: warning: [door a] code: a code of fewer than 4 digits is easily guessed"]
    ),
    ("[door a]\nrelay = A\ncode-from = any", ["3: warning: [door a] code-from: does nothing without code"]),
    (
        "[account a]\nuri = sip:a@b\nauto-answer = list",
        ["3: warning: [account a] auto-answer: no call is answered by itself: auto-answer-from is empty"]
    ),
    (
        "[account a]\nuri = sip:a@b\nauto-answer-from = sip:x@y",
        ["3: warning: [account a] auto-answer-from: does nothing while auto-answer is never"]
    ),
    ("[network]\nsip-port = 16400", ["1: warning: [network] rtp-ports: port 16400 among them is sip-port"]),
    ("[provisioning]\nevery = 1h", ["2: warning: [provisioning] every: does nothing without url"]),
]

@Suite struct FaultTests {
    @Test(arguments: faults)
    func fault(_ text: String, _ expected: [String]) {
        let reading = read(text)
        #expect(reading.faultTexts == expected.map { "a.ini:\($0)" })
        #expect(reading.configuration == nil)
    }

    @Test(arguments: warnings)
    func warning(_ text: String, _ expected: [String]) {
        let reading = read(text)
        #expect(reading.warningTexts == expected.map { "a.ini:\($0)" })
        #expect(reading.faultTexts == [])
        #expect(reading.configuration != nil)
    }

    @Test func whatIsNotReadWholeIsNotWarnedOf() {
        let reading = read("[button b]\nline = sim:b\npress = fly")
        #expect(reading.faultTexts == ["a.ini:3: [button b] press: unknown action \"fly\""])
        #expect(reading.warningTexts == [])
    }

    @Test func aPatternMayNameAPartOfAnAddress() {
        #expect(read("[account a]\nuri = sip:a@b\naccept-from = sip:*@192.168.*.1").faultTexts == [])
    }

    @Test func faultNamesTheFileThatHasIt() {
        #expect(
            read("[log]\nlevel = info", "[log]\nlevel = x\n").faultTexts == [
                "b.ini:2: [log] level: expected error, warning, notice, info, debug or trace, found \"x\""
            ])
    }

    @Test func aFaultThatADropInReplacesIsStillOne() {
        #expect(read("[log]\nsip = x", "[log]\nsip = no\n").faults.map(\.line) == [2])
    }

    @Test func notUTF8() {
        let octets = Array("[log]\nlevel = ".utf8) + [0xFF, 0x0A]
        let reading = Configuration.read(files: [ConfigurationFile(name: "a.ini", octets: octets)])
        #expect(reading.faultTexts == ["a.ini:2: [log]: the line is not UTF-8"])
    }

    @Test func groupsOfGroupsAreBounded() {
        var text = "[group g0]\ntargets = sip:a@b, sip:c@d\n"
        for index in 1...40 { text += "[group g\(index)]\ntargets = g\(index - 1), g\(index - 1)\n" }
        let reading = read(text)
        #expect(reading.faults.count == 35)
        #expect(reading.faultTexts.first == "a.ini:14: [group g6] targets: leads to more than 64 targets")
    }
}
