import Foundation
import SIP
import Testing

/// Parsing takes work in proportion to the octets (SEC12), whatever they are: sixteen times as many cost the thread
/// sixteen times the processor time, not two hundred and fifty-six times.
@Suite(.serialized) struct WorkTests {
    static let pieces = [
        "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa;rport\r\n", "X: a\r\n", "X: a\r\n  b\r\n", "Subject: \"\\\\\r\n",
        "Contact: <sip:a@b>, <sip:c@d;x=y>\r\n", "a=b;", ",", "<", "%41", "[:", "\"", "\r\n ", "\n",
    ]

    @Test(arguments: pieces) func workGrowsWithTheOctets(piece: String) {
        // Within every limit but the datagram's, so that all of it is looked at.
        let small = Self.cost(of: piece, octets: 4000, repeats: 16)
        let large = Self.cost(of: piece, octets: 64_000, repeats: 1)
        #expect(large < 4 * small, "\(piece)")
    }

    /// Nanoseconds of this thread's processor time, the least of three.
    private static func cost(of piece: String, octets: Int, repeats: Int) -> UInt64 {
        let filler = String(repeating: piece, count: octets / piece.utf8.count)
        let messages = ["OPTIONS sip:a@b SIP/2.0\r\n", "OPTIONS sip:a@b SIP/2.0\r\nSubject: ", ""].map {
            Array(($0 + filler + "\r\n\r\n").utf8)
        }
        return (0..<3).map { _ in
            let begin = processorTime()
            for _ in 0..<repeats {
                for message in messages {
                    _ = try? Message.parse(datagram: message)
                    var framer = StreamFramer()
                    var events: [StreamFramer.Event] = []
                    framer.feed(message, at: .zero, &events)
                }
            }
            return processorTime() - begin
        }.min() ?? 0
    }

    private static func processorTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
