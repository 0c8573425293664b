internal import API
internal import EventLoop
internal import Intercom
internal import Primitives

/// Events (INTERFACE section 5) and faults.
extension Appliance {
    /// Sends one event to all who follow.
    func publish(_ event: String, _ members: KeyValuePairs<String, JSON?>) {
        let line = line(event, members)
        control?.publish(line)
        options.observer?(line)
    }

    func missedLine(_ count: Int) -> String { line("missed", ["count": .integer(count)]) }

    private func line(_ event: String, _ members: KeyValuePairs<String, JSON?>) -> String {
        var all = [
            JSON.Member(name: "time", value: .string(loop.wallClock.description)),
            JSON.Member(name: "event", value: .string(event)),
        ]
        for case (let name, let value?) in members { all.append(JSON.Member(name: name, value: value)) }
        return JSON.object(all).text
    }

    /// A fault stands: shown in the status, on the fault LED and as an event, until it is cleared.
    func raise(_ what: String, _ message: String) {
        guard faults.raise(what, message, at: loop.wallClock) else { return }
        journal.log(domain(of: what), .error, "\(what): \(message)")
        publish(
            "fault", ["what": .string(what), "message": .string(message), "state": .string("raised")])
        take(.intercom(.fault(true)))
    }

    func clear(_ what: String) {
        guard let fault = faults.clear(what) else { return }
        journal.log(domain(of: what), .notice, "\(what): cleared")
        publish(
            "fault", ["what": .string(what), "message": .string(fault.message), "state": .string("cleared")])
        if faults.faults.isEmpty { take(.intercom(.fault(false))) }
    }

    /// Clears the faults of things that are not there any more.
    func clear(where isGone: (String) -> Bool) {
        for what in faults.things where isGone(what) { clear(what) }
    }

    private func domain(of what: String) -> LogDomain {
        switch what.prefix(while: { $0 != " " }) {
        case "audio": .audio
        case "button", "led": .gpio
        case "door": .door
        case "sip": .network
        case "account", "tls": .sip
        case "api": .api
        default: .config
        }
    }
}
