@testable import Network
import Primitives
import SIP
import Testing

@Suite struct DNSMessageTests {
    private func message(_ kind: DNSQuestion.Kind, _ octets: [UInt8]) throws -> DNSMessage {
        try DNSMessage(parsing: octets, for: DNSQuestion("example.org", kind))
    }

    @Test func addressesThroughAliases() throws {
        let octets = ResponseWriter.response("Example.ORG", 1, answers: 4) {
            $0.record("pbx.example.net", 1, timeToLive: 300) { $0.number(0xC000_0201, 4) }
            $0.record("example.org", 5, timeToLive: 60) { $0.name("PBX.example.net") }
            $0.record("other.example.net", 1, timeToLive: 1) { $0.number(0xC000_0209, 4) }
            $0.record("pbx.example.net", 1, timeToLive: 300) { $0.number(0xC000_0202, 4) }
        }
        let message = try message(.a, octets)
        #expect(message.records == [.address(.v4(0xC000_0201)), .address(.v4(0xC000_0202))])
        #expect(message.timeToLive == 60)
    }

    @Test func servicesAndNamings() throws {
        let services = ResponseWriter.response("example.org", 33, answers: 1) {
            $0.record("example.org", 33, timeToLive: 0x8000_0001) {
                for value in [10, 20, 5070] { $0.number(value, 2) }
                $0.name("A.example.org")
            }
        }
        let message = try message(.srv, services)
        #expect(message.records == [.service(priority: 10, weight: 20, port: 5070, target: "a.example.org")])
        #expect(message.timeToLive == 0)
        let namings = ResponseWriter.response("example.org", 35, answers: 1) {
            $0.record("example.org", 35, timeToLive: 7) {
                for value in [50, 60] { $0.number(value, 2) }
                for text in ["s", "SIP+D2U", ""] { $0.text(text) }
                $0.name("_sip._udp.example.org")
            }
        }
        #expect(
            try self.message(.naptr, namings).records == [
                .naming(
                    order: 50, preference: 60, flags: "s", service: "SIP+D2U", replacement: "_sip._udp.example.org")
            ])
    }

    @Test func anEmptyAnswerLivesAsLongAsItsZoneSays() throws {
        let octets = ResponseWriter.response("example.org", 1, answers: 0, authorities: 1) {
            $0.record("org", 6, timeToLive: 100) {
                $0.name("ns.org")
                $0.name("root.org")
                for value in [1, 2, 3, 4, 17] { $0.number(value, 4) }
            }
        }
        let message = try message(.a, octets)
        #expect(message.records.isEmpty)
        #expect(message.timeToLive == 17)
    }

    @Test("T12: no more records than the limit") func noMoreRecordsThanTheLimit() throws {
        let octets = ResponseWriter.response("example.org", 1, answers: 100) { writer in
            for last in 0..<100 { writer.record("example.org", 1, timeToLive: 9) { $0.number(0x0A00_0000 + last, 4) } }
        }
        #expect(try message(.a, octets).records.count == 32)
    }

    /// A name that points at itself, a record longer than the message, an address of three octets, an alias in a circle.
    @Test func malformedResponsesAreRefused() throws {
        var circle = ResponseWriter.response("example.org", 1, answers: 1) { _ in }
        circle += [0xC0, UInt8(circle.count), 0, 1, 0, 1, 0, 0, 0, 1, 0, 0]
        #expect(throws: DNSMessage.Failure.malformed) { try message(.a, circle) }
        var long = ResponseWriter.response("example.org", 1, answers: 1) { _ in }
        long += [0, 0, 1, 0, 1, 0, 0, 0, 1, 0xFF, 0xFF]
        #expect(throws: DNSMessage.Failure.malformed) { try message(.a, long) }
        let short = ResponseWriter.response("example.org", 1, answers: 1) {
            $0.record("example.org", 1, timeToLive: 1) { $0.number(1, 3) }
        }
        #expect(throws: DNSMessage.Failure.malformed) { try message(.a, short) }
        let aliases = ResponseWriter.response("example.org", 1, answers: 2) {
            $0.record("example.org", 5, timeToLive: 1) { $0.name("b.org") }
            $0.record("b.org", 5, timeToLive: 1) { $0.name("example.org") }
        }
        #expect(try message(.a, aliases).records.isEmpty)
    }

    @Test func everyCutAndEveryFlippedBitIsSurvived() {
        let octets = ResponseWriter.response("example.org", 33, answers: 2) { writer in
            for value in 1...2 {
                writer.record("example.org", 33, timeToLive: 9) {
                    for _ in 0..<3 { $0.number(value, 2) }
                    $0.name("target.example.org")
                }
            }
        }
        var accepted = 0
        for end in 0..<octets.count { if (try? message(.srv, Array(octets[..<end]))) != nil { accepted += 1 } }
        #expect(accepted == 0)
        for index in octets.indices {
            for bit in 0..<8 {
                var changed = octets
                changed[index] ^= 1 << UInt8(bit)
                if let message = try? message(.srv, changed) { #expect(message.records.count <= 2) }
            }
        }
    }
}

