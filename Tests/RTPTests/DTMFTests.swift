import Primitives
import RTP
import Testing

struct DTMFTests {
    private static func signal(_ character: Character) -> DTMFSignal {
        guard let octet = character.asciiValue, let signal = DTMFSignal(character: octet) else {
            preconditionFailure("a key")
        }
        return signal
    }

    /// What a sender puts out in a number of packet times of 20 ms, with the times in milliseconds.
    private static func train(_ sender: inout DTMFSender, from start: UInt32, ticks: Int, clock: Int = 8_000) -> [(
        ms: Int, output: DTMFSender.Output
    )] {
        (0..<ticks).map { tick in
            (20 * tick, sender.next(at: start &+ UInt32(tick * clock / 50)))
        }
    }

    @Test(arguments: [8_000, 48_000], [0, UInt32.max - 3_000])
    func aKeyIsSentWithThreeEnds(_ clock: Int, _ start: UInt32) {
        var sender = DTMFSender(clockRate: clock, interval: .milliseconds(20))
        #expect(sender.next(at: start) == .audio)
        #expect(sender.send(Self.signal("5"), duration: .milliseconds(10)) == true)
        let events = Self.train(&sender, from: start, ticks: 20, clock: clock)
            .compactMap {
                if case .event(let marker, let timestamp, let payload) = $0.output {
                    (marker, timestamp, payload)
                } else {
                    nil
                }
            }
        #expect(events.map(\.0) == [true] + Array(repeating: false, count: events.count - 1))
        #expect(Set(events.map(\.1)) == [start])
        #expect(events.allSatisfy { $0.2 >> 24 == 5 })
        let ends = events.filter { $0.2 & 0x80_0000 != 0 }
        #expect(ends.count == 3)
        // At least 100 ms, whatever was asked.
        #expect(ends.allSatisfy { Int($0.2 & 0xFFFF) == clock / 10 })
        #expect(!sender.isBusy)
    }

    @Test func updatesComeAtTheInterval() {
        var sender = DTMFSender(clockRate: 8_000)
        #expect(sender.send(Self.signal("1"), duration: .milliseconds(300)) == true)
        let train = Self.train(&sender, from: 0, ticks: 30)
        let updates = train.filter {
            if case .event(_, _, let payload) = $0.output { payload & 0x80_0000 == 0 } else { false }
        }
        #expect(updates.map(\.ms) == [0, 60, 120, 180, 240])
        #expect(train.contains { $0.output == .nothing })
    }

    @Test func manyKeysComeOutAsTheyWentIn() throws {
        var sender = DTMFSender(clockRate: 8_000)
        let keys = "0123456789*#ABCD5566"
        for key in keys { #expect(sender.send(Self.signal(key), duration: .milliseconds(120)) == true) }
        var receiver = DTMFReceiver()
        var packet = [UInt8](repeating: 0, count: 16)
        var heard = ""
        var starts: [UInt32] = []
        var sequence: UInt16 = 0
        for tick in 0..<400 {
            guard case .event(let marker, let timestamp, let payload) = sender.next(at: UInt32(tick * 160)) else {
                continue
            }
            if marker { starts.append(timestamp) }
            RTPHeader.write(
                into: &packet, marker: marker, payloadType: 101, sequence: sequence, timestamp: timestamp, ssrc: 3)
            sequence &+= 1
            for index in 0..<4 { packet[12 + index] = UInt8(truncatingIfNeeded: payload >> (24 - 8 * UInt32(index))) }
            let header = try #require(RTPHeader(packet, count: 16))
            // Every third packet is lost.
            if sequence % 3 == 0 { continue }
            let outcome = receiver.receive(packet, header, at: .zero + .milliseconds(20 * tick))
            if let character = outcome.began?.character { heard.unicodeScalars.append(Unicode.Scalar(character)) }
        }
        #expect(heard == keys)
        // 120 ms, two further end packets of 20 ms, 50 ms gap.
        for (former, latter) in zip(starts, starts.dropFirst()) { #expect(latter - former >= 8 * (120 + 50)) }
        #expect(!sender.isBusy)
    }

    @Test func theQueueIsBounded() {
        var sender = DTMFSender(clockRate: 8_000)
        for _ in 0..<DTMFSender.queueLimit { #expect(sender.send(Self.signal("1")) == true) }
        #expect(sender.send(Self.signal("1")) == false)
    }

    @Test func theSameKeyByTwoWaysCountsOnce() {
        var collector = DigitCollector()
        let five = Self.signal("5")
        #expect(collector.accept(five, by: .rtp, at: .zero) == true)
        #expect(collector.accept(five, by: .info, at: .zero + .milliseconds(200)) == false)
        // By the same way it is another key press, and its copy again none.
        #expect(collector.accept(five, by: .rtp, at: .zero + .milliseconds(180)) == true)
        #expect(collector.accept(five, by: .info, at: .zero + .milliseconds(230)) == false)
        #expect(collector.accept(five, by: .info, at: .zero + .milliseconds(500)) == true)
        #expect(collector.accept(Self.signal("6"), by: .rtp, at: .zero + .milliseconds(510)) == true)
    }

    @Test(arguments: [DTMFInfo.Format.relay, .plain])
    func infoBodiesAreReadAsWritten(_ format: DTMFInfo.Format) throws {
        #expect(DTMFInfo.Format(contentType: format.contentType.uppercased() + "; charset=x") == format)
        for event in UInt8(0)...16 {
            let signal = try #require(DTMFSignal(event: event))
            guard let body = DTMFInfo.body(signal, milliseconds: 160, format: format) else {
                #expect(signal == .flash && format == .plain)
                continue
            }
            #expect(DTMFInfo.signal(in: body, format: format) == signal)
        }
        #expect(DTMFInfo.Format(contentType: "text/plain") == nil)
        #expect(DTMFSignal(event: 17) == nil)
        #expect(DTMFInfo.signal(in: [UInt8](repeating: 0x35, count: 600), format: .plain) == nil)
    }
}
