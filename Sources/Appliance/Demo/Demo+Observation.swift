import API
import EventLoop
import Exchange
import Glibc
import Primitives
import SIP

/// How the demo looks and tells.
extension Demo {
    /// One line of the transcript, with the seconds since the start.
    func say(_ text: String) {
        let tenths = Int(((loop.now - start).inSeconds * 10).rounded())
        let seconds = "\(tenths / 10).\(tenths % 10)"
        write(String(repeating: " ", count: max(0, 5 - seconds.utf8.count)) + seconds + " s  " + text + "\n")
    }

    /// Lets everything run until the condition holds, and tells it.
    func observe(_ what: String, within limit: Duration, _ condition: () -> Bool) throws(Failure) {
        try observe({ condition() ? 0 : nil }, within: limit, what) { _ in what }
    }

    /// Lets everything run until there is a value, and tells it.
    func observe(
        _ value: () -> Double?, within limit: Duration, _ what: String? = nil, _ text: (Double) -> String
    ) throws(Failure) {
        let end = loop.now + limit
        var found = value()
        while found == nil {
            guard loop.now < end else {
                throw Failure(description: "not observed within \(Int(limit.inSeconds)) s: \(what ?? text(0))")
            }
            try turn(atMost: min(end - loop.now, .milliseconds(50)))
            found = value()
        }
        steps += 1
        say("✓ " + text(found ?? 0))
    }

    private func turn(atMost wait: Duration) throws(Failure) {
        guard isLeaving || !appliance.isStopping else { throw Failure(description: "interrupted") }
        try turnLoop(atMost: wait)
    }

    private func turnLoop(atMost wait: Duration) throws(Failure) {
        do throws(SystemError) {
            try loop.turn(atMost: wait)
        } catch {
            throw Failure(description: "\(error)")
        }
    }

    /// Lets everything run for a while, for a reader.
    func pause(_ time: Duration) throws(Failure) {
        guard pauses else { return }
        let end = loop.now + time
        while loop.now < end { try turn(atMost: end - loop.now) }
    }

    // MARK: The appliance

    func happened(_ line: String) {
        guard let event = try? JSON.parse(Array(line.utf8)) else { return }
        events.append(event)
        if event["event"]?.string == "led", let state = event["state"]?.string {
            say("  the light shows \(state): \(Self.patterns[state] ?? "off")")
        }
    }

    /// Whether an event with these members was published since the last time that it was asked for.
    func saw(_ event: String, _ members: [String: String]) -> Bool {
        let index = events.firstIndex { candidate in
            candidate["event"]?.string == event && members.allSatisfy { candidate[$0.key]?.string == $0.value }
        }
        guard let index else { return false }
        events.removeFirst(index + 1)
        return true
    }

    /// A list of the status document.
    func status(_ list: String) -> [JSON] { appliance.statusDocument[list]?.elements ?? [] }

    func status(_ list: String, named name: String) -> JSON? { status(list).first { $0["name"]?.string == name } }

    /// Whether the door and the phone talk, in a call of this direction.
    func isTalking(_ direction: String) -> Bool {
        status("calls").contains { $0["state"]?.string == "talking" && $0["direction"]?.string == direction }
    }

    /// The light shows a state: asked of the status, and the wire is as the pattern says.
    func light(_ state: String) throws(Failure) {
        let steady = Self.steady[state]
        let end = loop.now + Self.patience
        while status("leds", named: "status")?["state"]?.string != state
            || (steady != nil && appliance.panel?.lines.simulation.level("status") != steady)
        {
            guard loop.now < end else {
                let shown = status("leds", named: "status")?.text ?? "none"
                throw Failure(description: "the light does not show \(state), it is \(shown)")
            }
            try turn(atMost: .milliseconds(50))
        }
        steps += 1
    }

    // MARK: The phone

    func happened(_ event: Phone.Event) {
        if case .heard(let measured) = event { hearing = measured } else { phoneEvents.append(event) }
    }

    /// As the exchange asserts it.
    func caller(_ user: String) -> SIPURI { SIPURI(user: user, host: Host(IPAddress.loopbackV4)) }

    /// The door's tone at the phone, if it is there and is the strongest by far.
    var heardAtPhone: Double? {
        guard let hearing, let tone = hearing.tones[Self.doorTone], tone > Self.audible,
            tone > 0.9 * hearing.level * 2.0.squareRoot()
        else { return nil }
        return tone
    }

    var heardAtDoor: Double? { recording.amplitude(hertz: Self.phoneTone).flatMap { $0 > Self.audible ? $0 : nil } }

    static func decibels(_ amplitude: Double) -> String {
        let tenths = Int((200 * log10(max(amplitude, 1e-6))).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    // MARK: The end

    /// Goes on until interrupted.
    func stay() throws(Failure) {
        say("goes on until interrupted; try: portero --socket \(folder.path)/portero.sock press bell")
        while !appliance.isStopping { try turnLoop(atMost: .seconds(1)) }
        isLeaving = true
    }

    /// Lets the appliance say goodbye, which takes at most 3 s.
    func finish() throws(Failure) {
        do throws(SystemError) {
            let limit = try loop.timer { [loop] in loop.stop(1) }
            limit.set(deadline: loop.now + .seconds(4))
            guard try loop.run() == 0 else { throw SystemError("appliance", "stop within 3 s", number: ETIMEDOUT) }
        } catch {
            throw Failure(description: "\(error)")
        }
    }

    /// After a failure: the appliance still takes its leave.
    func abandon() {
        isLeaving = true
        appliance.stop()
        try? finish()
    }
}
