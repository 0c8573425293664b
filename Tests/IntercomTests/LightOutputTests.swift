import Configuration
import Hashing
import Intercom
import Primitives
import Testing
import UserAgent

/// What is put out is what the light is, whatever was before.
@Suite struct LightOutputTests {
    private func lit(_ out: [IntercomOutput]) -> [Bool] {
        out.compactMap { if case .light("status", let lit) = $0 { lit } else { nil } }
    }

    /// A line starts dark, so a light that is lit from the beginning has to be told.
    @Test func isTold() {
        var intercom = Intercom(Station.configuration, numbering: CallNumbering(), hashes: .nettle, at: .zero)
        var out: [IntercomOutput] = []
        intercom.handle(.deadlineReached, at: .zero, &out)
        #expect(lit(out) == [true], "unregistered: the first half of a blink")
    }

    @Test func steadyAfterBlinking() {
        var station = Station()
        station.pass(.seconds(2))
        #expect(station.intercom.lightStatuses.first?.lit == true)
        station.out = []
        station.register("house", .failed)
        station.pass(.milliseconds(700))
        station.register("house")
        #expect(lit(station.out).last == true)
        #expect(lit(station.out).count.isMultiple(of: 2), "off and on by turns")
    }

    @Test func newPatternIsShownAtOnce() {
        var station = Station()
        station.handle(.deadlineReached)
        station.out = []
        var configuration = Station.configuration
        configuration.leds[0].patterns[.registered] = .off
        station.handle(.configure(configuration))
        #expect(lit(station.out) == [false])
        station.handle(.configure(Station.configuration))
        #expect(lit(station.out) == [false, true])
    }
}
