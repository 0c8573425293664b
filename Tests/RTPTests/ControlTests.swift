import Primitives
import RTP
import SDP
import Testing

struct ControlTests {
    private static let cname = Array("k3v9q2".utf8)

    private static func parts(_ packet: [UInt8]) -> [RTCPPacket] {
        guard var reader = RTCPReader(packet, count: packet.count) else { return [] }
        var parts: [RTCPPacket] = []
        while let part = reader.next(of: packet) { parts.append(part) }
        return parts
    }

    @Test(arguments: 0...9)
    func whatIsWrittenIsRead(_ length: Int) throws {
        let info = SenderInfo(ntpTime: 0x0102_0304_0506_0708, rtpTimestamp: 9, packets: 10, octets: 11)
        let block = ReportBlock(
            source: 5, fractionLost: 12, cumulativeLost: -3, extendedHighest: 70_000, jitter: 14, lastReport: 15,
            delaySinceLastReport: 16)
        var packet: [UInt8] = []
        let name = [UInt8](repeating: 0x61, count: length)
        RTCPWriter.report(into: &packet, source: 77, info: info, block: block, cname: name)
        #expect(packet.count % 4 == 0)
        let parts = Self.parts(packet)
        #expect(parts.map(\.type) == [200, 202])
        guard case .senderReport(77, info, let blocks) = parts[0], case .sourceDescription(let chunks) = parts[1] else {
            Issue.record("other packets than written")
            return
        }
        #expect(ReportBlock(packet, at: blocks.lowerBound) == block)
        #expect(RTCPReader.cname(in: chunks, of: packet).map { Array(packet[$0]) } == name)

        RTCPWriter.report(into: &packet, source: 77, info: nil, block: nil, cname: name)
        #expect(Self.parts(packet).map(\.type) == [201, 202])
        RTCPWriter.goodbye(into: &packet, source: 77, cname: name)
        let ending = Self.parts(packet)
        #expect(ending.map(\.type) == [201, 202, 203])
        guard case .goodbye(let sources, nil)? = ending.last else {
            Issue.record("no BYE")
            return
        }
        #expect(Array(packet[sources]) == [0, 0, 0, 77])
    }

    private static func header(_ sequence: UInt16, _ timestamp: UInt32, source: UInt32 = 5) -> RTPHeader {
        var packet = [UInt8](repeating: 0, count: 12)
        RTPHeader.write(
            into: &packet, marker: false, payloadType: 8, sequence: sequence, timestamp: timestamp, ssrc: source)
        guard let header = RTPHeader(packet, count: 12) else { preconditionFailure("a written header is read") }
        return header
    }

    @Test func lossAndJitterAreReported() throws {
        var statistics = ReceptionStatistics(clockRate: 8_000)
        #expect(statistics.report(at: .zero) == nil)
        for number in 0..<100 where number % 10 != 5 {
            // Every other packet comes 10 ms late: 80 units of difference each time.
            let late = number % 2 == 0 ? Duration.zero : .milliseconds(10)
            let header = Self.header(UInt16(truncatingIfNeeded: 65_480 + number), UInt32(number * 160))
            #expect(statistics.receive(header, at: .zero + .milliseconds(20 * number) + late) == .counted)
        }
        #expect(statistics.expected == 100)
        #expect(statistics.lost == 10)
        #expect(statistics.extendedHighest == 65_579)
        #expect(statistics.jitter > .milliseconds(7) && statistics.jitter <= .milliseconds(10))
        statistics.receive(
            SenderInfo(ntpTime: 0x1111_2222_3333_4444, rtpTimestamp: 0, packets: 0, octets: 0), from: 5, at: .zero)
        let report = statistics.report(at: .zero + .seconds(2))
        let first = try #require(report)
        #expect(first.fractionLost == 25)
        #expect(first.cumulativeLost == 10)
        #expect(first.lastReport == 0x2222_3333)
        #expect(first.delaySinceLastReport == 131_072)
        // Nothing was lost since.
        _ = statistics.receive(Self.header(44, 16_000), at: .zero + .seconds(2))
        #expect(statistics.report(at: .zero + .seconds(3))?.fractionLost == 0)
    }

