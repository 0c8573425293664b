import Configuration
import Intercom
import Primitives
import SIP
import Testing
import UserAgent

/// An LED that shows what a phone does (D17, E37), and one that shows that messages wait.
@Suite struct WatchTests {
    private static let phone = WatchedPhone(account: "other", uri: Station.uri("sip:200@other.example"))

    private func station(_ change: (inout LEDSettings) -> Void = { _ in }) -> Station {
        Station { configuration in
            var led = LEDSettings(name: "attic", line: .simulated("attic"))
            led.watch = DialTarget(.name("attic"))
            change(&led)
            configuration.leds.append(led)
        }
    }

    private func light(_ station: Station) -> (state: LEDState?, lit: Bool)? {
        station.intercom.lightStatuses.first { $0.name == "attic" }.map { ($0.state, $0.lit) }
    }

    @Test func thePhoneIsThatOfTheContactWithItsAccount() {
        var configuration = Station.configuration
        configuration.leds[0].watch = DialTarget(.name("attic"))
        #expect(Intercom.watchedPhones(of: configuration) == [Self.phone])
        configuration.leds[0].watch = DialTarget(.uri("sip:300@x"), via: "house")
        #expect(
            Intercom.watchedPhones(of: configuration) == [
                WatchedPhone(account: "house", uri: Station.uri("sip:300@x"))
            ])
    }

    @Test func darkSteadyBlinkingForIdleBusyRinging() {
        var station = station()
        #expect(light(station)?.state == nil)
        #expect(light(station)?.lit == false)
        station.handle(.phone(Self.phone, .idle))
        #expect(light(station)?.state == .idle)
        station.pass(.seconds(3))
        #expect(light(station)?.lit == false)
        station.handle(.phone(Self.phone, .ringing))
        var changes = 0
        for _ in 0..<10 {
            let before = light(station)?.lit
            station.pass(.milliseconds(500))
            if light(station)?.lit != before { changes += 1 }
        }
        #expect(changes == 10)
        station.handle(.phone(Self.phone, .busy))
        #expect(light(station)?.state == .talking)
        #expect(light(station)?.lit == true)
        station.pass(.seconds(3))
        #expect(light(station)?.lit == true)
        station.handle(.phone(Self.phone, nil))
        #expect(light(station)?.lit == false)
    }

    @Test func itsPatternsMayBeOthers() {
        var station = station { $0.patterns = [.idle: .on, .talking: .off, .doorOpen: .on] }
        station.handle(.phone(Self.phone, .idle))
        #expect(light(station)?.lit == true)
        station.handle(.phone(Self.phone, .busy))
        #expect(light(station)?.lit == false)
    }

    /// What the door station itself does is no matter of that LED, nor the other way round.
    @Test func itShowsThePhoneAlone() {
        var station = station()
        station.handle(.phone(Self.phone, .idle))
        let call = station.incoming()
        #expect(light(station)?.state == .idle)
        #expect(station.intercom.lightStatuses.first?.state == .ringing)
        station.status(call, .talking)
        #expect(light(station)?.state == .idle)
    }

    @Test func aReloadKeepsWhatIsKnown() {
        var station = station()
        station.handle(.phone(Self.phone, .busy))
        var configuration = Station.configuration
        var led = LEDSettings(name: "attic", line: .simulated("attic"))
        led.watch = DialTarget(.name("attic"))
        configuration.leds = [led]
        station.handle(.configure(configuration))
        #expect(light(station)?.lit == true)
        configuration.leds = []
        station.handle(.configure(configuration))
        led.watch = DialTarget(.name("attic"))
        configuration.leds = [led]
        station.handle(.configure(configuration))
        #expect(light(station)?.lit == false, "nobody was asked meanwhile")
    }

    @Test func waitingMessagesAreAState() {
        var station = Station { $0.leds[0].patterns = [.messages: .on, .idle: .off] }
        #expect(station.intercom.lightStatuses.first?.lit == false)
        station.handle(.messages(account: "house", true))
        station.handle(.messages(account: "other", true))
        station.handle(.messages(account: "house", false))
        #expect(station.intercom.lightStatuses.first?.state == .messages)
        station.handle(.messages(account: "other", false))
        #expect(station.intercom.lightStatuses.first?.state == .idle)
    }
}
