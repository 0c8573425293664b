import Primitives
import RTP
import Testing

/// SEC7, from both sides of each condition.
struct SourceLatchTests {
    private static let described = SocketAddress(.v4(0xC000_0228), 40_000)
    private static let otherPort = SocketAddress(.v4(0xC000_0228), 41_234)
    private static let elsewhere = SocketAddress(.v4(0xC633_6401), 50_000)

    private static func header(_ sequence: UInt16, source: UInt32 = 1) -> RTPHeader {
        var packet = [UInt8](repeating: 0, count: 12)
        RTPHeader.write(into: &packet, marker: false, payloadType: 8, sequence: sequence, timestamp: 0, ssrc: source)
        guard let header = RTPHeader(packet, count: 12) else { preconditionFailure("a written header is read") }
        return header
    }

    @Test func theDescribedAddressIsTakenAtOnce() {
        var latch = SourceLatch(remote: Self.described)
        #expect(latch.accept(Self.header(1), from: Self.described, isNegotiated: true, at: .zero) == true)
        for sequence in UInt16(2)..<10 {
            #expect(latch.accept(Self.header(sequence), from: Self.elsewhere, isNegotiated: true, at: .zero) == false)
            #expect(latch.accept(Self.header(sequence), from: Self.otherPort, isNegotiated: true, at: .zero) == false)
        }
        #expect(latch.remote == Self.described)
        #expect(latch.dropped == 16)
    }

    @Test func anotherAddressNeedsTwoPacketsInSequence() {
        var latch = SourceLatch(remote: Self.described)
        #expect(latch.accept(Self.header(1), from: Self.elsewhere, isNegotiated: true, at: .zero) == false)
        #expect(latch.accept(Self.header(3), from: Self.elsewhere, isNegotiated: true, at: .zero) == false)
        #expect(latch.accept(Self.header(4, source: 2), from: Self.elsewhere, isNegotiated: true, at: .zero) == false)
        #expect(latch.remote == Self.described)
        #expect(latch.accept(Self.header(5, source: 2), from: Self.elsewhere, isNegotiated: true, at: .zero) == true)
        #expect(latch.remote == Self.elsewhere)
        #expect(latch.isLatched)
        #expect(latch.accept(Self.header(6, source: 2), from: Self.elsewhere, isNegotiated: true, at: .zero) == true)
        // Once only.
        #expect(latch.accept(Self.header(1), from: Self.otherPort, isNegotiated: true, at: .zero) == false)
        #expect(latch.accept(Self.header(2), from: Self.otherPort, isNegotiated: true, at: .zero) == false)
        #expect(latch.accept(Self.header(9), from: Self.described, isNegotiated: true, at: .zero) == false)
        #expect(latch.acceptsControl(from: SocketAddress(Self.elsewhere.address, 50_001)))
        #expect(!latch.acceptsControl(from: Self.described))
    }

    @Test func otherPayloadTypesDoNotLatch() {
        var latch = SourceLatch(remote: Self.described)
        for sequence in UInt16(1)..<9 {
            #expect(latch.accept(Self.header(sequence), from: Self.elsewhere, isNegotiated: false, at: .zero) == false)
        }
        #expect(latch.remote == Self.described)
    }

    @Test func anyAddressOnlyInTheFirstTwoSeconds() {
        var latch = SourceLatch(remote: Self.described)
        #expect(latch.accept(Self.header(1), from: Self.elsewhere, isNegotiated: true, at: .zero) == false)
        let late = Instant.zero + .milliseconds(2_001)
        #expect(latch.accept(Self.header(2), from: Self.elsewhere, isNegotiated: true, at: late) == false)
        #expect(latch.accept(Self.header(3), from: Self.elsewhere, isNegotiated: true, at: late) == false)
        // The same host behind another port may come later.
        #expect(latch.accept(Self.header(7), from: Self.otherPort, isNegotiated: true, at: late) == false)
        #expect(latch.accept(Self.header(8), from: Self.otherPort, isNegotiated: true, at: late) == true)
        #expect(latch.remote == Self.otherPort)
    }

    @Test func aNewDescriptionOpensItAgain() {
        var latch = SourceLatch(remote: Self.described)
        #expect(latch.accept(Self.header(1), from: Self.described, isNegotiated: true, at: .zero) == true)
        latch.rearm(remote: Self.otherPort)
        #expect(!latch.isLatched)
        let later = Instant.zero + .seconds(60)
        #expect(latch.accept(Self.header(1), from: Self.elsewhere, isNegotiated: true, at: later) == false)
        #expect(latch.accept(Self.header(2), from: Self.elsewhere, isNegotiated: true, at: later) == true)
    }

    @Test func withoutLatchingNothingMoves() {
        var latch = SourceLatch(remote: Self.described, isSymmetric: false)
        #expect(latch.accept(Self.header(1), from: Self.otherPort, isNegotiated: true, at: .zero) == true)
        #expect(latch.accept(Self.header(1), from: Self.elsewhere, isNegotiated: true, at: .zero) == false)
        #expect(latch.accept(Self.header(2), from: Self.elsewhere, isNegotiated: true, at: .zero) == false)
        #expect(latch.remote == Self.described)
    }
}
