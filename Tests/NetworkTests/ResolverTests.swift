import EventLoop
import Foundation
import Network
import Primitives
import SIP
import Testing

@Suite struct ResolverTests {
    private let loop: EventLoop
    init() throws { loop = try EventLoop() }

    private func address(_ name: String, _ type: Int, _ value: Int, timeToLive: Int = 60) -> [UInt8] {
        ResponseWriter.response(name, type, answers: 1) {
            $0.record(name, type, timeToLive: timeToLive) { $0.number(value, 4) }
        }
    }

    private func ask(_ resolver: Resolver, _ name: String, _ kind: DNSQuestion.Kind = .a) throws -> DNSAnswer? {
        var answer: DNSAnswer?
        resolver.lookUp(DNSQuestion(name, kind)) { answer = $0 }
        #expect(answer == nil, "answered from within the call")
        #expect(try loop.turn(until: { answer != nil }, within: .seconds(60)))
        return answer
    }

    @Test func answersAreCachedAndSharedByThoseWhoWait() throws {
        let server = try NameServer(on: loop)
        server.answer = { name, type in address(name, type, 0xC000_0201) }
        let resolver = try Resolver(on: loop, servers: [server.address], hostsFile: "/dev/null")
        var answers: [DNSAnswer] = []
        for name in ["pbx.example.org", "PBX.example.org."] {
            resolver.lookUp(DNSQuestion(name, .a)) { answers.append($0) }
        }
        #expect(try loop.turn(until: { answers.count == 2 }))
        let records = DNSAnswer.records([.address(.v4(0xC000_0201))])
        #expect(answers == [records, records])
        #expect(try ask(resolver, "pbx.example.org") == records)
        #expect(server.asked.count == 1)
        resolver.networkChanged()
        #expect(try ask(resolver, "pbx.example.org") == records)
        #expect(server.asked.count == 2)
    }

    @Test("T12: a silent question delays no other and ends as failed")
    func aSilentQuestionDelaysNoOtherAndEndsAsFailed() throws {
        let server = try NameServer(on: loop)
        server.answer = { name, type in name == "silent.example.org" ? nil : address(name, type, 7) }
        let resolver = try Resolver(on: loop, servers: [server.address], hostsFile: "/dev/null")
        var silent: DNSAnswer?
        resolver.lookUp(DNSQuestion("silent.example.org", .a)) { silent = $0 }
        #expect(try ask(resolver, "quick.example.org") == .records([.address(.v4(7))]))
        #expect(silent == nil)
        #expect(try loop.turn(until: { silent != nil }, within: .seconds(60)))
        guard case .failed = silent else { return #expect(Bool(false), "\(String(describing: silent))") }
    }

    @Test("T12: a stale answer serves while the server refuses") func aStaleAnswerServesWhileTheServerRefuses() throws {
        let server = try NameServer(on: loop)
        server.answer = { name, type in address(name, type, 7) }
        let resolver = try Resolver(on: loop, servers: [server.address], hostsFile: "/dev/null")
        let records = DNSAnswer.records([.address(.v4(7))])
        #expect(try ask(resolver, "pbx.example.org") == records)
        server.answer = { name, type in ResponseWriter.response(code: 2, name, type, answers: 0) { _ in } }
        resolver.networkChanged()
        #expect(try ask(resolver, "pbx.example.org") == records)
        guard case .failed? = try ask(resolver, "other.example.org") else {
            return #expect(Bool(false), "a refusal is no answer")
        }
    }

    @Test("T12: while the servers are silent a stale answer serves at once") func staleAtOnce() throws {
        let server = try NameServer(on: loop)
        server.answer = { name, type in address(name, type, 7) }
        let resolver = try Resolver(on: loop, servers: [server.address], hostsFile: "/dev/null")
        let records = DNSAnswer.records([.address(.v4(7))])
        #expect(try ask(resolver, "pbx.example.org") == records)
        server.answer = { _, _ in nil }
        resolver.networkChanged()
        guard case .failed? = try ask(resolver, "other.example.org") else {
            return #expect(Bool(false), "silence is no answer")
        }
        let begin = loop.now
        #expect(try ask(resolver, "pbx.example.org") == records)
        #expect(loop.now - begin < .seconds(1), "the silence was waited for")
        // It is asked for again all the same, and a server that is back is heard.
        let asked = server.asked.count
        server.answer = { name, type in address(name, type, 8) }
        #expect(try loop.turn(until: { server.asked.count > asked }))
        let fresh = DNSAnswer.records([.address(.v4(8))])
        #expect(try loop.turn(until: { (try? ask(resolver, "pbx.example.org")) == fresh }))
    }

    @Test func whatDoesNotExistIsAnEmptyAnswer() throws {
        let server = try NameServer(on: loop)
        server.answer = { name, type in ResponseWriter.response(code: 3, name, type, answers: 0) { _ in } }
        let resolver = try Resolver(on: loop, servers: [server.address], hostsFile: "/dev/null")
        #expect(try ask(resolver, "none.example.org", .srv) == .records([]))
        #expect(try ask(resolver, "none.example.org", .srv) == .records([]))
        #expect(server.asked.count == 1)
    }

    @Test func theHostsFileComesFirstAndIsFollowed() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("192.0.2.9 pbx.example.org\n".utf8).write(to: URL(fileURLWithPath: path))
        let server = try NameServer(on: loop)
        server.answer = { name, type in address(name, type, 7) }
        let resolver = try Resolver(on: loop, servers: [server.address], hostsFile: path)
        #expect(try ask(resolver, "pbx.example.org") == .records([.address(.v4(0xC000_0209))]))
        #expect(try ask(resolver, "pbx.example.org", .aaaa) == .records([]))
        #expect(server.asked.isEmpty)
        try AtomicFile.replace(path, Array("192.0.2.10 pbx.example.org\n".utf8))
        #expect(try ask(resolver, "pbx.example.org") == .records([.address(.v4(0xC000_020A))]))
    }

