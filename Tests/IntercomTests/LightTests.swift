import Configuration
import Intercom
import Primitives
import Testing

@Suite struct LightTests {
    @Test func theFirstStateThatHoldsAndHasAPatternWins() {
        var station = Station()
        #expect(station.intercom.lightStatuses.first?.state == .registered)
        station.register("house", .failed)
        #expect(station.intercom.lightStatuses.first?.state == .unregistered)
        station.press()
        #expect(station.intercom.lightStatuses.first?.state == .calling)
        station.handle(.fault(true))
        #expect(station.intercom.lightStatuses.first?.state == .calling)
        _ = try? station.intercom.request(.open(door: "front"), at: station.now, &station.out)
        station.handle(.deadlineReached)
        #expect(station.intercom.lightStatuses.first?.state == .doorOpen)
    }

    @Test func aPatternRunsFromTheMomentItsStateBegins() {
        var station = Station()
        station.pass(.milliseconds(1234))
        station.register("house", .failed)
        var changes: [(Instant, Bool)] = []
        for _ in 0..<5 {
            let last = station.out.compactMap { if case .light(_, let lit) = $0 { lit } else { nil } }.last
            if let last { changes.append((station.now, last)) }
            station.out = []
            guard let deadline = station.intercom.deadline else { break }
            station.now = deadline
            station.handle(.deadlineReached)
        }
        // It was lit (registered = on) and blinks now: 500 ms lit, 500 ms dark.
        #expect(
            changes.map { $0.0 - (.zero + .milliseconds(1234)) } == [
                .milliseconds(500), .seconds(1), .milliseconds(1500), .seconds(2),
            ])
        #expect(changes.map(\.1) == [false, true, false, true])
    }

    @Test func aSteadyLightNeverWakesTheLoop() {
        let station = Station()
        #expect(station.intercom.deadline == nil)
    }
}
