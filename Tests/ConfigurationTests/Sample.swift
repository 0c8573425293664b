import Configuration

/// A file that sets every key there is, to something else than its default where it can be.
let sample = #"""
    [device]
    name = Garden gate
    tones = de
    state-directory = /tmp/portero
    socket = /tmp/portero.sock

    [network]
    interface = eth0
    sip-port = 0
    rtp-ports = 20000-20099
    ipv6 = no
    user-agent = no

    [account house]
    uri = sip:frontdoor@pbx.example.org
    display-name = Front door
    auth-user = door
    password = s3cr;t #1
    registrar = sip.example.org:5070
    outbound-proxy = sip:proxy.example.org;lr
    transport = tls
    tls-verify = no
    tls-pin = 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
    tls-certificate = /etc/portero/door.pem
    tls-key = /etc/portero/door.key
    tls-clock = tolerant
    register = on
    expires = 1h 30min
    default = yes
    auto-answer = header
    auto-answer-from = sip:100@pbx.example.org, sip:2*@pbx.example.org
    auto-answer-after = 1.5s
    auto-answer-tone = no
    challenge = yes
    accept-from = registrar, 192.0.2.0/24, gate.example.org, sip:*@*.example.net
    codecs = pcmu, opus
    dtmf = info
    keep-alive = 0
    session-timer = 10min
    accept-transfer = sip:2*@pbx.example.org, sip:100@*
    follow-peer = yes
    header = X-Door: front
    header = X-Side: "north; east"
    contact-user = 4930123456
    catch-all = 1
    aliases = 100, 101
    register-while = more
    forward = always sip:300@pbx.example.org; busy <sip:301@pbx.example.org;transport=tcp>; no-answer 20s sip:302@x
    mwi = subscribe
    ring-sound = /usr/share/ring.wav
    ring-device = hw:1,0
    ring-volume = 55
    opus-complexity = 10
    opus-bitrate = 24000
    opus-fec = false

    [account cabin]
    uri = sip:cabin@192.0.2.9:5080
    password-file = /etc/portero/cabin.password
    tls-ca = /etc/portero/ca.pem

    [account barn]
    uri = sip:barn@[2001:db8::1]
    register = off
    credential = barn

    [audio]
    speaker = wav:/tmp/out.wav
    microphone = tone:440
    rate = 48000
    period = 20ms
    half-duplex = yes

    [ringer]
    device = plughw:CARD=Device
    sound = /usr/share/bell.wav
    volume = 100
    repeat = 3s

    [button bell]
    line = BELL
    active = high
    bias = pull-down
    debounce = 5ms
    press = dial family
    hold = open front
    hold-time = 3s
    while-ringing = answer
    while-talking = hangup
    quiet = night
    dials-per-minute = 3
    stuck-after = 30s

    [button more]
    line = pinctrl-bcm2711:17
    press = dial sip:200@pbx.example.org via cabin
    while-talking = volume -5

    [led status]
    line = sim:status
    active = low
    idle = off
    registered = on
    unregistered = blink
    messages = 200ms/200ms
    calling = pulse
    ringing = fast
    talking = on
    tamper = fast
    door-forced = fast
    door-held-open = blink
    door-open = 100ms/100ms/200ms/1s
    fault = 50ms/950ms

    [led attic]
    line = sim:attic
    watch = sip:300@pbx.example.org via house
    talking = pulse

    [door front]
    relay = RELAY1
    active = low
    mode = toggle
    open-time = 3s
    max-on = 1min
    opener = RELAY2
    opener-active = low
    opener-delay = 1s
    opener-time = 2s
    interlock = back
    code = cleaner:4711, 0815#
    code-hash = post:pbkdf2-sha256$4$2$0011223344556677$\#(String(repeating: "0a", count: 32))
    keypad = yes
    hang-up = closed
    code-from = sip:100@pbx.example.org
    exit-button = REX1
    exit-active = high
    exit-bias = pull-down
    sensor = DOOR1
    sensor-active = low
    sensor-bias = disabled
    tamper = TAMPER
    tamper-active = low
    tamper-bias = as-is
    filter = edge
    held-open = 90s
    on-forced = ring, dial family
    on-held-open = <dial sip:2,00@pbx.example.org via house>
    on-tamper = open back

    [door back]
    relay = sim:back

    [code cleaner]
    door = back
    digits = 112233#
    when = not night
    until = 2027-01-31 12:00
    uses = 3
    from = sip:100@pbx.example.org
    account = house

    [code guest]
    door = back
    hash = pbkdf2-sha256$16$4096$00112233445566778899$\#(String(repeating: "f0", count: 32))

    [schedule night]
    times = Mo-Fr 22:00-06:00, Fr-Mo 00:00-24:00, Su 12:00-13:00, holidays 00:00-12:00, 03:00-04:00
    holidays = 12-25, 2027-03-26

    [button key]
    line = sim:key
    press = "key #"

    [contact kitchen]
    uri = sip:100@pbx.example.org
    account = house

    [group family]
    targets = kitchen, <sip:2,00@pbx.example.org> via house, nightwatch
    order = parallel
    ring-for = 20s
    rounds = 2
    on-busy = stop
    on-declined = stop
    on-unreachable = stop
    last-resort = sip:400@pbx.example.org via house
    when = not night
    otherwise = nightwatch

    [group nightwatch]
    targets = sip:300@pbx.example.org

    [call]
    max-duration = 10min
    warn-before = 10s
    prolong = *
    ring-for = 30s
    dial-timeout = 20s
    ring-timeout-code = 486
    second-call = wait
    max-calls = 8
    answer-arm = 10s
    media-timeout = 1min

    [provisioning]
    url = https://config.example.org/portero/{mac}.ini
    every = 1d
    ca = /etc/ssl/own.pem

    [log]
    level = debug
    sip = yes
    """#

func read(_ texts: String...) -> ConfigurationReading {
    Configuration.read(
        files: texts.enumerated().map { index, text in
            ConfigurationFile(name: ["a.ini", "b.ini", "c.ini"][index], octets: Array(text.utf8))
        })
}

extension ConfigurationReading {
    var faultTexts: [String] { faults.map(\.description) }
    var warningTexts: [String] { warnings.map(\.warningDescription) }
}
