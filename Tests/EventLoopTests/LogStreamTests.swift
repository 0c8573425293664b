import Glibc
import Primitives
import Testing

@testable import EventLoop

@Suite struct LogStreamTests {
    @Test func aReaderThatStoppedReadingNeverStopsTheWriter() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var stream = LogStream(ends[1])
        let line = String(repeating: "a", count: 99)
        for _ in 0..<2_000 { stream.write(line) }  // a pipe holds 64 KiB
        let lost = stream.lost
        #expect(lost > 1_000)

        var octets = [UInt8](repeating: 0, count: 1 << 18)
        let heard = read(ends[0], &octets, octets.count)
        #expect(heard == (2_000 - lost) * 100, "whole lines")
        stream.write("again")
        #expect(stream.lost == 0)
        let more = read(ends[0], &octets, octets.count)
        #expect(
            String(decoding: octets.prefix(max(0, more)), as: UTF8.self)
                == "\(lost) lines were lost: nobody read them\nagain\n")
    }

    @Test func aLongLineIsWholeWhereItIsRead() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var stream = LogStream(ends[1])
        stream.write(String(repeating: "b", count: 20_000))
        var octets = [UInt8](repeating: 0, count: 1 << 16)
        #expect(read(ends[0], &octets, octets.count) == 20_001)
        #expect(stream.lost == 0)
    }
}
