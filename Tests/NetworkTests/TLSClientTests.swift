import Foundation
import Network
import Primitives
import SIP
import TLSPeer
import Testing

/// Certificates in a folder that goes with the test.
private final class Authority {
    private let folder: String
    let certificate: String

    init(_ name: String = "test authority") throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        certificate = folder + "/ca.pem"
        #expect(tls_peer_issue(certificate, name, nil, -86_400, 86_400 * 30, nil) == 1)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Path of a file with certificate and key.
    func issue(_ names: String?, begins: Int = -3600, ends: Int = 86_400 * 30) -> String {
        let file = folder + "/" + UUID().uuidString + ".pem"
        #expect(tls_peer_issue(file, "leaf", names, begins, ends, certificate) == 1)
        return file
    }
}

/// A client and a server, and what they told.
private final class Handshake {
    let client: TLSClient
    private let peer: OpaquePointer
    private(set) var events: [TLSClient.Event] = []
    private(set) var failure: String?
    /// What the client sent after the server's flight, when it refused it.
    private(set) var isServerDone = false

    init(
        _ server: TLSServer, certificate: String, clientAuthority: String? = nil, version: Int32 = 0,
        suites: String? = nil, time: UTCTime? = nil
    ) throws {
        client = try TLSClient(to: server, at: time)
        peer = try #require(tls_peer_create(certificate, clientAuthority, version, suites))
        run { () throws(TLSClient.Failure) in try client.start() }
    }

    deinit { tls_peer_destroy(peer) }

    /// Lets octets go to and fro, `portion` at once, until both are silent.
    func run(portion: Int = 16_384, _ begin: () throws(TLSClient.Failure) -> Void = {}) {
        do throws(TLSClient.Failure) {
            try begin()
            while true {
                let up = client.takeOutput()
                tls_peer_feed(peer, up, up.count)
                if !isServerDone { isServerDone = tls_peer_shake_hands(peer) == 1 }
                let down = serverOutput()
                if up.isEmpty, down.isEmpty { return }
                for start in stride(from: 0, to: down.count, by: portion) {
                    events += try client.receive(Array(down[start..<min(start + portion, down.count)]))
                }
            }
        } catch {
            failure = error.text
            let rest = client.takeOutput()
            tls_peer_feed(peer, rest, rest.count)
            isServerDone = tls_peer_shake_hands(peer) == 1
        }
    }

    private func serverOutput() -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: 65_536)
        let count = tls_peer_take(peer, &octets, octets.count)
        return Array(octets.prefix(count))
    }

    func say(_ octets: [UInt8], portion: Int = 16_384) {
        #expect(tls_peer_write(peer, octets, octets.count) == 1)
        run(portion: portion)
    }

    func end() {
        tls_peer_end(peer)
        run()
    }

    func renegotiate() -> Bool {
        let isSaid = tls_peer_renegotiate(peer) == 1
        run()
        return isSaid
    }

    var heard: [UInt8] {
        var octets = [UInt8](repeating: 0, count: 65_536)
        let count = tls_peer_read(peer, &octets, octets.count)
        return Array(octets.prefix(count))
    }
    var report: TLSClient.Report? {
        for case .secured(let report) in events { return report }
        return nil
    }
    var said: [UInt8] {
        var said: [UInt8] = []
        for case .received(let octets) in events { said += octets }
        return said
    }
    var name: String? { tls_peer_name(peer).map { String(cString: $0) } }
    var isClientKnown: Bool { tls_peer_knows_client(peer) != 0 }
}

private func server(
    _ authority: Authority?, names: [String] = ["pbx.example.org"], host: String = "pbx.example.org",
    _ change: (inout TLSSettings) -> Void = { _ in }
) -> TLSServer {
    var settings = TLSSettings()
    settings.names = names
    settings.authorities = authority?.certificate
    change(&settings)
    return TLSServer(settings, host: host, isProxy: false)
}

@Suite("SEC8: TLS client") struct TLSClientTests {
    private let ours: Authority
    init() throws { ours = try Authority() }

