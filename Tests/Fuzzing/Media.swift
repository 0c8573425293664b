import Primitives
import RTP
import SDP

/// An offer and an answer of the peer: what we write is always readable again.
@Sendable func fuzzSDP(_ octets: [UInt8]) {
    var randomness = Randomness.seeded(1)
    let local = LocalMedia(codecs: AudioCodec.allCases, address: .v4(0xC000_0201), port: 40_000)
    var engine = OfferAnswer(local: local, randomness: &randomness)
    if let answer = try? engine.answer(octets) {
        let read = try? SessionDescription(answer)
        precondition(read?.octets == answer, "an answer of ours cannot be read")
    }
    var offerer = OfferAnswer(local: local, randomness: &randomness)
    _ = try? offerer.makeOffer()
    try? offerer.apply(answer: octets)
    if let description = try? SessionDescription(octets) { _ = description.octets }
}

/// Packets, each with its length in the octet before it, as they come to one stream.
@Sendable func fuzzRTP(_ octets: [UInt8]) {
    var buffer = JitterBuffer(clockRate: 8_000)
    var statistics = ReceptionStatistics(clockRate: 48_000)
    var receiver = DTMFReceiver()
    var frame = [UInt8](repeating: 0, count: JitterBuffer.longestPayload)
    var now = Instant.zero
    var rest = octets[...]
    while let count = rest.popFirst() {
        let packet = Array(rest.prefix(Int(count)))
        rest = rest.dropFirst(packet.count)
        now += .milliseconds(20)
        _ = PacketKind(packet, count: packet.count)
        if let header = RTPHeader(packet, count: packet.count) {
            precondition(header.payload.upperBound <= packet.count, "the payload is beyond the packet")
            for index in 0..<header.contributorCount { _ = header.contributor(index, of: packet) }
            for name in UInt8(0)...16 { _ = header.extensionElement(name, of: packet) }
            _ = receiver.receive(packet, header, at: now)
            _ = statistics.receive(header, at: now)
            _ = buffer.insert(packet, header, content: count.isMultiple(of: 2) ? .audio : .comfortNoise, at: now)
        }
        _ = receiver.expire(at: now)
        _ = statistics.report(at: now)
        _ = buffer.pull(at: now, isQuiet: count.isMultiple(of: 3), into: &frame)
    }
}

@Sendable func fuzzRTCP(_ octets: [UInt8]) {
    var statistics = ReceptionStatistics(clockRate: 48_000)
    for reducedSize in [false, true] {
        guard var reader = RTCPReader(octets, count: octets.count, reducedSize: reducedSize) else { continue }
        while let part = reader.next(of: octets) {
            _ = RTCPFeedback(part, of: octets)
            switch part {
            case .senderReport(let source, let info, let blocks):
                statistics.receive(info, from: source, at: .zero)
                precondition(blocks.upperBound <= octets.count, "a block is beyond the packet")
                if let block = ReportBlock(octets, at: blocks.lowerBound) {
                    _ = CallQuality.roundTrip(block, at: .zero)
                }
            case .sourceDescription(let chunks): _ = RTCPReader.cname(in: chunks, of: octets)
            default: break
            }
        }
    }
}
