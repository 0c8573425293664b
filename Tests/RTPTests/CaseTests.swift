import Foundation
import Primitives
import RTP
import Testing

/// The packets, event trains and INFO bodies of `Tests/Data/rtp`.
struct CaseTests {
    @Test func everyKindIsRun() {
        let kinds = Set(Case.of("packets").compactMap { $0.entry["kind"] as? String })
        #expect(kinds == ["packet", "dtmf"])
        #expect(Case.of("packets").count >= 30)
        #expect(Set(Case.index.keys) == ["packets", "info", "g711"])
    }

    /// Cases of kind `packet` that say something about a single datagram's format.
    static let valid = Case.of("packets", kind: "packet").filter { $0.expect["valid"] != nil }

    @Test(arguments: valid)
    func format(_ test: Case) throws {
        let packet = try #require(test.packets.first)
        if PacketKind(packet, count: packet.count) == .rtcp {
            try control(test, packet)
        } else {
            try media(test, packet)
        }
    }

    private func media(_ test: Case, _ packet: [UInt8]) throws {
        let expect = test.expect
        guard expect["valid"] as? Bool == true else {
            #expect(RTPHeader(packet, count: packet.count) == nil)
            return
        }
        let header = try #require(RTPHeader(packet, count: packet.count))
        if let marker = expect["marker"] as? Bool { #expect(header.marker == marker) }
        if let type = expect["payloadType"] as? Int { #expect(Int(header.payloadType) == type) }
        if let sequence = expect["sequence"] as? Int { #expect(Int(header.sequence) == sequence) }
        if let timestamp = expect["timestamp"] as? Int { #expect(Int(header.timestamp) == timestamp) }
        if let source = expect["ssrc"] as? String { #expect(String(header.ssrc, radix: 16) == source) }
        if let count = expect["payloadBytes"] as? Int { #expect(header.payload.count == count) }
        if let profile = expect["extensionProfile"] as? Int {
            #expect(header.extensionProfile.map { Int($0) } == profile)
        }
        if let sources = expect["csrc"] as? [Int] {
            #expect((0..<header.contributorCount).map { Int(header.contributor($0, of: packet)) } == sources)
        }
        for (name, value) in expect["extensions"] as? [String: String] ?? [:] {
            let identifier = try #require(UInt8(name))
            let range = try #require(header.extensionElement(identifier, of: packet))
            #expect(hexadecimal(packet[range]) == value)
        }
        // The same in a longer buffer, as a socket fills it.
        #expect(RTPHeader(packet + [1, 2, 3], count: packet.count) == header)
    }

    private func control(_ test: Case, _ packet: [UInt8]) throws {
        let expect = test.expect
        let reducedSize = expect["valid"] as? String == "reducedSize"
        #expect(!reducedSize || RTCPReader(packet, count: packet.count) == nil)
        guard var reader = RTCPReader(packet, count: packet.count, reducedSize: reducedSize) else {
            #expect(expect["valid"] as? Bool == false)
            return
        }
        #expect(expect["valid"] as? Bool != false)
        var parts: [RTCPPacket] = []
        while let part = reader.next(of: packet) { parts.append(part) }
        if let types = expect["types"] as? [Int] { #expect(parts.map { Int($0.type) } == types) }
        var block: ReportBlock?
        for part in parts {
            switch part {
            case .senderReport(_, let info, let blocks):
                if let count = expect["senderPackets"] as? Int { #expect(Int(info.packets) == count) }
                block = ReportBlock(packet, at: blocks.lowerBound)
            case .receiverReport(_, let blocks): block = ReportBlock(packet, at: blocks.lowerBound)
            case .sourceDescription(let chunks):
                let name = RTCPReader.cname(in: chunks, of: packet).map { String(decoding: packet[$0], as: UTF8.self) }
                #expect(name == expect["cname"] as? String)
            case .goodbye(_, let reason):
                let text = reason.map { String(decoding: packet[$0], as: UTF8.self) }
                #expect(text == expect["reason"] as? String)
            case .feedback, .other: break
            }
        }
        if let lost = expect["fractionLost"] as? Int { #expect(block.map { Int($0.fractionLost) } == lost) }
        if let lost = expect["cumulativeLost"] as? Int { #expect(block.map { Int($0.cumulativeLost) } == lost) }
        if let delay = expect["delaySinceLastSR"] as? Int {
            #expect(block.map { Int($0.delaySinceLastReport) } == delay)
        }
        if let last = expect["lastSR"] as? String { #expect(block.map { String($0.lastReport, radix: 16) } == last) }
        if let lost = expect["nack"] as? [Int] {
            #expect(parts.compactMap { RTCPFeedback($0, of: packet) }.contains(.lost(lost.map { UInt16($0) })))
        }
        if let sources = expect["pli"] as? [Int], let source = sources.first {
            #expect(parts.compactMap { RTCPFeedback($0, of: packet) }.contains(.pictureLoss(source: UInt32(source))))
        }
        if let requests = expect["fir"] as? [[String: Int]] {
            let wanted = requests.map {
                RTCPFeedback.FullIntraRequest(source: UInt32($0["ssrc"] ?? 0), number: UInt8($0["seq"] ?? 0))
            }
            #expect(parts.compactMap { RTCPFeedback($0, of: packet) }.contains(.fullIntraRequests(wanted)))
        }
    }

    @Test func demultiplexing() throws {
        let test = try #require(Case.of("packets").first { $0.id == "demux" })
        let names: [PacketKind: String] = [
            .stun: "stun", .dtls: "dtls", .turnChannel: "turn-channel", .rtp: "rtp", .rtcp: "rtcp", .other: "other",
        ]
        let kinds = test.packets.map { names[PacketKind($0, count: $0.count)] ?? "?" }
        #expect(kinds == test.expect["classes"] as? [String])
    }

    @Test func orderOverTheWrap() throws {
        let test = try #require(Case.of("packets").first { $0.id == "seq-wrap-order" })
        var buffer = JitterBuffer(clockRate: 8_000)
        var statistics = ReceptionStatistics(clockRate: 8_000)
        var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
        var played: [Int] = []
        for tick in 0..<20 {
            let now = Instant.zero + .milliseconds(20 * tick)
            if tick < test.packets.count {
                let packet = test.packets[tick]
                let header = try #require(RTPHeader(packet, count: packet.count))
                // The sequence number as payload, to see the order.
                let marked = Array(packet[..<12]) + [packet[2], packet[3]]
                _ = buffer.insert(marked, try #require(RTPHeader(marked, count: 14)), at: now)
                _ = statistics.receive(header, at: now)
            }
            if case .packet = buffer.pull(at: now + .milliseconds(10), into: &frame) {
                played.append(Int(frame[0]) << 8 | Int(frame[1]))
            }
        }
        #expect(played == test.expect["playout"] as? [Int])
        #expect(buffer.counters.duplicates == test.expect["duplicates"] as? Int)
        #expect(buffer.counters.lost == test.expect["lost"] as? Int)
        #expect(Int(statistics.extendedHighest) == test.expect["extendedHighest"] as? Int)
    }

    @Test(arguments: ["seq-jump-probation", "ssrc-change-midstream"])
    func restart(_ id: String) throws {
        let test = try #require(Case.of("packets").first { $0.id == id })
        #expect(test.expect["resync"] as? Bool ?? test.expect["newStream"] as? Bool == true)
        var buffer = JitterBuffer(clockRate: 8_000)
        var statistics = ReceptionStatistics(clockRate: 8_000)
        var insertions: [JitterBuffer.Insertion] = []
        for packet in test.packets {
            let header = try #require(RTPHeader(packet, count: packet.count))
            insertions.append(buffer.insert(packet, header, at: .zero))
            _ = statistics.receive(header, at: .zero)
        }
        let isJump = id == "seq-jump-probation"
        #expect(
            insertions
                == (isJump
                    ? [.buffered, .doubted, .restarted, .buffered] : [.buffered, .buffered, .doubted, .restarted]))
        #expect(statistics.source == (isJump ? 5 : 2))
        #expect(buffer.counters.restarts == 1)
        var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
        #expect(
            buffer.pull(at: .zero + .milliseconds(40), into: &frame)
                == .packet(payloadType: 8, count: 1, content: .audio))
    }

    @Test(arguments: Case.of("packets", kind: "dtmf"))
    func events(_ test: Case) throws {
        var receiver = DTMFReceiver()
        var now = Instant.zero
        var digits = ""
        var flashes = 0
        var durations: [UInt32] = []
        var timeouts = 0
        func take(_ outcome: DTMFReceiver.Outcome) {
            if let signal = outcome.began {
                if let character = signal.character { digits.unicodeScalars.append(Unicode.Scalar(character)) }
                if signal == .flash { flashes += 1 }
            }
            if let ended = outcome.ended {
                durations.append(ended.duration)
                timeouts += ended.byTimeout ? 1 : 0
            }
        }
        for packet in test.packets {
            let header = try #require(RTPHeader(packet, count: packet.count))
            take(receiver.receive(packet, header, at: now))
            now += .milliseconds(20)
        }
        while let deadline = receiver.deadline {
            now = deadline
            take(receiver.expire(at: now))
        }
        #expect(digits == test.expect["digits"] as? String)
        if let milliseconds = test.expect["durationMs"] as? Double {
            #expect(durations == [UInt32(milliseconds * 8)])
        }
        #expect(timeouts == (test.expect["endedBy"] == nil ? 0 : 1))
        #expect(flashes == test.expect["flash"] as? Int ?? 0)
        #expect(receiver.ignored == (test.expect["ignored"] as? [Int])?.count ?? 0)
        #expect(durations.count == digits.count + flashes)
    }

    @Test(arguments: Case.of("info"))
    func info(_ test: Case) throws {
        let format = try #require(DTMFInfo.Format(contentType: test.entry["contentType"] as? String ?? ""))
        let signal = DTMFInfo.signal(in: Array((test.entry["body"] as? String ?? "").utf8), format: format)
        let digits = signal.flatMap(\.character).map { String(Unicode.Scalar($0)) } ?? ""
        #expect(digits == test.entry["digits"] as? String)
        #expect((signal == nil ? 400 : 200) == test.entry["status"] as? Int)
    }
}
