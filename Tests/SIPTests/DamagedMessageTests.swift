import Primitives
import SIP
import Simulation
import Testing

/// Damaged messages: nothing traps, what is accepted can be written and read again (SEC12).
@Suite struct DamagedMessageTests {
    private func digest(_ octets: [UInt8]) throws {
        let message: Message?
        do throws(ParseError) {
            message = try Message.parse(datagram: octets)
        } catch {
            _ = error.refusal?.serialized()
            return
        }
        guard let message else { return }
        // Text that was no UTF-8 is repaired once, and stays as it is from then on.
        let written = message.serialized()
        #expect(try Message.parse(datagram: written)?.serialized() == written)
        if case .request(let request) = message { _ = try? request.bodyParts() }
    }

    @Test(arguments: MessageCase.composed + MessageCase.published)
    func truncatedAtEveryOctet(_ message: MessageCase) {
        let step = message.octets.count > 2000 ? 97 : 1
        for count in stride(from: 0, to: message.octets.count, by: step) {
            // Without its body or the end of its headers it is refused, at whatever octet it breaks off.
            _ = try? Message.parse(datagram: Array(message.octets[..<count]))
        }
    }

    @Test(arguments: MessageCase.composed + MessageCase.published)
    func everyLineDoubled(_ message: MessageCase) throws {
        let lines = message.octets.split(separator: 0x0A, omittingEmptySubsequences: false)
        for index in lines.indices.prefix(40) {
            var doubled = lines
            doubled.insert(lines[index], at: index)
            try digest(Array(doubled.joined(separator: [0x0A])))
        }
    }

    @Test(arguments: MessageCase.composed + MessageCase.published)
    func bitsFlipped(_ message: MessageCase) throws {
        var randomness = Randomness.seeded(UInt64(message.octets.count))
        let step = message.octets.count > 2000 ? 97 : 9
        // Every message of the corpus begins at another octet, so that each part of the grammar is met.
        for index in stride(from: message.octets.count % 9, to: message.octets.count, by: step) {
            var octets = message.octets
            octets[index] ^= 1 << UInt8.random(in: 0..<8, using: &randomness)
            try digest(octets)
        }
    }

    /// Lines, octets and words of the whole corpus are mixed: a bounded stand-in for a fuzzer, the same in each run.
    @Test(arguments: 0..<8)
    func mutated(_ seed: Int) throws {
        var randomness = Randomness.seeded(UInt64(seed))
        let corpus = MessageCase.composed.map(\.octets).filter { $0.count < 2000 }
        for _ in 0..<200 {
            var octets = try #require(corpus.randomElement(using: &randomness))
            for _ in 0..<Int.random(in: 1...4, using: &randomness) {
                let other = try #require(corpus.randomElement(using: &randomness))
                mutate(&octets, with: other, &randomness)
            }
            try digest(octets)
            var framer = StreamFramer()
            var events: [StreamFramer.Event] = []
            framer.feed(octets, at: .zero, &events)
        }
    }

    private func mutate(_ octets: inout [UInt8], with other: [UInt8], _ randomness: inout Randomness) {
        func range(_ count: Int) -> Range<Int> {
            let start = Int.random(in: 0...count, using: &randomness)
            return start..<Int.random(in: start...min(count, start + 60), using: &randomness)
        }
        let interesting: [UInt8] = Array("\r\n \t,;:\"<>@?%\\=/[]*+-0".utf8) + [0, 0x7F, 0x80, 0xFF]
        switch Int.random(in: 0..<5, using: &randomness) {
        case 0: octets.replaceSubrange(range(octets.count), with: other[range(other.count)])
        case 1: octets.removeSubrange(range(octets.count))
        case 2: octets.insert(contentsOf: octets[range(octets.count)], at: range(octets.count).lowerBound)
        case 3: octets.insert(interesting.randomElement(using: &randomness) ?? 0, at: range(octets.count).lowerBound)
        default:
            let index = range(octets.count).lowerBound
            if index < octets.count { octets[index] = interesting.randomElement(using: &randomness) ?? 0 }
        }
    }

    /// Octets that once looked quadratic: the time for each is that of its length, and the run would not end otherwise.
    @Test(arguments: [",", ";", "<", "\"", "\\", "\r\n ", "a=b;", "x:y\r\n", "%", ":", "[", "sip:a@b,", "\n", "\r\n"])
    func longRepetitions(_ piece: String) throws {
        let filler = Array(String(repeating: piece, count: 30_000 / piece.utf8.count).utf8)
        for start in ["", "OPTIONS sip:a@b SIP/2.0\r\nVia: ", "OPTIONS ", "OPTIONS sip:a@b SIP/2.0\r\nContact: "] {
            let octets = Array(start.utf8) + filler
            try digest(octets)
            var framer = StreamFramer()
            var events: [StreamFramer.Event] = []
            for octet in octets.prefix(4000) { framer.feed([octet], at: .zero, &events) }
        }
    }
}