@Suite struct DNSCacheTests {
    private let question = DNSQuestion("pbx.example.org", .a)
    private let records: [DNSRecord] = [.address(.v4(1))]
    private let start = Instant.zero

    @Test(
        arguments: [
            (0, 5), (60, 60), (86_400, 3600),
        ] as [(UInt32, Int)])
    func timeToLiveHasAFloorAndACeiling(given: UInt32, kept: Int) {
        var cache = DNSCache()
        cache.store(records, for: question, timeToLive: given, at: start)
        let end = start + .seconds(kept)
        #expect(cache.fresh(question, at: end - .nanoseconds(1)) == records)
        #expect(cache.fresh(question, at: end) == nil)
        #expect(cache.stale(question, at: end) == records)
    }

    @Test("T12: an empty answer lives 30 s at most and is never stale")
    func anEmptyAnswerLivesThirtySecondsAtMostAndIsNeverStale() {
        var cache = DNSCache()
        cache.store([], for: question, timeToLive: 900, at: start)
        #expect(cache.fresh(question, at: start + .seconds(29)) == [])
        #expect(cache.fresh(question, at: start + .seconds(30)) == nil)
        #expect(cache.stale(question, at: start + .seconds(30)) == nil)
    }

    @Test func anotherNetworkAsksAgainButKeepsWhatCouldServe() {
        var cache = DNSCache()
        let other = DNSQuestion("none.example.org", .a)
        cache.store(records, for: question, timeToLive: 60, at: start)
        cache.store([], for: other, timeToLive: 60, at: start)
        cache.networkChanged(at: start + .seconds(1))
        #expect(cache.fresh(question, at: start + .seconds(1)) == nil)
        #expect(cache.stale(question, at: start + .seconds(1)) == records)
        #expect(cache.fresh(other, at: start + .seconds(1)) == nil)
    }

    @Test func itDoesNotGrowBeyondItsLimit() {
        var cache = DNSCache()
        for number in 0...DNSCache.limit {
            cache.store(
                records, for: DNSQuestion("\(number)", .a), timeToLive: UInt32(10 + number), at: start)
        }
        #expect(cache.fresh(DNSQuestion("0", .a), at: start) == nil)
        #expect(cache.fresh(DNSQuestion("1", .a), at: start) == records)
    }
}

@Suite struct HostsFileTests {
    @Test func linesOfAddressesAndNames() {
        let text = """
            # comment
            127.0.0.1\tlocalhost
            192.0.2.1  pbx.example.org  PBX # the exchange
            2001:db8::1 pbx.example.org
            192.0.2.2 pbx.example.org
            nonsense pbx
            """
        let addresses = HostsFile.parse(Array(text.utf8))
        #expect(addresses["pbx.example.org"]?.map(\.description) == ["192.0.2.1", "2001:db8::1", "192.0.2.2"])
        #expect(addresses["pbx"]?.map(\.description) == ["192.0.2.1"])
        #expect(addresses["localhost"] == [.loopbackV4])
        #expect(addresses.count == 3)
    }
}
