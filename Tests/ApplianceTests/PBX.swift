import CLinux
import EventLoop
import Foundation
import Primitives

/// A registrar and an answering phone on one UDP port of 127.0.0.1, as a script: it says what it is told to.
final class PBX {
    struct Message {
        let text: String
        let from: UInt16

        /// The first value of a header; empty: there is none.
        subscript(_ name: String) -> String {
            for line in text.components(separatedBy: "\r\n").dropFirst() {
                if line.isEmpty { break }
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2, parts[0].lowercased() == name.lowercased() {
                    return parts[1].trimmingCharacters(in: .whitespaces)
                }
            }
            return ""
        }
        var start: String { text.components(separatedBy: "\r\n").first ?? "" }
        var method: String { start.hasPrefix("SIP/2.0") ? "" : String(start.prefix { $0 != " " }) }
        var status: Int? { start.hasPrefix("SIP/2.0 ") ? Int(start.dropFirst(8).prefix(3)) : nil }
        var vias: [String] {
            text.components(separatedBy: "\r\n").filter { $0.lowercased().hasPrefix("via:") }
        }
    }

    let port: UInt16
    private(set) var received: [Message] = []
    /// No: it hears and says nothing.
    var answers = true
    /// A 401 comes first.
    var challenges = false
    /// An INVITE is answered with 200; no: with nothing.
    var picksUp = true

    private let socket: Int32
    private let media: Int32
    private let mediaPort: UInt16
    private var watch: Watch?
    private var number = 0

    init(on loop: EventLoop) throws {
        (socket, port) = try Self.open()
        (media, mediaPort) = try Self.open()
        watch = try loop.watch(socket, .readable) { [unowned self] _ in read() }
    }

    deinit {
        watch = nil
        close(socket)
        close(media)
    }

    func requests(_ method: String) -> [Message] { received.filter { $0.method == method } }

    /// The Contact that was registered last.
    var contact: String {
        let header = requests("REGISTER").last { !$0["Contact"].isEmpty }?["Contact"] ?? ""
        return String(header.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" })
    }

    /// Where the appliance listens.
    var appliance: UInt16 { requests("REGISTER").last?.from ?? 0 }

    // MARK: Saying

    func send(_ text: String, to port: UInt16) {
        var address = Self.address(port)
        let octets = Array(text.utf8)
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, octets, octets.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    var description: String {
        "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio \(mediaPort) RTP/AVP 0 101\r\n"
            + "a=rtpmap:0 PCMU/8000\r\na=rtpmap:101 telephone-event/8000\r\n"
    }

    func respond(_ request: Message, _ status: String, _ headers: [String] = [], body: String = "") {
        var to = request["To"]
        if !to.contains("tag=") { to += ";tag=pbx" }
        let lines =
            ["SIP/2.0 " + status] + request.vias + [
                "From: " + request["From"], "To: " + to, "Call-ID: " + request["Call-ID"], "CSeq: " + request["CSeq"],
            ] + headers + ["Content-Length: \(body.utf8.count)"]
        send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body, to: request.from)
    }

    /// Calls the appliance's registered Contact.
    /// - Returns: the Call-ID.
    @discardableResult func call(headers: [String] = []) -> String {
        number += 1
        let id = "call-\(number)-\(UUID().uuidString)"
        say("INVITE", id, 1, to: "<\(contact)>", ["Content-Type: application/sdp"] + headers, body: description)
        return id
    }

    /// A request in the dialog that the answer to `call` began, or on its own.
    func say(
        _ method: String, _ id: String, _ cseq: Int, to: String, _ headers: [String] = [], body: String = ""
    ) {
        number += 1
        let lines =
            [
                "\(method) \(contact) SIP/2.0",
                "Via: SIP/2.0/UDP 127.0.0.1:\(port);branch=z9hG4bK\(number)x\(id);rport",
                "Max-Forwards: 70", "From: <sip:100@127.0.0.1>;tag=caller", "To: " + to, "Call-ID: " + id,
                "CSeq: \(cseq) \(method)", "Contact: <sip:100@127.0.0.1:\(port)>",
            ] + headers + ["Content-Length: \(body.utf8.count)"]
        send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body, to: appliance)
    }

    /// The response to a request of ours.
    func response(to id: String, _ method: String, final: Bool = true) -> Message? {
        received.last {
            $0["Call-ID"] == id && $0["CSeq"].hasSuffix(method) && ($0.status ?? 0) >= (final ? 200 : 100)
        }
    }

    // MARK: Hearing

    private func read() {
        var octets = [UInt8](repeating: 0, count: 65_536)
        while true {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(socket, &octets, octets.count, Int32(MSG_DONTWAIT), $0, &length)
                }
            }
            if count < 0 { return }
            // Keep-alives.
            if count < 8 { continue }
            let message = Message(
                text: String(decoding: octets[..<count], as: UTF8.self), from: UInt16(bigEndian: address.sin_port))
            received.append(message)
            if answers { answer(message) }
        }
    }

    private func answer(_ request: Message) {
        switch request.method {
        case "REGISTER":
            if challenges, request["Authorization"].isEmpty {
                return respond(
                    request, "401 Unauthorized",
                    ["WWW-Authenticate: Digest realm=\"pbx\", nonce=\"n\(number)\", algorithm=SHA-256, qop=\"auth\""])
            }
            let expires = request["Expires"]
            let contact = request["Contact"].components(separatedBy: ";expires").first ?? ""
            respond(request, "200 OK", expires == "0" ? [] : ["Contact: \(contact);expires=\(expires)"])
        case "INVITE":
            guard picksUp else { return }
            respond(
                request, "200 OK",
                ["Contact: <sip:100@127.0.0.1:\(port)>", "Content-Type: application/sdp"], body: description)
        case "BYE", "CANCEL", "OPTIONS", "INFO": respond(request, "200 OK")
        default: break
        }
    }

    // MARK: Sockets

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func open() throws -> (socket: Int32, port: UInt16) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> UInt16? in
                guard bind(socket, address, length) == 0, getsockname(socket, address, &length) == 0 else { return nil }
                return UInt16(bigEndian: pointer.pointee.sin_port)
            }
        }
        guard let port else { throw SystemError("test", "bind", number: errno) }
        return (socket, port)
    }

    /// A UDP and TCP port that is free now.
    static func freePort() throws -> UInt16 {
        let (socket, port) = try open()
        close(socket)
        return port
    }
}
