import Configuration
import Intercom
import Primitives
import Testing

@Suite struct ReloadTests {
    @Test func aRemovedDoorGoesToRestFirstAndOthersStayOpen() throws {
        var station = Station { $0.doors.append(DoorSettings(name: "gate", relay: .simulated("gate"))) }
        _ = try station.intercom.request(.open(door: "front"), at: station.now, &station.out)
        _ = try station.intercom.request(.open(door: "gate"), at: station.now, &station.out)
        _ = station.said()
        var configuration = Station.configuration
        configuration.doors[0].openTime = .seconds(9)
        station.handle(.configure(configuration))
        #expect(station.said() == ["relay gate off"])
        #expect(station.intercom.doorStatuses.map(\.relay) == [true])
    }

    @Test func callsAndHeldButtonsGoOn() {
        var station = Station { $0.buttons[0].hold = .open(door: "front") }
        station.press()
        station.handle(.level(.button("bell"), high: false, at: station.now))
        station.pass(.seconds(1))
        var configuration = station.intercomConfiguration
        configuration.call.maxDuration = .seconds(10)
        station.handle(.configure(configuration))
        _ = station.said()
        station.pass(.milliseconds(1100))
        #expect(station.said() == ["relay front on"])
    }

    @Test func stopBringsRelaysToRest() throws {
        var station = Station()
        _ = try station.intercom.request(.open(door: "front"), at: station.now, &station.out)
        _ = station.incoming()
        _ = station.said()
        station.handle(.stop)
        #expect(station.said() == ["relay front off", "stop ringing"])
    }
}

extension Station {
    var intercomConfiguration: Configuration {
        var configuration = Station.configuration
        configuration.buttons[0].hold = .open(door: "front")
        return configuration
    }
}
