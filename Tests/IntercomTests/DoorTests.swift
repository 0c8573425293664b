import Configuration
import Intercom
import Primitives
import Testing

extension Station {
    mutating func ask(_ request: IntercomRequest) -> String? {
        do throws(IntercomRefusal) {
            _ = try intercom.request(request, at: now, &out)
            handle(.deadlineReached)
            return nil
        } catch {
            return error.description
        }
    }

    mutating func open(_ door: String = "front") -> String? { ask(.open(door: door)) }

    /// `NAME STATE relay|rest by WHO` of every door event since the last time; forgets the rest of what came out.
    mutating func doorEvents() -> [String] {
        defer { out = [] }
        return out.compactMap { output in
            guard case .event(.door(let name, let state, let relay, let who)) = output else { return nil }
            return "\(name) \(state?.rawValue ?? "unknown") \(relay ? "on" : "at rest") by \(who)"
        }
    }

    /// Relays and when they changed, in milliseconds, while `time` passes.
    mutating func relays(_ time: Duration) -> [String] {
        var changes: [String] = []
        let end = now + time
        func note(_ station: inout Station) {
            for word in station.said() where word.hasPrefix("relay ") || word.hasPrefix("opener ") {
                changes.append("\(word) \(Int((station.now - .zero).inMilliseconds))")
            }
        }
        note(&self)
        while let deadline = intercom.deadline, deadline <= end {
            now = max(now, deadline)
            handle(.deadlineReached)
            note(&self)
        }
        now = end
        return changes
    }
}

@Suite struct RelayTests {
    @Test func aPulseEndsByItself() {
        var station = Station()
        #expect(station.open() == nil)
        #expect(station.relays(.seconds(60)) == ["relay front on 0", "relay front off 5000"])
    }

    /// Asked for again and again the pulse grows, but never beyond `max-on`.
    @Test func noOrderKeepsARelayOnBeyondItsLimit() {
        var station = Station { $0.doors[0].maxOn = .seconds(8) }
        var changes: [String] = []
        for _ in 0..<7 {
            #expect(station.open() == nil)
            changes += station.relays(.seconds(1))
        }
        changes += station.relays(.seconds(60))
        #expect(changes == ["relay front on 0", "relay front off 8000"])
    }

    @Test func toggleGoesOnAndOffAndOffByItselfAtItsLimit() {
        var station = Station {
            $0.doors[0].mode = .toggle
            $0.doors[0].maxOn = .seconds(600)
        }
        #expect(station.open() == nil)
        #expect(station.relays(.seconds(90)) == ["relay front on 0"])
        #expect(station.open() == nil)
        #expect(station.relays(.seconds(10)) == ["relay front off 90000"])
        #expect(station.open() == nil)
        #expect(station.relays(.seconds(3600)) == ["relay front on 100000", "relay front off 700000"])
    }

    @Test func theOpenerFollowsTheLockAndNeverOutlastsIt() {
        var station = Station {
            $0.doors[0].opener = .simulated("opener")
            $0.doors[0].openerTime = .seconds(2)
        }
        #expect(station.open() == nil)
        #expect(
            station.relays(.seconds(60)) == [
                "relay front on 0", "opener front on 500", "opener front off 2500", "relay front off 5000",
            ])
        var short = Station {
            $0.doors[0].opener = .simulated("opener")
            $0.doors[0].openerTime = .seconds(20)
        }
        #expect(short.open() == nil)
        #expect(
            short.relays(.seconds(60)) == [
                "relay front on 0", "opener front on 500", "opener front off 5000", "relay front off 5000",
            ])
    }

    static func airlock(_ configuration: inout Configuration) {
        var inner = DoorSettings(name: "inner", relay: .simulated("inner"))
        inner.sensor = .simulated("inner-contact")
        configuration.doors.append(inner)
        configuration.doors[0].interlock = ["inner"]
    }

    /// Either of the two names the other: it holds for both.
    @Test(arguments: [("front", "inner"), ("inner", "front")])
    func ofTwoInterlockedDoorsOneOpensAtATime(first: String, second: String) {
        var station = Station(Self.airlock)
        station.handle(.opened(.sensor(door: "inner"), high: false))
        #expect(station.open(first) == nil)
        #expect(station.open(second) == "door \(second): door \(first) is open (interlock)")
        #expect(station.relays(.seconds(5)) == ["relay \(first) on 0", "relay \(first) off 5000"])
        #expect(station.open(second) == nil)
    }

    @Test func aDoorThatStandsOpenLocksTheOther() {
        var station = Station(Self.airlock)
        station.handle(.opened(.sensor(door: "inner"), high: true))
        #expect(station.open("front") == "door front: door inner is open (interlock)")
        station.handle(.level(.sensor(door: "inner"), high: false, at: station.now))
        station.pass(.milliseconds(20))
        #expect(station.open("front") == nil)
    }

    @Test func aRelayOnAnotherLineBeginsAtRest() {
        var station = Station()
        #expect(station.open() == nil)
        _ = station.said()
        var configuration = Station.configuration
        configuration.doors[0].relay = .simulated("elsewhere")
        station.handle(.configure(configuration))
        #expect(station.relays(.seconds(60)) == ["relay front off 0"])
        #expect(station.intercom.doorStatuses.first?.relay == false)
    }
}

