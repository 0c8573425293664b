import API
import Testing

/// The station's main job, over the control socket and the wire.
@Suite(.serialized) struct CallTests {
    @Test func aPressBecomesACallAndEndsAsOne() throws {
        let house = try House()
        try house.untilRegistered()
        #expect(house.level("status") == true)
        try house.untilTalking()
        let call = try #require(house.call)
        #expect(call["direction"] == .string("outgoing"))
        #expect(call["account"] == .string("house"))
        #expect(call["codec"] == .string("pcmu"))
        try house.until("sound goes out") { (house.call?["rtp"]?["sent"]?.integer ?? 0) > 5 }
        #expect(try house.post("calls/-/hangup").status == 200)
        try house.until("BYE") { house.pbx.requests("BYE").count == 1 }
        try house.until("no call is left") { house.call == nil }
        let states = house.events("call").compactMap { $0["state"]?.string }
        #expect(states.first == "dialing")
        #expect(states.suffix(2) == ["talking", "ended"])
        let ended = try #require(house.events("call").last)
        #expect(ended["cause"] == .string("normal"))
        #expect(house.events("button").compactMap { $0["action"]?.string }.first == "press")
    }

    @Test func aTrustedCallerIsAnsweredByItself() throws {
        let house = try House { $0.text(account: "auto-answer = header") }
        try house.untilRegistered()
        let id = house.pbx.call(headers: ["Call-Info: <sip:x>;answer-after=0"])
        try house.until("an answer") { house.pbx.response(to: id, "INVITE")?.status == 200 }
        try house.until("talking") { house.call?["state"] == .string("talking") }
        let to = try #require(house.pbx.response(to: id, "INVITE"))["To"]
        house.pbx.say("ACK", id, 1, to: to)
        house.pbx.say("BYE", id, 2, to: to)
        try house.until("the end") { house.call == nil }
        #expect(house.pbx.response(to: id, "BYE")?.status == 200)
    }

    /// INTERFACE sections 4 and 5: the names that scripts rely on.
    @Test func eventsAndStatusHaveTheirNames() throws {
        let house = try House()
        try house.untilRegistered()
        try house.untilTalking()
        try house.post("doors/front/open")
        let status = house.status
        let wanted: [(String, Set<String>)] = [
            ("device", ["name", "version", "uptime", "configuration"]), ("network", ["state", "addresses", "changes"]),
            ("audio", ["speaker", "microphone", "ringer", "xruns"]),
        ]
        for (name, keys) in wanted { #expect(keys.isSubset(of: self.keys(status[name])), "\(name)") }
        let lists: [(String, Set<String>)] = [
            (
                "accounts",
                [
                    "name", "uri", "state", "expires-in", "contact", "transport", "registrar", "code", "reason",
                    "since", "next-attempt-in",
                ]
            ),
            (
                "calls",
                [
                    "id", "direction", "state", "account", "remote", "codec", "srtp", "hold", "muted", "since",
                    "duration", "rtp",
                ]
            ),
            ("buttons", ["name", "line", "pressed"]), ("leds", ["name", "line", "state", "lit"]),
            ("doors", ["name", "relay"]),
        ]
        for (name, keys) in lists {
            let first = try #require(status[name]?.elements.first, "\(name)")
            #expect(keys.isSubset(of: self.keys(first)), "\(name): \(keys.subtracting(self.keys(first)))")
        }
        #expect(status["faults"] == .array([]))
        let members: [String: Set<String>] = [
            "started": [], "account": ["name", "state"], "network": ["state", "addresses"],
            "button": ["name", "action"], "call": ["id", "state", "direction", "account", "remote"],
            "led": ["name", "state"], "door": ["name", "state", "by"], "configuration": ["state"],
            "audio": ["device", "state"], "fault": ["what", "message", "state"], "stopping": [],
        ]
        for event in house.events {
            let name = try #require(event["event"]?.string)
            let wanted = try #require(members[name], "\(name) is no event of the interface")
            #expect(wanted.union(["time"]).isSubset(of: keys(event)), "\(event.text)")
        }
        #expect(["started", "account", "button", "call", "led", "door"].allSatisfy { !house.events($0).isEmpty })
    }

    private func keys(_ value: JSON?) -> Set<String> {
        guard case .object(let members) = value else { return [] }
        return Set(members.map(\.name))
    }
}
