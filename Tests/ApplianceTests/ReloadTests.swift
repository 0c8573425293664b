import API
import Foundation
import Testing

@Suite(.serialized) struct ReloadTests {
    @Test func anotherPortIsRegisteredAndTheCallGoesOn() throws {
        let house = try House()
        try house.untilRegistered()
        try house.untilTalking()
        let port = try PBX.freePort()
        #expect(try house.reload(house.text(port: port)).status == 200)
        try house.until("the new port is registered") { house.pbx.contact.hasSuffix(":\(port)") }
        #expect(house.pbx.requests("REGISTER").last?.from == port)
        // The call tells its peer where it is now.
        try house.until("a re-INVITE") { house.pbx.requests("INVITE").last?["Contact"].contains(":\(port)>") == true }
        #expect(house.call?["state"] == .string("talking"))
        #expect(house.faults == [])
    }

    @Test func anAccountThatGoesLeavesItsCallAlone() throws {
        let house = try House()
        try house.untilRegistered()
        try house.untilTalking()
        let whole = house.text()
        let start = try #require(whole.range(of: "[account house]")).lowerBound
        let end = try #require(whole.range(of: "[audio]")).lowerBound
        #expect(try house.reload(whole.replacingCharacters(in: start..<end, with: "")).status == 200)
        try house.until("unregistered") { house.pbx.requests("REGISTER").last?["Expires"] == "0" }
        #expect(house.accountStates == [:])
        #expect(house.call?["state"] == .string("talking"))
        try house.post("calls/-/hangup")
        try house.until("BYE") { house.pbx.requests("BYE").count == 1 && house.call == nil }
    }

    @Test func nothingIsRegisteredAgainWhereNothingChanged() throws {
        let house = try House()
        try house.untilRegistered()
        let count = house.pbx.requests("REGISTER").count
        #expect(try house.reload(house.text(rest: "[contact x]\nuri = sip:x@127.0.0.1")).status == 200)
        try house.run(for: .milliseconds(500))
        #expect(house.pbx.requests("REGISTER").count == count)
    }

    @Test(arguments: [
        ("[acount x]\nuri = 1", "unknown section [acount]"), ("[door back]\nrelay = sim:relay", "sim:relay"),
        ("[door back]\nrelay = sim:b\ncode = 12x4", "[door back] code"),
    ])
    func aBadFileChangesNothing(rest: String, fault: String) throws {
        let house = try House()
        try house.untilRegistered()
        let answer = try house.reload(house.text(port: try PBX.freePort(), rest: rest))
        #expect(answer.status == 422)
        let text = answer.body["faults"]?.elements.first?.string ?? ""
        #expect(text.hasPrefix(house.file.path + ":") && text.contains(fault), "\(text)")
        #expect(!text.contains("12x4"))
        #expect(house.events("configuration").last?["state"] == .string("refused"))
        #expect(house.accountStates == ["house": "registered"])
        try FileManager.default.removeItem(at: house.file)
        #expect(try house.post("reload").status == 422)
    }

    /// A relay never stays active because its door has gone, or has another line.
    @Test func aDoorThatGoesIsClosed() throws {
        let house = try House()
        try house.post("doors/front/open")
        #expect(house.level("relay") == true)
        #expect(try house.reload(house.text().replacingOccurrences(of: "sim:relay", with: "sim:other")).status == 200)
        try house.until("the old line is at rest") { house.level("relay") == false }
        try house.post("doors/front/open")
        #expect(
            try house.reload(
                house.text().replacingOccurrences(of: "[door front]", with: "[door back]")
                    .replacingOccurrences(of: "sim:relay", with: "sim:third")
            ).status == 200)
        try house.until("the line of the door that went is at rest") { house.level("other") == false }
        #expect(house.level("third") == false)
    }

    @Test func aRelayInUseKeepsItsPolarity() throws {
        let house = try House()
        let answer = try house.reload(
            house.text().replacingOccurrences(of: "open-time", with: "active = low\nopen-time"))
        #expect(answer.status == 422)
        #expect(house.level("relay") == false)
    }

    /// A button that is held keeps its press over a reload; its release is heard.
    @Test func aHeldButtonIsReleasedAfterwards() throws {
        let house = try House()
        try house.untilRegistered()
        house.appliance.simulation?.set("bell", false)
        try house.until("pressed") { house.status["buttons"]?.elements.first?["pressed"] == .bool(true) }
        try house.reload(house.text(rest: "[contact x]\nuri = sip:x@127.0.0.1"))
        #expect(house.status["buttons"]?.elements.first?["pressed"] == .bool(true))
        house.appliance.simulation?.set("bell", true)
        try house.until("released") { house.status["buttons"]?.elements.first?["pressed"] == .bool(false) }
        #expect(house.events("button").compactMap { $0["action"]?.string } == ["press", "release"])
    }

    @Test func aFaultGoesWithItsThing() throws {
        let house = try House { $0.text().replacingOccurrences(of: "speaker = silent", with: "speaker = no-such-card") }
        try house.until("the fault of the speaker") { house.faults == ["audio no-such-card"] }
        #expect(house.events("fault").first?["state"] == .string("raised"))
        try house.reload(house.text())
        #expect(house.faults == [])
        #expect(house.events("fault").last?["state"] == .string("cleared"))
        // A port that is taken, and not wanted any more.
        let other = try PBX(on: house.loop)
        try house.reload(house.text(port: other.port))
        try house.until("the fault of the port") { house.faults == ["sip udp 0.0.0.0:\(other.port)"] }
        try house.reload(house.text())
        #expect(house.faults == [])
        // A password that cannot be read, and an account that goes.
        house.pbx.answers = false
        try house.reload(
            house.text(rest: "[account two]\nuri = sip:two@127.0.0.1:\(house.pbx.port)\npassword-file = /nonexistent"))
        #expect(house.faults == ["account two"])
        try house.reload(house.text())
        #expect(house.faults == [])
    }

    @Test func whatWaitsForTheNextStartIsSaid() throws {
        let house = try House()
        let moved = house.text().replacingOccurrences(of: house.socket, with: house.socket + "2")
        #expect(try house.reload(moved).body["notes"] == .array([.string("socket waits for the next start")]))
        // Back again it waits for nothing.
        #expect(try house.reload(house.text()).body["notes"] == nil)
    }

    @Test func dropInsAreReadInNameOrder() throws {
        let house = try House()
        let folder = house.folder.appendingPathComponent("portero.d")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
        try write("20-b.ini", "[device]\nname = Second\n")
        try write("10-a.ini", "[device]\nname = First\n")
        try write("30.txt", "nonsense")
        #expect(try house.post("reload").status == 200)
        #expect(house.status["device"]?["name"] == .string("Second"))
        try write("40.ini", "[device]\nnam = x\n")
        let answer = try house.post("reload")
        #expect(answer.status == 422)
        #expect(answer.body["faults"]?.elements.first?.string?.contains("portero.d/40.ini:2: ") == true)
    }
}