@Suite struct DoorInputTests {
    func station(_ change: (inout DoorSettings) -> Void = { _ in }) -> Station {
        var station = Station {
            $0.doors[0].exitButton = .simulated("exit")
            $0.doors[0].sensor = .simulated("contact")
            $0.doors[0].tamper = .simulated("tamper")
            $0.leds[0].patterns[.doorForced] = .fast
            $0.leds[0].patterns[.doorHeldOpen] = .blink
            $0.leds[0].patterns[.tamper] = .pulse
            change(&$0.doors[0])
        }
        station.handle(.opened(.exitButton(door: "front"), high: true))
        station.handle(.opened(.sensor(door: "front"), high: false))
        station.handle(.opened(.tamper(door: "front"), high: false))
        _ = station.said()
        return station
    }

    func state(_ station: Station) -> DoorState? { station.intercom.doorStatuses.first?.state }
    func light(_ station: Station) -> LEDState? { station.intercom.lightStatuses.first?.state }

    @Test func theExitButtonOpens() {
        var station = station()
        station.handle(.level(.exitButton(door: "front"), high: false, at: station.now))
        station.pass(.milliseconds(20))
        #expect(station.doorEvents() == ["front closed on by exit button"])
    }

    /// A wire that was cut, or a button that hangs, must not open the door whenever the appliance starts.
    @Test func anExitButtonPressedAtTheStartOpensNothing() {
        var station = station()
        station.handle(.opened(.exitButton(door: "front"), high: false))
        #expect(station.relays(.seconds(100)) == [])
        station.pass(.seconds(20))
        #expect(station.said() == ["door front exit-button stuck: pressed for 120 s"])
        station.handle(.level(.exitButton(door: "front"), high: true, at: station.now))
        station.pass(.seconds(1))
        #expect(station.said() == ["door front exit-button stuck: cleared"])
    }

    @Test func aButtonPressedAtTheStartDoesNothing() {
        var station = Station { $0.buttons[0].press = .open(door: "front") }
        station.handle(.opened(.button("bell"), high: false))
        #expect(station.relays(.seconds(1)) == [])
        station.handle(.level(.button("bell"), high: true, at: station.now))
        #expect(station.relays(.seconds(1)) == [])
        station.press()
        #expect(station.said() == ["relay front on"])
    }

    @Test func aStuckButtonIsAFaultUntilItIsReleased() {
        var station = Station { $0.buttons[0].stuckAfter = .seconds(30) }
        station.handle(.level(.button("bell"), high: false, at: station.now))
        station.pass(.seconds(29))
        #expect(!station.said().contains { $0.contains("stuck") })
        station.pass(.seconds(2))
        #expect(station.said() == ["button bell stuck: pressed for 30 s"])
        station.handle(.level(.button("bell"), high: true, at: station.now))
        station.pass(.seconds(1))
        #expect(station.said() == ["button bell stuck: cleared"])
    }