    @Test func duplicatesMakeLossNegative() throws {
        var statistics = ReceptionStatistics(clockRate: 8_000)
        for _ in 0..<3 { _ = statistics.receive(Self.header(1, 0), at: .zero) }
        #expect(statistics.lost == -2)
        #expect(statistics.report(at: .zero)?.fractionLost == 0)
    }

    @Test func aNewSourceIsBelievedAtItsSecondPacket() {
        var statistics = ReceptionStatistics(clockRate: 8_000)
        #expect(statistics.receive(Self.header(1, 0), at: .zero) == .counted)
        #expect(statistics.receive(Self.header(900, 0, source: 6), at: .zero) == .doubted)
        #expect(statistics.receive(Self.header(2, 160), at: .zero) == .counted)
        // The doubt ended with a packet of the old source.
        #expect(statistics.receive(Self.header(901, 0, source: 6), at: .zero) == .doubted)
        #expect(statistics.receive(Self.header(902, 0, source: 6), at: .zero) == .restarted)
        #expect(statistics.source == 6)
        #expect(statistics.lost == 0)
    }

    @Test func roundTripIsTimeLessTheirDelay() throws {
        let sent = Instant.zero + .seconds(100)
        let last = UInt32(truncatingIfNeeded: ntpTime(sent) >> 16)
        let block = ReportBlock(
            source: 1, fractionLost: 0, cumulativeLost: 0, extendedHighest: 0, jitter: 0, lastReport: last,
            delaySinceLastReport: 65_536 * 3)
        let trip = try #require(CallQuality.roundTrip(block, at: sent + .milliseconds(3_080)))
        #expect(abs(trip.inMilliseconds - 80) < 0.1)
        #expect(CallQuality.roundTrip(block, at: sent + .seconds(200)) == nil)
        #expect(CallQuality.roundTrip(block, at: sent) == nil)
    }

    @Test func opinionFallsWithLossAndDelay() {
        let good = CallQuality.meanOpinionScore(codec: .pcma, loss: 0, delay: .milliseconds(60))
        #expect(good > 4.3 && good <= 4.5)
        var last = good
        for loss in [0.01, 0.03, 0.1, 0.5, 1] {
            let score = CallQuality.meanOpinionScore(codec: .pcma, loss: loss, delay: .milliseconds(60))
            #expect(score < last && score >= 1)
            last = score
        }
        #expect(CallQuality.meanOpinionScore(codec: .opus, loss: 0, delay: .milliseconds(600)) < good - 1)
        #expect(CallQuality.meanOpinionScore(codec: .opus, loss: .nan, delay: .seconds(99_999)) >= 1)
    }

    @Test func streamsBeginAtRandomAndCount() throws {
        var randomness = Randomness.seeded(4)
        var sources: Set<UInt32> = []
        var packet = [UInt8](repeating: 0, count: 172)
        for _ in 0..<200 {
            var stream = OutgoingStream(randomness: &randomness)
            sources.insert(stream.ssrc)
            stream.writeHeader(into: &packet, payloadType: 8, marker: true, timestamp: 0, payloadCount: 160, at: .zero)
            let first = try #require(RTPHeader(packet, count: 172))
            #expect(first.sequence < 0x8000)
            #expect(first.marker && first.payload == 12..<172)
            stream.writeHeader(
                into: &packet, payloadType: 8, marker: false, timestamp: 160, payloadCount: 160, at: .zero)
            let second = try #require(RTPHeader(packet, count: 172))
            #expect(second.sequence == first.sequence &+ 1)
            #expect(second.timestamp == first.timestamp &+ 160)
            #expect(stream.packets == 2 && stream.octets == 320)
            #expect(stream.lastTimestamp?.timestamp == second.timestamp)
        }
        #expect(sources.count == 200)
    }

    @Test func aCollisionChangesTheSourceButAMirrorDoesNot() {
        var randomness = Randomness.seeded(4)
        var stream = OutgoingStream(randomness: &randomness)
        let first = stream.ssrc
        #expect(stream.resolveCollision(randomness: &randomness) == first)
        #expect(stream.ssrc != first)
        #expect(stream.resolveCollision(randomness: &randomness) != nil)
        let last = stream.ssrc
        #expect(stream.resolveCollision(randomness: &randomness) == nil)
        #expect(stream.ssrc == last)
    }
}
