import Primitives
import RTP
import Testing

/// Any octets: no trap, and ranges within the datagram (SEC12).
struct FuzzTests {
    /// The packets of the cases, and what bit flips, cuts and noise make of them.
    private static func inputs(_ seed: UInt64) -> [[UInt8]] {
        var randomness = Randomness.seeded(seed)
        var inputs: [[UInt8]] = []
        for packet in Case.of("packets").flatMap(\.packets) {
            for _ in 0..<40 {
                var changed = packet
                for _ in 0..<Int.random(in: 0...4, using: &randomness) where !changed.isEmpty {
                    changed[Int.random(in: changed.indices, using: &randomness)] = UInt8.random(
                        in: 0...255, using: &randomness)
                }
                if Bool.random(using: &randomness) {
                    changed.removeLast(Int.random(in: 0...changed.count, using: &randomness))
                }
                if Int.random(in: 0..<8, using: &randomness) == 0 {
                    changed += randomness.octets(Int.random(in: 0...64, using: &randomness))
                }
                inputs.append(changed)
            }
        }
        return inputs
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func packets(_ seed: UInt64) {
        var randomness = Randomness.seeded(seed)
        var buffer = JitterBuffer(clockRate: 8_000)
        var statistics = ReceptionStatistics(clockRate: 48_000)
        var receiver = DTMFReceiver()
        var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
        var now = Instant.zero
        for packet in Self.inputs(seed) {
            now += .milliseconds(Int.random(in: -50...500, using: &randomness))
            _ = PacketKind(packet, count: packet.count)
            if let header = RTPHeader(packet, count: packet.count) {
                #expect(header.payload.upperBound <= packet.count)
                for index in 0..<header.contributorCount { _ = header.contributor(index, of: packet) }
                for name in UInt8(0)...16 {
                    if let range = header.extensionElement(name, of: packet) {
                        #expect(range.upperBound <= packet.count)
                    }
                }
                _ = receiver.receive(packet, header, at: now)
                _ = statistics.receive(header, at: now)
                let content: JitterBuffer.Content =
                    [.audio, .comfortNoise, .other].randomElement(using: &randomness) ?? .audio
                _ = buffer.insert(packet, header, content: content, at: now)
            }
            for reducedSize in [false, true] {
                guard var reader = RTCPReader(packet, count: packet.count, reducedSize: reducedSize) else { continue }
                while let part = reader.next(of: packet) {
                    _ = RTCPFeedback(part, of: packet)
                    switch part {
                    case .senderReport(let source, let info, let blocks):
                        statistics.receive(info, from: source, at: now)
                        #expect(blocks.upperBound <= packet.count)
                        if let block = ReportBlock(packet, at: blocks.lowerBound) {
                            _ = CallQuality.roundTrip(block, at: now)
                        }
                    case .sourceDescription(let chunks):
                        if let name = RTCPReader.cname(in: chunks, of: packet) {
                            #expect(name.upperBound <= packet.count)
                        }
                    case .goodbye(_, let reason?): #expect(reason.upperBound <= packet.count)
                    default: break
                    }
                }
            }
            _ = receiver.expire(at: now)
            _ = statistics.report(at: now)
            if case .packet(_, let count, _) = buffer.pull(
                at: now, isQuiet: Bool.random(using: &randomness), into: &frame)
            {
                #expect(count <= frame.count)
            }
        }
    }

    /// Random numbers in otherwise good packets: the buffer's arithmetic under wraps and jumps.
    @Test(arguments: [UInt64(5), 6, 7, 8])
    func sequences(_ seed: UInt64) {
        var randomness = Randomness.seeded(seed)
        var buffer = JitterBuffer(clockRate: 48_000)
        var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
        var packet = [UInt8](repeating: 0, count: 40)
        var now = Instant(nanoseconds: Int64.random(in: 0...(.max / 4), using: &randomness))
        var sequence: UInt16 = 65_000
        var timestamp: UInt32 = .max - 10_000
        for _ in 0..<20_000 {
            now += .milliseconds(Int.random(in: 0...30, using: &randomness))
            switch Int.random(in: 0..<40, using: &randomness) {
            case 0: sequence = UInt16.random(in: 0...(.max), using: &randomness)
            case 1: timestamp = UInt32.random(in: 0...(.max), using: &randomness)
            case 2: now += .seconds(Int.random(in: 0...100_000, using: &randomness))
            case 3: sequence &-= UInt16.random(in: 0...200, using: &randomness)
            default:
                sequence &+= 1
                timestamp &+= 960
            }
            RTPHeader.write(
                into: &packet, marker: false, payloadType: 111, sequence: sequence, timestamp: timestamp, ssrc: 1)
            if let header = RTPHeader(packet, count: 40) { _ = buffer.insert(packet, header, at: now) }
            if Int.random(in: 0..<3, using: &randomness) > 0 {
                _ = buffer.pull(at: now, isQuiet: Bool.random(using: &randomness), into: &frame)
            }
            #expect(buffer.target >= JitterBuffer.shortestDelay && buffer.target <= JitterBuffer.longestDelay)
        }
    }
}