    @Test func openedByRightIsOpenThenHeldOpenThenClosed() {
        var station = station { $0.onHeldOpen = [.ring] }
        #expect(station.open() == nil)
        station.pass(.seconds(1))
        station.handle(.level(.sensor(door: "front"), high: true, at: station.now))
        station.pass(.milliseconds(20))
        #expect(state(station) == .open)
        #expect(light(station) == .doorOpen)
        _ = station.said()
        // The relay falls at 5 s; from then on the door may stand open for a minute.
        station.pass(.seconds(63))
        #expect(!station.said().contains("start ringing here"))
        station.pass(.seconds(1))
        #expect(state(station) == .heldOpen)
        #expect(light(station) == .doorHeldOpen)
        #expect(station.said() == ["start ringing here"])
        station.pass(.seconds(10))
        #expect(station.said() == ["stop ringing"])
        station.handle(.level(.sensor(door: "front"), high: false, at: station.now))
        station.pass(.milliseconds(20))
        #expect(station.doorEvents() == ["front closed at rest by sensor"])
        #expect(light(station) == .registered)
    }

    @Test func openedUnbiddenIsForcedAndCallsForHelp() {
        var station = station { $0.onForced = [.dial(DialTarget(.name("family"))), .ring] }
        station.handle(.level(.sensor(door: "front"), high: true, at: station.now))
        station.pass(.milliseconds(19))
        #expect(state(station) == .closed)
        station.pass(.milliseconds(1))
        #expect(state(station) == .forced)
        #expect(light(station) == .doorForced)
        #expect(station.said() == ["dial c1 sip:100@pbx.example house", "start ringing here"])
        station.pass(.seconds(600))
        #expect(state(station) == .forced)
        station.handle(.level(.sensor(door: "front"), high: false, at: station.now))
        station.pass(.seconds(1))
        #expect(state(station) == .closed)
    }

    /// A latch stays open until the door is, so 3 s after the relay it is still no break-in; once through it is over.
    @Test(arguments: [(7.9, false, DoorState.open), (8.1, false, .forced), (6, true, .forced)])
    func afterTheRelayThereIsALittleTime(seconds: Double, wentThrough: Bool, expected: DoorState) {
        var station = station()
        #expect(station.open() == nil)
        if wentThrough {
            station.pass(.seconds(1))
            for open in [true, false] {
                station.handle(.level(.sensor(door: "front"), high: open, at: station.now))
                station.pass(.milliseconds(100))
            }
            station.pass(.seconds(4))
            for open in [true, false] {
                station.handle(.level(.sensor(door: "front"), high: open, at: station.now))
                station.pass(.milliseconds(30))
            }
        }
        station.pass(.zero + .milliseconds(Int(seconds * 1000)) - (station.now - .zero))
        station.handle(.level(.sensor(door: "front"), high: true, at: station.now))
        station.pass(.milliseconds(20))
        #expect(state(station) == expected)
    }

    @Test func anOpenDoorAtTheStartIsNoBreakIn() {
        var station = station { $0.onForced = [.ring] }
        station.handle(.opened(.sensor(door: "front"), high: true))
        station.pass(.seconds(59))
        #expect(state(station) == .open)
        #expect(station.doorEvents() == ["front open at rest by sensor"])
        station.pass(.seconds(1))
        #expect(state(station) == .heldOpen)
    }

    @Test func tamperingIsAFaultWithItsReactionAndLight() {
        var station = station { $0.onTamper = [.open(door: "front")] }
        station.handle(.level(.tamper(door: "front"), high: true, at: station.now))
        station.pass(.milliseconds(20))
        #expect(station.said() == ["door front tamper: somebody is at the box", "relay front on"])
        #expect(light(station) == .tamper)
        station.handle(.level(.tamper(door: "front"), high: false, at: station.now))
        station.pass(.milliseconds(20))
        #expect(station.said() == ["door front tamper: cleared"])
    }

    /// At once with `edge`, after 20 ms with `stable`.
    @Test func theTwoFilters() {
        for (filter, milliseconds) in [(InputFilter.edge, 0), (.stable, 20)] {
            var station = station { $0.filter = filter }
            station.handle(.level(.exitButton(door: "front"), high: false, at: station.now))
            #expect(station.relays(.seconds(1)).first == "relay front on \(milliseconds)", "\(filter)")
        }
    }

    @Test func reloadKeepsWhatTheContactsHaveTold() {
        var station = station()
        station.handle(.level(.sensor(door: "front"), high: true, at: station.now))
        station.pass(.milliseconds(20))
        var configuration = Station.configuration
        configuration.doors[0].sensor = .simulated("contact")
        configuration.doors[0].heldOpen = .seconds(5)
        station.handle(.configure(configuration))
        #expect(state(station) == .forced)
        configuration.doors[0].sensor = .simulated("another")
        station.handle(.configure(configuration))
        #expect(state(station) == nil)
    }
}
