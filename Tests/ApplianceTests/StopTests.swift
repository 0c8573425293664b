import API
import Foundation
import Primitives
import Testing

@Suite(.serialized) struct StopTests {
    /// BYE and unregister go out, relays are at rest at once, and a registrar that says nothing holds nobody up.
    @Test(arguments: [true, false]) func leavesNothingBehind(registrarAnswers: Bool) throws {
        let house = try House()
        try house.untilRegistered()
        try house.untilTalking()
        try house.post("doors/front/open")
        #expect(house.level("relay") == true)
        house.pbx.answers = registrarAnswers
        let begin = house.loop.now
        house.appliance.stop()
        #expect(house.level("relay") == false)
        // What is asked for now is refused: no relay moves any more.
        let answer = try? house.post("doors/front/open")
        #expect(answer == nil || answer?.status == 409)
        #expect(house.level("relay") == false)
        try house.until("the socket is gone") { !FileManager.default.fileExists(atPath: house.socket) }
        // The agent's own deadline; a slow machine may take longer for the turn after it.
        #expect(house.loop.now - begin < .seconds(registrarAnswers ? 10 : 20))
        #expect(house.pbx.requests("BYE").count >= 1)
        #expect(house.pbx.requests("REGISTER").last?["Expires"] == "0")
        #expect(house.level("relay") == false)
        #expect(house.level("status") == false)
        #expect(house.events.last?["event"] != nil && !house.events("stopping").isEmpty)
    }

    @Test func aReloadWhileStoppingChangesNothing() throws {
        let house = try House()
        try house.untilRegistered()
        house.pbx.answers = false
        house.appliance.stop()
        guard case .impossible = house.appliance.reload() else {
            Issue.record("a reload while stopping was carried out")
            return
        }
    }
}
