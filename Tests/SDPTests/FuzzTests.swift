import Primitives
import SDP
import Testing

/// Any octets: an answer or an error, and what we write is always readable again (SEC12).
struct FuzzTests {
    private static func changed(_ text: [UInt8], _ randomness: inout Randomness) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 0...6, using: &randomness) where !text.isEmpty {
            let index = Int.random(in: text.indices, using: &randomness)
            switch Int.random(in: 0..<5, using: &randomness) {
            case 0: text[index] = UInt8.random(in: 0...255, using: &randomness)
            case 1: text[index] ^= 1 << UInt8.random(in: 0...7, using: &randomness)
            case 2: text.remove(at: index)
            case 3: text.insert(contentsOf: text[index...].prefix(40), at: index)
            default: text.removeLast(Int.random(in: 0...min(text.count, 40), using: &randomness))
            }
        }
        return text
    }

    static let small = Case.all.filter { $0.offer.map { $0.count < 4_000 } ?? false }

    @Test(arguments: small)
    func offers(_ test: Case) throws {
        let offer = try #require(test.offer)
        var randomness = Randomness.seeded(UInt64(offer.count))
        for _ in 0..<60 {
            let text = Self.changed(offer, &randomness)
            var engine = OfferAnswer(local: .cases, randomness: &randomness)
            if Bool.random(using: &randomness) { _ = try engine.answer(Case.earlier(mediaCount: 1)) }
            if let answer = try? engine.answer(text) {
                let read = try SessionDescription(answer)
                #expect(read.octets == answer)
                let asked = try SessionDescription(text)
                #expect(read.media.count == asked.media.count)
                #expect(read.media.filter { $0.port != 0 }.count <= 1)
            }
            var offerer = OfferAnswer(local: .cases, randomness: &randomness)
            _ = try offerer.makeOffer()
            try? offerer.apply(answer: text)
        }
    }

    @Test(arguments: ["basic-pcma", "opus-dynamic-pt", "webrtc-bundle"])
    func everyCut(_ id: String) throws {
        let offer = try #require(Case.named(id).offer)
        for length in 0...offer.count {
            var engine = OfferAnswer(local: .cases, randomness: &Case.randomness)
            _ = try? engine.answer(Array(offer.prefix(length)))
        }
    }

    @Test func limits() throws {
        let head = "v=0\r\nc=IN IP4 192.0.2.9\r\n"
        func status(_ text: String) -> Int? {
            do throws(NegotiationError) {
                _ = try SessionDescription(Array((head + text).utf8))
                return nil
            } catch {
                return error.status
            }
        }
        let line = "m=audio 4000 RTP/AVP 8\r\n"
        #expect(status(String(repeating: line, count: 16)) == nil)
        #expect(status(String(repeating: line, count: 17)) == 488)
        #expect(status(line + String(repeating: "a=x\r\n", count: 256)) == nil)
        #expect(status(line + String(repeating: "a=x\r\n", count: 257)) == 488)
        #expect(status(String(repeating: "a=x\r\n", count: 257)) == 488)
        let formats = (0..<128).map { " \($0)" }.joined()
        #expect(status("m=audio 4000 RTP/AVP\(formats)\r\n") == nil)
        #expect(status("m=audio 4000 RTP/AVP\(formats) 8\r\n") == 488)
        #expect(status(String(repeating: "i=12345678\r\n", count: 6_000)) == 413)
    }
}
