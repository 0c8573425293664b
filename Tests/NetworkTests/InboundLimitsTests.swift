@testable import Network
import Primitives
import Testing

@Suite struct InboundLimitsTests {
    private let start = Instant.zero
    private func address(_ last: Int) -> IPAddress { .v4(0xC000_0200 + UInt32(last)) }

    @Test("SEC4: the oldest unknown one makes room") func theOldestUnknownOneMakesRoom() {
        var limits = InboundLimits()
        for number in 1...64 {
            let known = number <= 2
            #expect(
                limits.admit(UInt64(number), from: address(number), isKnown: known, at: start)
                    == .admitted(closing: nil))
        }
        #expect(limits.admit(65, from: address(65), isKnown: false, at: start) == .admitted(closing: 3))
        #expect(limits.admit(66, from: address(65), isKnown: true, at: start) == .admitted(closing: 4))
    }

    @Test func knownPeersAloneAreNotThrownOut() {
        var limits = InboundLimits()
        for number in 1...64 { _ = limits.admit(UInt64(number), from: address(1), isKnown: true, at: start) }
        #expect(limits.admit(65, from: address(2), isKnown: true, at: start) == .refused)
        limits.remove(7)
        #expect(limits.admit(65, from: address(2), isKnown: false, at: start) == .admitted(closing: nil))
    }

    @Test func addressesOfOneIPv6NetworkCountTogether() {
        var limits = InboundLimits()
        for low in 1...4 as ClosedRange<UInt64> {
            let address = IPAddress.v6(high: 0x2001_0DB8_0000_0000, low: low, zone: 0)
            #expect(limits.admit(low, from: address, isKnown: false, at: start) == .admitted(closing: nil))
        }
        let fifth = IPAddress.v6(high: 0x2001_0DB8_0000_0000, low: 99, zone: 0)
        #expect(limits.admit(5, from: fifth, isKnown: false, at: start) == .refused)
        let other = IPAddress.v6(high: 0x2001_0DB8_0000_0001, low: 99, zone: 0)
        #expect(limits.admit(5, from: other, isKnown: false, at: start) == .admitted(closing: nil))
    }

    @Test("SEC4: quiet connections go") func quietConnectionsGo() {
        var limits = InboundLimits()
        #expect(limits.deadline == nil)
        _ = limits.admit(1, from: address(1), isKnown: false, at: start)
        _ = limits.admit(2, from: address(1), isKnown: false, at: start)
        limits.touch(2, at: start + .seconds(1))
        #expect(limits.deadline == start + .seconds(10))
        #expect(limits.expire(at: start + .seconds(9)) == [])
        #expect(limits.expire(at: start + .seconds(10)) == [1])
        #expect(limits.deadline == start + .seconds(901))
        #expect(limits.expire(at: start + .seconds(901)) == [2])
        #expect(limits.deadline == nil)
    }
}