    @Test("T12: other servers are taken when the file names them") func otherServersAreTakenWhenTheFileNamesThem()
        throws
    {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data().write(to: URL(fileURLWithPath: path))
        let resolver = try Resolver(on: loop, hostsFile: "/dev/null", resolverConfiguration: path)
        var changes = 0
        resolver.serversChanged = { changes += 1 }
        try AtomicFile.replace(path, Array("nameserver 127.0.0.1\n".utf8))
        #expect(try loop.turn(until: { changes > 0 }))
    }

    @Test(arguments: ["", "a..b", "a b", String(repeating: "x", count: 64) + ".org", "a\\.b", "\u{7}.org"])
    func whatIsNoNameIsNotAsked(name: String) throws {
        let server = try NameServer(on: loop)
        let resolver = try Resolver(on: loop, servers: [server.address], hostsFile: "/dev/null")
        guard case .failed? = try ask(resolver, name) else { return #expect(Bool(false), "asked \(name)") }
        #expect(server.asked.isEmpty)
    }

    @Test(.enabled(if: Dnsmasq.isInstalled, "dnsmasq (package dnsmasq-base) is not installed"))
    func aRealServerAnswers() throws {
        let server = try Dnsmasq()
        let resolver = try Resolver(on: loop, servers: [server.address], hostsFile: "/dev/null")
        let end = loop.now + .seconds(20)
        var services: DNSAnswer?
        // Until it has opened its socket a look-up fails at once.
        while loop.now < end {
            services = try ask(resolver, "_sip._udp.example.org", .srv)
            if case .records = services { break }
        }
        guard case .records(let found) = services else { return #expect(Bool(false), "no answer") }
        #expect(
            Set(found) == [
                .service(priority: 1, weight: 5, port: 5070, target: "a.example.org"),
                .service(priority: 2, weight: 5, port: 5060, target: "b.example.org"),
            ])
        #expect(try ask(resolver, "a.example.org") == .records([.address(.v4(0x7F00_0002))]))
        #expect(
            try ask(resolver, "a.example.org", .aaaa)
                == .records([.address(.v6(high: 0x2001_0DB8_0000_0000, low: 1, zone: 0))]))
        #expect(
            try ask(resolver, "example.org", .naptr)
                == .records([
                    .naming(
                        order: 10, preference: 20, flags: "s", service: "SIP+D2T",
                        replacement: "_sip._tcp.example.org")
                ]))
        #expect(try ask(resolver, "none.example.org") == .records([]))
    }
}

private final class Dnsmasq {
    static let path = "/usr/sbin/dnsmasq"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }
    let address = SocketAddress(.v4(0x7F00_004D), UInt16.random(in: 20_000..<30_000))
    private let program: Program

    init() throws {
        program = try Program(
            Self.path,
            [
                "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root",
                "--pid-file=", "--listen-address=\(address.address)", "--bind-interfaces", "--port=\(address.port)",
                "--local=/example.org/", "--host-record=a.example.org,127.0.0.2,2001:db8::1",
                "--srv-host=_sip._udp.example.org,a.example.org,5070,1,5",
                "--srv-host=_sip._udp.example.org,b.example.org,5060,2,5",
                "--naptr-record=example.org,10,20,s,SIP+D2T,,_sip._tcp.example.org",
            ])
    }
}
