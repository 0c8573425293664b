import CLinux
import EventLoop
import Network
import Primitives
import SIP
import Testing

/// Octets of a DNS response, written by hand.
struct ResponseWriter {
    private(set) var octets: [UInt8] = []

    mutating func number(_ value: Int, _ count: Int) {
        for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
            octets.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func name(_ name: String) {
        for label in name.split(separator: ".") {
            octets.append(UInt8(label.utf8.count))
            octets += Array(label.utf8)
        }
        octets.append(0)
    }

    mutating func text(_ text: String) {
        octets.append(UInt8(text.utf8.count))
        octets += Array(text.utf8)
    }

    mutating func record(_ owner: String, _ type: Int, timeToLive: Int, _ body: (inout ResponseWriter) -> Void) {
        name(owner)
        number(type, 2)
        number(1, 2)
        number(timeToLive, 4)
        var inner = ResponseWriter()
        body(&inner)
        number(inner.octets.count, 2)
        octets += inner.octets
    }

    /// Header and question, then the records.
    static func response(
        id: Int = 0, code: Int = 0, _ name: String, _ type: Int, answers: Int, authorities: Int = 0,
        _ records: (inout ResponseWriter) -> Void
    ) -> [UInt8] {
        var writer = ResponseWriter()
        writer.number(id, 2)
        writer.number(0x8180 | code, 2)
        writer.number(1, 2)
        writer.number(answers, 2)
        writer.number(authorities, 2)
        writer.number(0, 2)
        writer.name(name)
        writer.number(type, 2)
        writer.number(1, 2)
        records(&writer)
        return writer.octets
    }
}

/// A name server on the test's own loop, on a free port of 127.0.0.1.
final class NameServer {
    /// Gives the response without its id; nil stays silent.
    var answer: (_ name: String, _ type: Int) -> [UInt8]? = { _, _ in nil }
    private(set) var asked: [String] = []
    private(set) var address: SocketAddress
    private let socket: Int32
    private var watch: Watch?

    init(on loop: EventLoop) throws {
        socket = portero_socket(4, Int32(SOCK_DGRAM.rawValue))
        var own = portero_address()
        own.family = 4
        own.octets.0 = 127
        own.octets.3 = 1
        #expect(portero_bind(socket, &own) == 0 && portero_local_address(socket, &own) == 0)
        address = SocketAddress(.loopbackV4, own.port)
        watch = try loop.watch(socket, .readable) { [unowned self] _ in serve() }
    }

    deinit { close(socket) }

    private func serve() {
        var octets = [UInt8](repeating: 0, count: 1500)
        var peer = portero_address()
        var own = portero_address()
        let count = portero_receive(socket, &octets, octets.count, &peer, &own)
        guard count > 12 else { return }
        var labels: [String] = []
        var index = 12
        while index < count, octets[index] != 0 {
            let end = index + 1 + Int(octets[index])
            labels.append(String(decoding: octets[(index + 1)..<end], as: UTF8.self))
            index = end
        }
        let name = labels.joined(separator: ".")
        asked.append(name)
        guard var response = answer(name, Int(octets[index + 1]) << 8 | Int(octets[index + 2])) else { return }
        response[0] = octets[0]
        response[1] = octets[1]
        _ = portero_send(socket, response, response.count, &peer, nil)
    }
}
