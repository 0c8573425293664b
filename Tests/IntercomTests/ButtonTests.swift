import Configuration
import Intercom
import Primitives
import Testing
import UserAgent

@Suite struct DebouncerTests {
    @Test func aSpikeShorterThanThePeriodNeverCounts() {
        var debouncer = Debouncer(period: .milliseconds(20), level: false)
        var now = Instant.zero
        for _ in 0..<500 {
            #expect(debouncer.edge(to: true, at: now).isEmpty)
            #expect(debouncer.edge(to: false, at: now + .milliseconds(19)).isEmpty)
            now += .milliseconds(40)
        }
        #expect(debouncer.settle(at: now + .seconds(10)).isEmpty)
    }

    /// The first edge counts at once; what bounces after it does not, unless it stays.
    @Test func theEdgeFilterIsFastAndThenHoldsOff() {
        var debouncer = Debouncer(period: .milliseconds(20), filter: .edge, level: false)
        #expect(debouncer.edge(to: true, at: .zero).map(\.level) == [true])
        for bounce in 1..<10 {
            #expect(debouncer.edge(to: bounce.isMultiple(of: 2), at: .zero + .milliseconds(bounce)).isEmpty)
        }
        #expect(debouncer.deadline == .zero + .milliseconds(20))
        let changes = debouncer.settle(at: .zero + .milliseconds(20))
        #expect(changes.map(\.level) == [false])
        #expect(debouncer.edge(to: true, at: .zero + .milliseconds(30)).isEmpty)
        #expect(debouncer.edge(to: true, at: .zero + .milliseconds(41)).map(\.level) == [true])
    }

    @Test func aThousandBouncingEdgesAreOnePress() {
        var debouncer = Debouncer(period: .milliseconds(20), level: false)
        var changes = 0
        for edge in 0..<1001 {
            changes += debouncer.edge(to: edge.isMultiple(of: 2), at: .zero + .milliseconds(edge)).count
        }
        changes += debouncer.settle(at: .zero + .seconds(2)).count
        #expect(changes == 1)
        #expect(debouncer.level)
    }

    @Test func pressesReadLateAreAllCounted() {
        var debouncer = Debouncer(period: .milliseconds(20), level: false)
        var changes: [(level: Bool, at: Instant)] = []
        for press in 0..<10 {
            let start = Instant.zero + .milliseconds(100 * press)
            changes += debouncer.edge(to: true, at: start)
            changes += debouncer.edge(to: false, at: start + .milliseconds(50))
        }
        changes += debouncer.settle(at: .zero + .seconds(5))
        #expect(changes.filter(\.level).count == 10)
        #expect(changes.first?.at == .zero + .milliseconds(20))
    }
}

@Suite struct ButtonTests {
    @Test func aPressDials() {
        var station = Station()
        station.press()
        #expect(station.said() == ["dial c1 sip:100@pbx.example house"])
    }

    @Test func aSpikeDoesNot() {
        var station = Station()
        station.press(for: .milliseconds(10))
        station.pass(.seconds(1))
        #expect(station.said() == [])
    }

    @Test func tenPressesAreTenPresses() {
        var station = Station {
            $0.buttons[0].press = .open(door: "front"); $0.doors[0].openTime = .milliseconds(10)
        }
        for _ in 0..<10 { station.press() }
        #expect(station.said().filter { $0 == "relay front on" }.count == 10)
    }

    @Test func aVirtualPressGoesTheSameWay() {
        var station = Station()
        station.handle(.press(button: "bell", for: .milliseconds(5)))
        #expect(station.said() == [])
        station.pass(.milliseconds(50))
        #expect(station.said() == ["dial c1 sip:100@pbx.example house"])
        station.pass(.seconds(1))
        #expect(station.intercom.buttonStatuses.first?.pressed == false)
    }

    @Test func virtualPressesInQuickOrderAreAllPresses() {
        var station = Station {
            $0.buttons[0].press = .open(door: "front")
            $0.doors[0].openTime = .milliseconds(1)
        }
        for _ in 0..<10 { station.handle(.press(button: "bell", for: .milliseconds(50))) }
        station.pass(.seconds(2))
        #expect(station.said().filter { $0 == "relay front on" }.count == 10)
        #expect(station.intercom.deadline == nil)
    }

    @Test func holdActsWhenItsTimeHasComeAndPressOnlyBefore() {
        var station = Station { $0.buttons[0].hold = .open(door: "front") }
        station.press(for: .seconds(3))
        #expect(station.said() == ["relay front on"])
        station.press(for: .seconds(1))
        #expect(station.said().first == "dial c1 sip:100@pbx.example house")
    }

    @Test func theSecondPressEndsTheCallButNotWithinFiveSeconds() {
        var station = Station()
        station.press()
        _ = station.said()
        station.pass(.seconds(1))
        station.press()
        #expect(station.said() == [])
        station.pass(.seconds(5))
        station.press()
        #expect(station.said() == ["hangup c1 normal"])
        station.status(CallKey(1), .ended, cause: "cancelled")
        #expect(station.said() == [])
        station.press()
        #expect(station.said() == ["dial c2 sip:100@pbx.example house"])
    }

    @Test func whileRingingOverridesPress() {
        var station = Station()
        let call = station.incoming()
        #expect(station.said() == ["ring c1", "start ringing house"])
        station.press()
        #expect(station.said() == ["answer \(call)", "stop ringing"])
    }

    @Test func anAnswerPressedBeforeTheCallIsRememberedOnce() {
        var station = Station {
            $0.buttons[0].press = .answer
            $0.call.answerArm = .seconds(5)
            $0.call.secondCall = .accept
        }
        station.press()
        station.pass(.seconds(2))
        #expect(station.incoming() == CallKey(1))
        #expect(station.said() == ["answer c1 by itself"])
        _ = station.incoming()
        #expect(station.said() == ["ring c2", "start ringing house"])
    }
}
