import Media
import Primitives
import Testing

@Suite struct RTPPortsTests {
    /// A clock that only tests move.
    final class Time {
        var now = Instant.zero
    }

    @Test func pairsAreEvenRandomAndAllFound() throws {
        let time = Time()
        let ports = RTPPorts(range: 30_001...30_040, randomness: .seeded(1)) { time.now }
        var pairs: [RTPPortPair] = []
        while let pair = ports.reserve(on: .loopbackV4) { pairs.append(pair) }
        let numbers = pairs.map(\.local.port)
        #expect(numbers.sorted() == Array(stride(from: UInt16(30_002), to: 30_040, by: 2)))
        #expect(numbers != numbers.sorted())
        #expect(pairs.allSatisfy { $0.local.address == .loopbackV4 })
    }

    @Test func portsRestForFiveSeconds() throws {
        let time = Time()
        let ports = RTPPorts(range: 30_100...30_103) { time.now }
        var pairs = [ports.reserve(on: .loopbackV4), ports.reserve(on: .loopbackV4)]
        #expect(pairs.allSatisfy { $0 != nil })
        #expect(ports.reserve(on: .loopbackV4) == nil)
        let freed = pairs.removeFirst()?.local.port
        #expect(ports.reserve(on: .loopbackV4) == nil)
        time.now += .milliseconds(4999)
        #expect(ports.reserve(on: .loopbackV4) == nil)
        time.now += .milliseconds(1)
        #expect(ports.reserve(on: .loopbackV4)?.local.port == freed)
    }

    @Test func portsOfOthersAreLeftAlone() throws {
        let ours = RTPPorts(range: 30_200...30_203)
        let others = RTPPorts(range: 30_200...30_201)
        let taken = try #require(others.reserve(on: .loopbackV4))
        let pair = try #require(ours.reserve(on: .loopbackV4))
        #expect(taken.local.port == 30_200 && pair.local.port == 30_202)
        #expect(ours.reserve(on: .loopbackV4) == nil)
    }

    @Test func foreignAddressesAndEmptyRangesGiveNothing() {
        #expect(RTPPorts(range: 30_300...30_399).reserve(on: .v4(0xC000_0207)) == nil)
        #expect(RTPPorts(range: 30_301...30_302).reserve(on: .loopbackV4) == nil)
        #expect(RTPPorts(range: 65_535...65_535).reserve(on: .loopbackV4) == nil)
    }

    @Test func addressesOfVersionSixWork() throws {
        let ports = RTPPorts(range: 30_400...30_499)
        let pair = try #require(ports.reserve(on: .v6(high: 0, low: 1, zone: 0)))
        #expect(pair.local.address.isV6)
    }
}
