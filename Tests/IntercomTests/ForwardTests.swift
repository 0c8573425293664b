import Configuration
import Intercom
import Primitives
import Testing
import UserAgent

/// Callers who are sent elsewhere (E26), and accounts that a switch registers (E7).
@Suite struct ForwardTests {
    private func station(_ change: @escaping (inout Forwarding) -> Void) -> Station {
        Station { change(&$0.accounts[1].forwarding) }
    }

    @Test func always() {
        var station = station { $0.always = "sip:300@pbx.example" }
        let call = station.incoming(from: "100", .automatic(after: .zero))
        #expect(station.said() == ["redirect \(call) sip:300@pbx.example"])
        station.status(call, .ended)
        station.pass(.seconds(60))
        #expect(station.said() == [])
    }

    @Test func whileBusyOnly() {
        var station = station { $0.busy = "sip:301@pbx.example" }
        let first = station.incoming()
        station.status(first, .talking)
        _ = station.said()
        let second = station.incoming(from: "200")
        #expect(station.said() == ["redirect \(second) sip:301@pbx.example"])
        #expect(station.intercom.lightStatuses.first?.state == .talking)
    }

    @Test func whenNobodyAnswers() {
        var station = station { $0.noAnswer = .init(after: .seconds(20), uri: "sip:302@pbx.example") }
        let call = station.incoming()
        station.pass(.seconds(19))
        #expect(station.said() == ["ring \(call)", "start ringing house"])
        station.pass(.seconds(2))
        #expect(station.said().contains("redirect \(call) sip:302@pbx.example"))
        let answered = station.incoming()
        station.status(answered, .talking)
        station.pass(.seconds(60))
        #expect(!station.said().contains { $0.hasPrefix("redirect") })
    }

    @Test func aSwitchRegistersAndUnregisters() {
        var station = Station { configuration in
            var night = ButtonSettings(name: "night", line: .simulated("night"))
            night.active = .high
            configuration.buttons.append(night)
            configuration.accounts[0].registerWhile = "night"
        }
        station.pass(.seconds(1))
        #expect(station.said() == [], "it does not register by itself")
        station.handle(.level(.button("night"), high: true, at: station.now))
        station.pass(.seconds(1))
        #expect(station.said() == ["register other"])
        station.pass(.seconds(3600))
        #expect(station.said() == [])
        station.handle(.level(.button("night"), high: false, at: station.now))
        station.pass(.seconds(1))
        #expect(station.said() == ["unregister other"])
    }
}
