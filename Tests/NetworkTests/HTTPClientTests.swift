import EventLoop
import Foundation
@testable import Network
import Primitives
import SIP
import Testing

/// A web server on the test's own loop: it answers the first chunk of a connection and closes.
private final class WebServer {
    var respond: (_ request: String) -> String? = { _ in nil }
    /// Instead: parts, one after another with a pause between them.
    var parts: [String] = []
    private var timer: LoopTimer?
    private(set) var requests: [String] = []
    private var sockets: SIPSockets?

    init(on loop: EventLoop) throws {
        sockets = try SIPSockets(on: loop, port: 0, ipv6: false, options: SocketOptions(interface: "lo")) {
            [unowned self] event in
            guard case .chunk(let octets, let flow) = event else { return }
            let request = String(decoding: octets, as: UTF8.self)
            requests.append(request)
            if !parts.isEmpty { return sendParts(flow, on: loop) }
            guard let response = respond(request) else { return }
            _ = sockets?.send(Array(response.utf8), along: flow)
            sockets?.close(flow)
        }
    }

    private func sendParts(_ flow: Flow, on loop: EventLoop) {
        _ = sockets?.send(Array(parts.removeFirst().utf8), along: flow)
        if parts.isEmpty {
            sockets?.close(flow)
            return
        }
        timer = try? loop.timer { [unowned self] in sendParts(flow, on: loop) }
        timer?.set(deadline: loop.now + .milliseconds(400))
    }

    func url(_ path: String) throws -> String {
        "http://127.0.0.1:\(try #require(sockets?.port(of: .tcp, ipv6: false)))/\(path)"
    }
}

@Suite struct HTTPClientTests {
    private let loop: EventLoop
    private let client: HTTPClient

    init() throws {
        loop = try EventLoop()
        client = try HTTPClient(on: loop, helper: HelperThread(on: loop), userAgent: "Portero/test")
    }

    private func get(_ request: HTTPClient.Request) throws -> HTTPClient.Answer? {
        var answer: HTTPClient.Answer?
        client.get(request) { answer = $0 }
        #expect(answer == nil, "answered from within the call")
        #expect(try loop.turn(until: { answer != nil }, within: .seconds(60)))
        return answer
    }

    @Test func aDocumentWithItsTagAndThenNothingNew() throws {
        let server = try WebServer(on: loop)
        server.respond = { request in
            request.contains("\r\nIf-None-Match: \"v1\"\r\n")
                ? "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n"
                : "HTTP/1.1 200 OK\r\netag:  \"v1\" \r\nContent-Length: 5\r\n\r\nhello"
        }
        var request = HTTPClient.Request(url: try server.url("a.ini"))
        #expect(try get(request) == .document(Array("hello".utf8), etag: "\"v1\""))
        request.etag = "\"v1\""
        #expect(try get(request) == .notModified)
        #expect(server.requests.count == 2)
        #expect(server.requests[0].hasPrefix("GET /a.ini HTTP/1.1\r\n"))
        #expect(server.requests[0].contains("\r\nUser-Agent: Portero/test\r\n"))
    }

