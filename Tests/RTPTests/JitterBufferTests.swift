import Primitives
import RTP
import Testing

/// A sender, a network with faults and a player, by a seed.
struct Line {
    /// What the network does.
    struct Faults {
        var loss = 0.0
        var duplication = 0.0
        /// Extra delay of each packet is uniform in 0…this.
        var jitter: Duration = .zero
        /// Sender's clock against ours: 1.0001 is 100 ppm fast.
        var drift = 1.0
        /// Nothing arrives in these spans; what was sent in them is lost.
        var outages: [Range<Int>] = []
        /// Nothing arrives in these spans; all comes at their end.
        var stalls: [Range<Int>] = []
    }

    struct Result {
        /// Number of each played packet, in order of playing.
        var played: [Int] = []
        /// Milliseconds between sending and playing.
        var delays: [Int] = []
        var concealed = 0
        var silent = 0
        var counters = JitterBuffer.Counters()
    }

    /// Sends `packets` packets of 20 ms with their number as payload and plays until the end of the last one.
    static func run(
        packets: Int, faults: Faults, seed: UInt64, firstSequence: UInt16 = 65_500, firstTimestamp: UInt32 = .max - 900
    ) -> Result {
        var randomness = Randomness.seeded(seed)
        var arrivals: [(at: Int64, number: Int)] = []
        var sent: [Int64] = []
        for number in 0..<packets {
            let time = Int64(Double(number) * 20_000_000 / faults.drift)
            sent.append(time)
            let millisecond = Int(time / 1_000_000)
            if faults.outages.contains(where: { $0.contains(millisecond) }) { continue }
            if Double.random(in: 0..<1, using: &randomness) < faults.loss { continue }
            var delay = 5_000_000 + Int64.random(in: 0...max(faults.jitter.nanoseconds, 0), using: &randomness)
            if let stall = faults.stalls.first(where: { $0.contains(millisecond) }) {
                delay = Int64(stall.upperBound) * 1_000_000 - time + Int64(number)  // In order.
            }
            arrivals.append((time + delay, number))
            if Double.random(in: 0..<1, using: &randomness) < faults.duplication {
                arrivals.append((time + delay + 3_000_000, number))
            }
        }
        arrivals.sort { $0.at < $1.at }
        var buffer = JitterBuffer(clockRate: 8_000)
        var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
        var result = Result()
        var next = 0
        var packet = [UInt8](repeating: 0, count: 16)
        for tick in 0...(packets + 15) {
            let now = Int64(tick) * 20_000_000 + 1_000_000
            while next < arrivals.count, arrivals[next].at <= now {
                let number = arrivals[next].number
                RTPHeader.write(
                    into: &packet, marker: number == 0, payloadType: 8,
                    sequence: firstSequence &+ UInt16(truncatingIfNeeded: number),
                    timestamp: firstTimestamp &+ UInt32(truncatingIfNeeded: number * 160), ssrc: 7)
                for index in 0..<4 { packet[12 + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * index)) }
                guard let header = RTPHeader(packet, count: packet.count) else { return result }
                _ = buffer.insert(packet, header, at: Instant(nanoseconds: arrivals[next].at))
                next += 1
            }
            switch buffer.pull(at: Instant(nanoseconds: now), into: &frame) {
            case .packet:
                let number = frame[..<4].reduce(0) { $0 << 8 | Int($1) }
                result.played.append(number)
                result.delays.append(Int((now - sent[number]) / 1_000_000))
            case .conceal: result.concealed += 1
            case .silence: result.silent += 1
            }
        }
        result.counters = buffer.counters
        return result
    }
}

struct JitterBufferTests {
    static let seeds: [UInt64] = Array(1...40)

    @Test func regularPacketsAreAllPlayedSoon() {
        let result = Line.run(packets: 1_000, faults: .init(), seed: 1)
        #expect(result.played == Array(0..<1_000))
        #expect(result.concealed <= 5)  // After the last packet.
        #expect(result.delays.allSatisfy { $0 <= 46 })
    }