    @Test(arguments: [0x0303, 0x0304] as [Int32])
    func octetsGoBothWaysInAnyPortion(version: Int32) throws {
        let pair = try Handshake(
            server(ours), certificate: ours.issue("DNS:PBX.example.org"), version: version)
        #expect(pair.failure == nil)
        #expect(pair.report?.version == (version == 0x0303 ? "TLSv1.2" : "TLSv1.3"))
        #expect(pair.name == "pbx.example.org")
        try pair.client.send(Array("REGISTER".utf8))
        pair.run()
        #expect(pair.heard == Array("REGISTER".utf8))
        let large = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
        pair.say(large, portion: 7)
        #expect(pair.said == large)
        #expect(pair.events.last != .ended)
        pair.end()
        #expect(pair.events.last == .ended)
    }

    @Test func nothingIsEncryptedBeforeTheServerIsTheOne() throws {
        let client = try TLSClient(to: server(ours))
        try client.start()
        #expect(throws: TLSClient.Failure.self) { try client.send([1]) }
    }

    /// What a certificate must say for its server to be taken.
    static let names: [(certificate: String?, isTaken: Bool)] = [
        ("DNS:pbx.example.org", true), ("DNS:other.example.org,DNS:pbx.example.org", true),
        ("URI:sip:pbx.example.org", true), ("URI:sip:PBX.example.org,DNS:a.b", true),
        ("URI:sips:pbx.example.org", false), ("URI:sip:100@pbx.example.org", false), ("DNS:*.example.org", false),
        ("DNS:example.org", false), ("DNS:pbx.example.org.evil.net", false), ("IP:192.0.2.1", false), (nil, false),
        ("email:pbx.example.org", false),
    ]

    @Test(arguments: names.indices)
    func theNameDecides(index: Int) throws {
        let sample = Self.names[index]
        let pair = try Handshake(server(ours), certificate: ours.issue(sample.certificate))
        #expect((pair.report != nil) == sample.isTaken)
        #expect((pair.failure == nil) == sample.isTaken)
        if !sample.isTaken {
            #expect(pair.failure?.contains("not for pbx.example.org (/CN=leaf, issued by /CN=test authority") == true)
            #expect(!pair.isServerDone, "the end of the handshake went to a stranger")
        }
    }

    @Test func anAddressStandsInTheCertificateAsOne() throws {
        let address = server(ours, names: ["192.0.2.1"], host: "192.0.2.1")
        let pair = try Handshake(address, certificate: ours.issue("IP:192.0.2.1"))
        #expect(pair.failure == nil)
        #expect(pair.name == nil, "an address is no server_name")
        let text = try Handshake(address, certificate: ours.issue("DNS:192.0.2.1"))
        #expect(text.failure?.contains("not for 192.0.2.1") == true)
    }

    @Test func strangersDatesAndForeignAuthoritiesAreRefused() throws {
        let others = try Authority("others")
        let cases: [(String, String)] = [
            (ours.issue("DNS:pbx.example.org", begins: -7200, ends: -3600), "certificate has expired"),
            (ours.issue("DNS:pbx.example.org", begins: 3600), "certificate is not yet valid"),
            (others.issue("DNS:pbx.example.org"), "unable to get local issuer certificate"),
            (others.certificate, "self-signed certificate"),
        ]
        for (certificate, reason) in cases {
            let pair = try Handshake(server(ours), certificate: certificate)
            #expect(pair.report == nil)
            #expect(pair.failure?.contains("refused: \(reason)") == true, "\(pair.failure ?? "taken")")
            #expect(pair.failure?.contains("valid from 2") == true)
        }
    }

