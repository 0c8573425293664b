import Configuration
import Hashing
import Intercom
import Primitives
import SIP
import Testing
import UserAgent

/// A door station with a clock of its own: what goes in, what came out, no sleeping.
struct Station {
    var intercom: Intercom
    var now = Instant.zero
    var out: [IntercomOutput] = []
    let numbering = CallNumbering()

    init(
        _ change: (inout Configuration) -> Void = { _ in }, lockOut: LockOut = LockOut(), uses: [String: Int] = [:]
    ) {
        var configuration = Station.configuration
        change(&configuration)
        intercom = Intercom(
            configuration, numbering: numbering, hashes: .nettle, lockOut: lockOut, uses: uses, at: .zero)
        for account in configuration.accounts { register(account.name) }
        out = []
    }

    static var configuration: Configuration {
        var configuration = Configuration()
        var house = AccountSettings(name: "house", uri: "sip:door@pbx.example")
        house.isDefault = true
        configuration.accounts = [AccountSettings(name: "other", uri: "sip:d2@other.example"), house]
        var bell = ButtonSettings(name: "bell", line: .simulated("bell"))
        bell.press = .dial(DialTarget(.name("family")))
        bell.whileRinging = .answer
        configuration.buttons = [bell]
        var led = LEDSettings(name: "status", line: .simulated("status"))
        led.patterns = [
            .idle: .off, .registered: .on, .unregistered: .blink, .calling: .pulse, .ringing: .fast, .talking: .on,
            .doorOpen: .fast,
        ]
        configuration.leds = [led]
        var front = DoorSettings(name: "front", relay: .simulated("relay"))
        front.codes = [DoorCode(.plain(Secret("4711"))), DoorCode(name: "post", .plain(Secret("081500")))]
        configuration.doors = [front]
        configuration.contacts = [
            ContactSettings(name: "kitchen", uri: "sip:100@pbx.example"),
            ContactSettings(name: "attic", uri: "sip:200@other.example"),
        ]
        configuration.contacts[1].account = "other"
        configuration.groups = [
            GroupSettings(name: "family", targets: [DialTarget(.name("kitchen")), DialTarget(.name("attic"))])
        ]
        return configuration
    }

    /// Tests name only good ones; a bad one would show as an empty telephone number.
    static func uri(_ text: String) -> SIPURI { (try? SIPURI(text)) ?? SIPURI(telephone: "") }

    /// Who is at the other end.
    private var remotes: [CallKey: SIPURI] = [:]

    mutating func handle(_ input: IntercomInput) {
        if case .incoming(let call) = input { remotes[call.call] = call.caller }
        intercom.handle(input, at: now, &out)
        for case .dial(let order) in out { remotes[order.call] = order.uri }
    }

    /// Lets time pass, stopping at each deadline.
    mutating func pass(_ time: Duration) {
        let end = now + time
        var turns = 0
        while let deadline = intercom.deadline, deadline <= end {
            now = max(now, deadline)
            handle(.deadlineReached)
            turns += 1
            if turns > 100_000 { Issue.record("the deadline does not move on from \(deadline)"); break }
        }
        now = end
        handle(.deadlineReached)
    }

    mutating func register(_ name: String, _ state: AccountStatus.State = .registered) {
        handle(.account(AccountStatus(name: name, uri: "sip:x", state: state, since: now)))
    }

    mutating func press(_ button: String = "bell", for time: Duration = .milliseconds(100)) {
        handle(.level(.button(button), high: false, at: now))
        pass(time)
        handle(.level(.button(button), high: true, at: now))
        pass(.milliseconds(30))
    }

    mutating func incoming(
        from user: String = "100", _ answer: IncomingCall.Answer = .ring, replacing former: CallKey? = nil
    ) -> CallKey {
        let call = numbering.next()
        let caller = Station.uri("sip:\(user)@pbx.example")
        var incoming = IncomingCall(
            call: call, account: "house", why: "test", caller: caller, callerName: "", answer: answer)
        incoming.replaces = former
        handle(.incoming(incoming))
        return call
    }

    mutating func status(
        _ call: CallKey, _ state: CallStatus.State, cause: String? = nil, hold: CallStatus.Hold = .none
    ) {
        var status = CallStatus(
            call: call, direction: .outgoing, state: state, account: "house",
            remote: remotes[call] ?? Station.uri("sip:x@y"), remoteName: "", since: now, sipCallID: "")
        status.cause = cause
        status.hold = hold
        handle(.call(status))
    }

    mutating func key(_ digits: String, in call: CallKey) {
        for digit in digits.utf8 { handle(.digit(call, digit: digit, by: .rfc4733)) }
    }

    /// What came out since the last time, in short words.
    mutating func said() -> [String] {
        defer { out = [] }
        return out.compactMap { output in
            switch output {
            case .light: nil
            case .relay(let door, let role, let on): "\(role.rawValue) \(door) \(on ? "on" : "off")"
            case .dial(let order): "dial \(order.call) \(order.uri) \(order.account)"
            case .ring(let call): "ring \(call)"
            case .answer(let call, let byItself): "answer \(call)\(byItself ? " by itself" : "")"
            case .reject(let call, let code): "reject \(call) \(code)"
            case .redirect(let call, let uri): "redirect \(call) \(uri)"
            case .register(let account, let on): "\(on ? "register" : "unregister") \(account)"
            case .hangUp(let call, let reason): "hangup \(call) \(reason)"
            case .hold(let call): "hold \(call)"
            case .resume(let call): "resume \(call)"
            case .transfer(let call, .uri(let uri)): "transfer \(call) \(uri)"
            case .transfer(let call, .call(let other)): "transfer \(call) \(other)"
            case .mute(let call, let on): "mute \(call) \(on)"
            case .startRinging(let account): "start ringing \(account ?? "here")"
            case .stopRinging: "stop ringing"
            case .tone(let tone): "tone \(tone?.rawValue ?? "none")"
            case .volume(let step): "volume \(step)"
            case .fault(let what, let message): "\(what): \(message ?? "cleared")"
            case .keep: "keep"
            case .keepUses(let uses):
                "uses \(uses.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
            case .event(.lockedOut(let time)): "locked \(time)"
            case .event(.codesCount): "codes count"
            case .event: nil
            case .note: nil
            }
        }
    }
}