    @Test(arguments: seeds)
    func neverOutOfOrderNeverTwice(_ seed: UInt64) {
        var randomness = Randomness.seeded(seed)
        let faults = Line.Faults(
            loss: Double.random(in: 0...0.3, using: &randomness),
            duplication: Double.random(in: 0...0.3, using: &randomness),
            jitter: .milliseconds(Int.random(in: 0...150, using: &randomness)),
            drift: Double.random(in: 0.9995...1.0005, using: &randomness),
            stalls: [2_000..<(2_000 + Int.random(in: 1...3_000, using: &randomness))])
        let result = Line.run(packets: 1_500, faults: faults, seed: seed)
        for (former, latter) in zip(result.played, result.played.dropFirst()) { #expect(former < latter) }
        #expect(result.played.count > 500)
        // Held back as long as allowed, the network's own time, a packet and a tick.
        for delay in result.delays.suffix(700) { #expect(delay <= 5 + 150 + 200 + 40 + 3) }
    }

    @Test(arguments: seeds)
    func jitterWithoutLossLosesLittle(_ seed: UInt64) {
        let result = Line.run(packets: 3_000, faults: .init(jitter: .milliseconds(60)), seed: seed)
        // After the first second the delay is learned.
        let played = result.played.filter { $0 >= 50 }
        #expect(played.count >= 2_950 * 98 / 100)
        #expect(result.delays.suffix(1_000).max() ?? 0 <= 5 + 120 + 40)
    }

    @Test(arguments: seeds)
    func lossIsConcealedOneForOne(_ seed: UInt64) {
        let result = Line.run(packets: 2_000, faults: .init(loss: 0.05), seed: seed)
        let lost = 2_000 - Set(result.played).count
        #expect(abs(result.counters.lost + result.counters.skipped - lost) <= 3)
        // Frames played and concealed fill the time; the end of the train is concealed too.
        #expect(abs(result.played.count + result.concealed - 2_000) <= 20)
    }

    @Test(arguments: [0.9998, 1.0002])
    func driftingClocksStayTogether(_ drift: Double) {
        // Ten minutes: 120 ms of drift.
        let result = Line.run(packets: 30_000, faults: .init(drift: drift), seed: 1)
        #expect(result.played.count >= 29_980)
        #expect(result.concealed + result.silent <= 40)
        #expect(result.delays.suffix(5_000).max() ?? 0 <= 100)
    }

    @Test(arguments: seeds.prefix(10))
    func aGapOfThirtySecondsIsSurvived(_ seed: UInt64) {
        let faults = Line.Faults(jitter: .milliseconds(20), outages: [5_000..<35_000])
        let result = Line.run(packets: 2_500, faults: faults, seed: seed)
        let after = result.played.filter { $0 >= 1_750 }
        #expect(after.count >= 735)
        #expect(result.delays.suffix(300).max() ?? 0 <= 105)
        // Silence, not a sustained concealment.
        #expect(result.concealed <= 40)
    }

    @Test func aStallIsCaughtUp() {
        let result = Line.run(packets: 1_000, faults: .init(stalls: [5_000..<6_500]), seed: 3)
        let after = result.delays.suffix(300)
        #expect(after.max() ?? 0 <= 5 + 200 + 40)
    }

    @Test func silenceOfTheSenderIsNoLoss() {
        var buffer = JitterBuffer(clockRate: 8_000)
        var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
        var packet = [UInt8](repeating: 0, count: 16)
        var concealed = 0
        var played: [Int] = []
        // Half a second of speech, comfort noise, two seconds of nothing, speech again.
        for tick in 0..<200 {
            let now = Instant.zero + .milliseconds(20 * tick)
            let isNoise = tick == 25
            if tick <= 25 || tick >= 125 {
                RTPHeader.write(
                    into: &packet, marker: tick == 0 || tick == 125, payloadType: isNoise ? 13 : 8,
                    sequence: UInt16(tick < 125 ? tick : tick - 99), timestamp: UInt32(tick * 160), ssrc: 1)
                if let header = RTPHeader(packet, count: isNoise ? 13 : 16) {
                    let content: JitterBuffer.Content = isNoise ? .comfortNoise : .audio
                    #expect(buffer.insert(packet, header, content: content, at: now) == .buffered)
                }
            }
            switch buffer.pull(at: now + .milliseconds(1), into: &frame) {
            case .packet(let type, _, _): played.append(type == 13 ? -1 : tick)
            case .conceal: concealed += 1
            case .silence: break
            }
        }
        #expect(concealed == 0)
        #expect(played.count >= 99)
        #expect(buffer.counters.lost == 0)
        #expect(played.contains(-1))
    }

    @Test func telephoneEventsTakeNoTime() {
        var buffer = JitterBuffer(clockRate: 8_000)
        var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
        var packet = [UInt8](repeating: 0, count: 16)
        var frames: [JitterBuffer.Frame] = []
        for tick in 0..<60 {
            let now = Instant.zero + .milliseconds(20 * tick)
            let isEvent = (20..<30).contains(tick)
            RTPHeader.write(
                into: &packet, marker: false, payloadType: isEvent ? 101 : 8, sequence: UInt16(tick),
                timestamp: UInt32((isEvent ? 20 : tick) * 160), ssrc: 1)
            if let header = RTPHeader(packet, count: 16) {
                _ = buffer.insert(packet, header, content: isEvent ? .other : .audio, at: now)
            }
            frames.append(buffer.pull(at: now + .milliseconds(1), into: &frame))
        }
        #expect(buffer.counters.lost == 0)
        #expect(frames.filter { if case .packet = $0 { true } else { false } }.count >= 48)
        #expect(frames.contains(.packet(payloadType: 8, count: 4, content: .audio)))
        #expect(!frames.contains(.packet(payloadType: 101, count: 4, content: .other)))
    }

    @Test func theFollowingPacketHelpsToConceal() {
        var buffer = JitterBuffer(clockRate: 48_000)
        var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
        var packet = [UInt8](repeating: 0, count: 15)
        var frames: [JitterBuffer.Frame] = []
        for tick in 0..<20 {
            let now = Instant.zero + .milliseconds(20 * tick)
            RTPHeader.write(
                into: &packet, marker: false, payloadType: 111, sequence: UInt16(tick), timestamp: UInt32(tick * 960),
                ssrc: 1)
            packet[12] = UInt8(tick)
            if tick != 10, let header = RTPHeader(packet, count: 15) { _ = buffer.insert(packet, header, at: now) }
            let pulled = buffer.pull(at: now + .milliseconds(5), into: &frame)
            if case .conceal(let following) = pulled, following > 0 {
                #expect(following == 3)
                #expect(frame[0] == 11)
            }
            frames.append(pulled)
        }
        #expect(frames.contains(.conceal(following: 3)))
    }

    @Test func quietMomentsAreUsedToShorten() {
        var buffer = JitterBuffer(clockRate: 8_000)
        var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
        var packet = [UInt8](repeating: 0, count: 16)
        // The player starts 100 ms late: four packets too many wait.
        for tick in 0..<40 {
            let now = Instant.zero + .milliseconds(20 * tick)
            RTPHeader.write(
                into: &packet, marker: false, payloadType: 8, sequence: UInt16(tick), timestamp: UInt32(tick * 160),
                ssrc: 1)
            if let header = RTPHeader(packet, count: 16) { _ = buffer.insert(packet, header, at: now) }
            // One pull is left out now and then, as by a stalled player.
            if tick > 3, tick % 3 != 0 || tick > 15 {
                _ = buffer.pull(at: now + .milliseconds(1), isQuiet: tick > 20, into: &frame)
            }
        }
        #expect(buffer.counters.skipped >= 3)
        #expect(buffer.delay <= .milliseconds(45))
    }

    @Test func oversizedAndEmptyPayloads() throws {
        var buffer = JitterBuffer(clockRate: 8_000)
        var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
        var packet = [UInt8](repeating: 0, count: 12 + JitterBuffer.longestPayload + 1)
        RTPHeader.write(into: &packet, marker: false, payloadType: 8, sequence: 1, timestamp: 0, ssrc: 1)
        let long = try #require(RTPHeader(packet, count: packet.count))
        #expect(buffer.insert(packet, long, at: .zero) == .oversized)
        let empty = try #require(RTPHeader(packet, count: 12))
        #expect(buffer.insert(packet, empty, at: .zero) == .buffered)
        #expect(buffer.pull(at: .zero + .milliseconds(100), into: &frame) == .silence)
    }
}