    /// libcurl's own timers must not be what it lives by.
    @Test(arguments: ["Content-Length: 6\r\n", "", "Content-Length: 7\r\n"])
    func aSlowServerIsHeardToItsEnd(head: String) throws {
        let server = try WebServer(on: loop)
        server.parts = ["HTTP/1.1 200 OK\r\n", head, "Connection: close\r\n\r\nab", "cd", "ef", ""]
        var request = HTTPClient.Request(url: try server.url(""))
        request.timeLimit = .seconds(3600)
        let answer = try get(request)
        if head.contains("7") {
            guard case .failed? = answer else { return #expect(Bool(false), "\(String(describing: answer))") }
        } else {
            #expect(answer == .document(Array("abcdef".utf8), etag: nil))
        }
    }

    @Test func otherAnswersAreFailures() throws {
        let server = try WebServer(on: loop)
        server.respond = { _ in "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno" }
        #expect(try get(HTTPClient.Request(url: server.url(""))) == .failed("the server answered 404"))
    }

    @Test func whatIsTooLargeIsRefusedHoweverItIsSent() throws {
        let server = try WebServer(on: loop)
        var request = HTTPClient.Request(url: try server.url(""))
        request.limit = 10
        for head in ["Content-Length: 11\r\n", ""] {
            server.respond = { _ in "HTTP/1.1 200 OK\r\n\(head)Connection: close\r\n\r\n12345678901" }
            #expect(try get(request) == .failed("too large"))
            server.respond = { _ in "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n1234567890" }
            #expect(try get(request) == .document(Array("1234567890".utf8), etag: nil))
        }
    }

    @Test func aSilentServerEndsWithTheTimeLimit() throws {
        let server = try WebServer(on: loop)
        var request = HTTPClient.Request(url: try server.url(""))
        request.timeLimit = .milliseconds(50)
        guard case .failed? = try get(request) else { return #expect(Bool(false), "it did not end") }
        #expect(server.requests.count <= 1)
    }

    @Test func aRedirectToPlainHTTPIsNotFollowed() throws {
        let server = try WebServer(on: loop)
        let other = try server.url("other")
        server.respond = { _ in "HTTP/1.1 302 Found\r\nLocation: \(other)\r\nContent-Length: 0\r\n\r\n" }
        guard case .failed? = try get(HTTPClient.Request(url: server.url(""))) else {
            return #expect(Bool(false), "followed")
        }
        #expect(server.requests.count == 1)
    }

    @Test func nobodyThereIsAFailure() throws {
        guard case .failed? = try get(HTTPClient.Request(url: "http://127.0.0.1:9/")) else {
            return #expect(Bool(false), "no failure")
        }
    }

    @Test func filesAreRead() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("portero \(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try AtomicFile.replace(folder + "/a.ini", [1, 2, 3])
        let url = "file://" + folder.replacingOccurrences(of: " ", with: "%20")
        #expect(try get(HTTPClient.Request(url: url + "/a.ini")) == .document([1, 2, 3], etag: nil))
        var request = HTTPClient.Request(url: url + "/a.ini")
        request.limit = 2
        #expect(try get(request) == .failed("too large"))
        guard case .failed(let text)? = try get(HTTPClient.Request(url: url + "/none")) else {
            return #expect(Bool(false), "read")
        }
        #expect(text.hasSuffix("/none: open: No such file or directory"))
        guard case .failed? = try get(HTTPClient.Request(url: url)) else { return #expect(Bool(false), "a folder") }
    }

    @Test(arguments: [
        ("https://config.example.org/a", HTTPClient.Place.web(isEncrypted: true)),
        ("HTTPS://u:p@host/", .web(isEncrypted: true)),
        ("http://127.0.0.1:80/a", .web(isEncrypted: false)),
        ("http://u:p@[::1]/a", .web(isEncrypted: false)),
        ("http://localhost", .web(isEncrypted: false)),
        ("file:///etc/a%2fb", .file("/etc/a/b")),
        ("file://localhost/etc/a", .file("/etc/a")),
        ("http://192.0.2.1/", .refused("http is for this machine alone: use https")),
        ("http://127.0.0.1@192.0.2.1/", .refused("http is for this machine alone: use https")),
        ("http://localhost.example.org/", .refused("http is for this machine alone: use https")),
        ("ftp://127.0.0.1/", .refused("only https, file, and http to this machine")),
        ("file://host/etc/a", .refused("no path in the URL")),
        ("file:///a%00", .refused("no path in the URL")),
        ("https:///a", .refused("no host in the URL")),
        ("https://a b/", .refused("no URL")),
        ("", .refused("no URL")),
    ])
    func urlsGoWhereTheyMay(url: String, place: HTTPClient.Place) { #expect(HTTPClient.place(of: url) == place) }

    private static let openssl = "/usr/bin/openssl"

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: openssl), "openssl is not installed"))
    func httpsTrustsWhatItIsToldTo() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("portero-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try AtomicFile.replace(folder + "/a.ini", Array("[device]\n".utf8))
        let made = try Program.run(
            Self.openssl,
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out",
                "cert.pem",
            ], folder: folder)
        #expect(made == 0)
        let port = Int.random(in: 20_000..<30_000)
        let server = try Program(
            Self.openssl,
            ["s_server", "-accept", "127.0.0.1:\(port)", "-cert", "cert.pem", "-key", "key.pem", "-WWW"],
            folder: folder)
        var request = HTTPClient.Request(url: "https://localhost:\(port)/a.ini")
        request.authorities = folder + "/cert.pem"
        let end = loop.now + .seconds(20)
        var answer: HTTPClient.Answer?
        // Until it has opened its socket the connection is refused.
        while loop.now < end {
            answer = try get(request)
            if case .document = answer { break }
        }
        #expect(answer == .document(Array("[device]\n".utf8), etag: nil))
        request.authorities = nil
        guard case .failed(let text)? = try get(request) else { return #expect(Bool(false), "trusted") }
        #expect(text.lowercased().contains("certificate"))
        withExtendedLifetime(server) {}
    }
}