    @Test("R10: another time stands in for the clock where that is tolerated") func standInTime() throws {
        let certificate = ours.issue("DNS:pbx.example.org", begins: -7200, ends: -3600)
        let then = UTCTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) - 5_400_000)
        let tolerant = try Handshake(
            server(ours) { $0.toleratesClock = true }, certificate: certificate, time: then)
        #expect(tolerant.failure == nil)
        let strict = try Handshake(server(ours), certificate: certificate, time: then)
        #expect(strict.failure?.contains("certificate has expired") == true)
    }

    @Test func thePinIsOfTheServersKey() throws {
        let certificate = ours.issue("DNS:pbx.example.org")
        let first = try Handshake(server(ours), certificate: certificate)
        let digest = try #require(first.report?.server.keyDigest)
        let right = try Handshake(server(ours) { $0.pins = [[0], digest] }, certificate: certificate)
        #expect(right.failure == nil)
        let wrong = try Handshake(server(ours) { $0.pins = [[0]] }, certificate: certificate)
        #expect(wrong.failure?.contains("its key is not tls-pin's but \(base64(digest))") == true)
        // A pin holds where nothing else is checked.
        let others = try Authority()
        let foreign = others.issue("DNS:else.example.org")
        let unchecked = try Handshake(server(nil) { $0.verifies = false }, certificate: foreign)
        #expect(unchecked.failure == nil)
        let pinned = try Handshake(
            server(nil) {
                $0.verifies = false
                $0.pins = [digest]
            }, certificate: foreign)
        #expect(pinned.failure?.contains("tls-pin") == true)
    }

    @Test func ourCertificateIsShownWhereItIsAskedFor() throws {
        let own = ours.issue("DNS:door.example.org", ends: 86_400)
        let certificate = ours.issue("DNS:pbx.example.org")
        let with = try Handshake(
            server(ours) { $0.certificate = own }, certificate: certificate, clientAuthority: ours.certificate)
        #expect(with.failure == nil && with.isClientKnown)
        let ends = try #require(with.report?.own?.notAfter)
        #expect(abs(ends.milliseconds - Int64(Date().timeIntervalSince1970 * 1000) - 86_400_000) < 60_000)
        let without = try Handshake(server(ours), certificate: certificate, clientAuthority: ours.certificate)
        #expect(without.failure?.contains("alert") == true, "\(without.failure ?? "taken")")
        #expect(!without.isClientKnown)
    }

    @Test func whatIsNotThereIsToldByItsName() throws {
        func failure(_ change: (inout TLSSettings) -> Void) -> String {
            do throws(TLSClient.Failure) {
                _ = try TLSClient(to: server(ours, change))
                return ""
            } catch {
                return error.text
            }
        }
        #expect(failure { $0.authorities = "/nowhere/ca.pem" }.hasPrefix("no CA certificates in /nowhere/ca.pem"))
        #expect(failure { $0.certificate = "/nowhere/door.pem" }.hasPrefix("the own certificate cannot be read"))
        let (one, two) = (ours.issue(nil), ours.issue(nil))
        let mixed = failure {
            $0.certificate = one
            $0.key = two
        }
        #expect(mixed.hasPrefix("the key of the own certificate cannot be used"))
    }

    @Test func oldVersionsAndWeakSuitesAreRefused() throws {
        let certificate = ours.issue("DNS:pbx.example.org")
        for version in [0x0301, 0x0302] as [Int32] {
            let pair = try Handshake(server(ours), certificate: certificate, version: version)
            #expect(pair.report == nil && pair.failure?.hasPrefix("handshake failed") == true)
        }
        for suites in ["ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384"] {
            let pair = try Handshake(server(ours), certificate: certificate, version: 0x0303, suites: suites)
            #expect(pair.report == nil && pair.failure?.hasPrefix("handshake failed") == true)
        }
    }

    @Test func noHandshakeFollowsTheFirst() throws {
        let pair = try Handshake(
            server(ours), certificate: ours.issue("DNS:pbx.example.org"), version: 0x0303)
        #expect(pair.renegotiate())
        // It is declined: the server may go on without or end it, but there is no second handshake.
        #expect(pair.events.filter { if case .secured = $0 { true } else { false } }.count == 1)
        #expect(pair.failure == nil)
    }

    /// Whatever comes instead of a handshake: a failure, never a connection.
    @Test(arguments: 0..<200)
    func damagedOctetsGiveNoConnection(seed: Int) throws {
        var random = Randomness.seeded(UInt64(seed))
        let client = try TLSClient(to: server(ours))
        try client.start()
        var octets = random.octets(Int.random(in: 1...400, using: &random))
        if seed % 2 == 0 { octets = [22, 3, 3, 0, UInt8(truncatingIfNeeded: octets.count)] + octets }
        let events = try? client.receive(octets)
        #expect(events ?? [] == [])
        #expect(!client.isSecured)
    }
}
