import Configuration
import Intercom
import Primitives
import Testing
import UserAgent

/// Calls that take the place of others, as the door sees it.
@Suite struct TransferTests {
    private func transfer(_ station: inout Station, to target: String, _ call: CallKey? = nil) throws -> [String] {
        _ = station.said()
        _ = try station.intercom.request(.transfer(call, to: target), at: station.now, &station.out)
        return station.said()
    }

    @Test func targetIsAContactAURIOrACall() throws {
        var station = Station { $0.call.secondCall = .accept }
        let first = station.incoming()
        station.status(first, .talking)
        let toContact = try transfer(&station, to: "kitchen")
        #expect(toContact == ["transfer c1 sip:100@pbx.example"])
        let toURI = try transfer(&station, to: "sip:7@x.example")
        #expect(toURI == ["transfer c1 sip:7@x.example"])
        let second = station.incoming(from: "200")
        #expect(throws: IntercomRefusal.impossible("call c2 is incoming")) {
            try transfer(&station, to: "c2", first)
        }
        station.status(second, .talking)
        let toCall = try transfer(&station, to: "c2", first)
        #expect(toCall == ["transfer c1 c2"])
        #expect(throws: IntercomRefusal.impossible("call c1 cannot be transferred to itself")) {
            try transfer(&station, to: "c1", first)
        }
        #expect(throws: IntercomRefusal.unknown("no call c9")) { try transfer(&station, to: "c9") }
        #expect(throws: IntercomRefusal.unknown("no contact or call named nobody")) {
            try transfer(&station, to: "nobody")
        }
        #expect(throws: IntercomRefusal.impossible("family is a group: a call goes to one place")) {
            try transfer(&station, to: "family")
        }
    }

    @Test func nothingToTransfer() {
        var station = Station()
        #expect(throws: IntercomRefusal.impossible("no call to transfer")) { try transfer(&station, to: "kitchen") }
    }

    private func referral(_ station: inout Station, of call: CallKey) -> CallKey {
        let new = station.numbering.next()
        var status = TransferStatus(
            call: call, target: Station.uri("sip:300@pbx.example"), state: .started, isAskedByPeer: true)
        status.other = new
        station.handle(.transfer(status))
        return new
    }

    /// The call that the other side asks for carries the dial on: the bell ends it, and it has the time that is left.
    @Test func transferredDialGoesOn() {
        var station = Station()
        station.press()
        station.status(CallKey(1), .talking)
        let new = referral(&station, of: CallKey(1))
        station.pass(.seconds(60))
        station.status(new, .talking)
        station.status(CallKey(1), .ended, cause: "transferred")
        #expect(!station.said().contains("tone ended"))
        #expect(station.intercom.group(of: new) == "family")
        station.pass(.seconds(239))
        #expect(station.said().isEmpty)
        station.pass(.seconds(2))
        #expect(station.said() == ["hangup \(new) tooLong"])
    }

    @Test func secondPressEndsTheTransferredCall() {
        var station = Station()
        station.press()
        station.status(CallKey(1), .talking)
        let new = referral(&station, of: CallKey(1))
        station.status(new, .talking)
        station.status(CallKey(1), .ended, cause: "transferred")
        station.pass(.seconds(6))
        _ = station.said()
        station.press()
        #expect(station.said().contains("hangup \(new) normal"))
    }

    /// A transfer that fails leaves the call as it was.
    @Test func failedTransferLeavesTheCall() {
        var station = Station()
        station.press()
        station.status(CallKey(1), .talking)
        let new = referral(&station, of: CallKey(1))
        station.status(new, .ended, cause: "busy")
        #expect(station.intercom.group(of: CallKey(1)) == "family")
        station.pass(.seconds(6))
        _ = station.said()
        station.press()
        #expect(station.said().contains("hangup c1 normal"))
    }

    /// D15: a call that replaces one neither rings nor is a second call, and ends the other phones of the group.
    @Test func replacingCallTakesTheGroup() {
        var station = Station { $0.groups[0].order = .parallel }
        station.press()
        station.status(CallKey(1), .ringing)
        station.status(CallKey(2), .ringing)
        _ = station.said()
        let new = station.incoming(from: "300", replacing: CallKey(1))
        #expect(station.said().isEmpty)
        station.status(new, .talking)
        #expect(station.said() == ["hangup c2 answeredElsewhere", "tone none"])
        station.status(CallKey(1), .ended, cause: "answered-elsewhere")
        station.status(CallKey(2), .ended, cause: "answered-elsewhere")
        #expect(station.intercom.group(of: new) == "family")
    }

    /// D15: the rights to unlock are judged by who talks now, and codes begun with the former are void.
    @Test func rightsToUnlockAreTheNewPeers() {
        for (user, opens) in [("300", false), ("100", true)] {
            var station = Station { configuration in
                configuration.doors[0].codeFrom = .callers(["sip:100@pbx.example"].compactMap { CallerPattern($0) })
            }
            station.press()
            station.status(CallKey(1), .talking)
            station.key("47", in: CallKey(1))
            let new = station.incoming(from: user, replacing: CallKey(1))
            station.status(new, .talking)
            station.key("11", in: new)
            _ = station.said()
            station.pass(.seconds(10))
            _ = station.said()
            station.key("4711", in: new)
            #expect(station.said().contains("relay front on") == opens)
        }
    }
}
