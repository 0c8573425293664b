import CLinux
import EventLoop
import Network
import Primitives
import SIP
import Testing

/// Sockets on `lo` alone, and what came out of them.
private final class Station {
    private(set) var datagrams: [([UInt8], Flow)] = []
    private(set) var octets: [UInt64: [UInt8]] = [:]
    private(set) var opened: [(flow: Flow, isInbound: Bool)] = []
    private(set) var closed: [(flow: Flow, failure: TransportFailure?)] = []
    private(set) var unreachable: [(SocketAddress, TransportFailure)] = []
    private(set) var listening: [(Transport, SocketAddress)] = []
    private(set) var notListening: [(Transport, SystemError)] = []
    private var own: SIPSockets?

    init(on loop: EventLoop, port: UInt16 = 0) throws {
        own = try SIPSockets(on: loop, port: port, options: SocketOptions(interface: "lo")) { [unowned self] in
            switch $0 {
            case .datagram(let octets, let flow): datagrams.append((octets, flow))
            case .chunk(let chunk, let flow): octets[flow.connection, default: []] += chunk
            case .opened(let flow, let isInbound, _): opened.append((flow, isInbound))
            case .closed(let flow, let failure): closed.append((flow, failure))
            case .unreachable(let remote, let failure): unreachable.append((remote, failure))
            case .listening(let transport, let address): listening.append((transport, address))
            case .notListening(let transport, _, let error, _): notListening.append((transport, error))
            }
        }
    }

    var sockets: SIPSockets { get throws { try #require(own) } }
    func port(_ transport: Transport, ipv6: Bool = false) throws -> UInt16 {
        try #require(try sockets.port(of: transport, ipv6: ipv6))
    }
}

private func address(_ text: String, _ port: UInt16) throws -> SocketAddress {
    SocketAddress(try #require(IPAddress(text)), port)
}

@Suite struct SIPSocketsTests {
    private let loop: EventLoop
    init() throws { loop = try EventLoop() }

    @Test func oneFreePortServesAllTransports() throws {
        let station = try Station(on: loop)
        #expect(try loop.turn(until: { station.listening.count >= 2 }))
        #expect(try station.port(.udp) != 0)
        #expect(station.notListening.isEmpty)
    }

    @Test(arguments: [("127.0.0.2", "127.0.0.3"), ("::1", "::1")])
    func datagramsKnowTheirLocalAddressAndLeaveFromTheOneNamed(own: String, peer: String) throws {
        guard own != "::1" || hasIPv6Loopback() else { return }
        let left = try Station(on: loop)
        let right = try Station(on: loop)
        let isV6 = own.contains(":")
        let here = try address(own, try left.port(.udp, ipv6: isV6))
        let there = try address(peer, try right.port(.udp, ipv6: isV6))
        let failure = try left.sockets.send([1, 2, 3], along: Flow(transport: .udp, local: here, remote: there))
        #expect(failure == nil)
        #expect(try loop.turn(until: { right.datagrams.count == 1 }))
        #expect(right.datagrams[0].0 == [1, 2, 3])
        let back = right.datagrams[0].1
        #expect(back == Flow(transport: .udp, local: there, remote: here))
        #expect(try right.sockets.send([UInt8](repeating: 7, count: 60_000), along: back) == nil)
        #expect(try loop.turn(until: { left.datagrams.count == 1 }))
        #expect(left.datagrams[0].0.count == 60_000)
        #expect(left.datagrams[0].1 == Flow(transport: .udp, local: here, remote: there))
    }

    @Test func aClosedPortIsReportedAndOthersStillGetTheirs() throws {
        let left = try Station(on: loop)
        let right = try Station(on: loop)
        let here = try address("127.0.0.1", try left.port(.udp))
        let nobody = try address("127.0.0.9", 9)
        _ = try left.sockets.send([1], along: Flow(transport: .udp, local: here, remote: nobody))
        let there = try address("127.0.0.1", try right.port(.udp))
        #expect(try left.sockets.send([2], along: Flow(transport: .udp, local: here, remote: there)) == nil)
        #expect(try loop.turn(until: { right.datagrams.count == 1 && !left.unreachable.isEmpty }))
        #expect(left.unreachable[0].0 == nobody)
        #expect(left.unreachable[0].1 == .refused)
    }

    @Test func anAddressThatIsNotOursCannotBeTheSource() throws {
        let left = try Station(on: loop)
        let flow = Flow(
            transport: .udp, local: try address("192.0.2.7", 5060), remote: try address("127.0.0.1", 9))
        #expect(try left.sockets.send([1], along: flow) == .noRoute)
        #expect(throws: TransportFailure.noRoute) {
            try left.sockets.connect(to: address("127.0.0.1", 9), from: #require(IPAddress("192.0.2.7")))
        }
    }

    @Test func connectionsCarryOctetsBothWaysInOrder() throws {
        let left = try Station(on: loop)
        let right = try Station(on: loop)
        let there = try address("127.0.0.3", try right.port(.tcp))
        let flow = try left.sockets.connect(to: there, from: #require(IPAddress("127.0.0.2")))
        #expect(flow.local.address == IPAddress("127.0.0.2"))
        #expect(flow.local.port != 0)
        // Sent before the connection is made.
        #expect(try left.sockets.send(Array("early ".utf8), along: flow) == nil)
        #expect(try left.sockets.send(Array("late".utf8), along: flow) == nil)
        #expect(try loop.turn(until: { right.octets.values.first == Array("early late".utf8) }))
        #expect(left.opened.map(\.flow) == [flow])
        let back = right.opened[0].flow
        #expect(right.opened[0].isInbound)
        #expect(back.local == there && back.remote == flow.local)
        let large = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try right.sockets.send(large, along: back) == nil)
        #expect(try loop.turn(until: { left.octets[flow.connection]?.count == large.count }))
        #expect(left.octets[flow.connection] == large)
        try right.sockets.close(back)
        #expect(try loop.turn(until: { !left.closed.isEmpty }))
        #expect(left.closed[0].flow == flow && left.closed[0].failure == nil)
        #expect(right.closed.isEmpty)
        #expect(try left.sockets.send([1], along: flow) == .closedByPeer)
    }

    @Test func aRefusedConnectionIsReported() throws {
        let left = try Station(on: loop)
        let flow = try left.sockets.connect(to: address("127.0.0.1", 9), from: .loopbackV4)
        #expect(try loop.turn(until: { !left.closed.isEmpty }))
        #expect(left.closed[0].flow == flow && left.closed[0].failure == .refused)
    }

    @Test func aPeerThatDoesNotReadCostsNoMoreThanItsQueue() throws {
        let left = try Station(on: loop)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var any = sockaddr_in()
        any.sin_family = sa_family_t(AF_INET)
        any.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &any) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #expect(bind(listener, $0, length) == 0 && listen(listener, 1) == 0)
                #expect(getsockname(listener, $0, &length) == 0)
            }
        }
        let flow = try left.sockets.connect(
            to: address("127.0.0.1", UInt16(bigEndian: any.sin_port)), from: .loopbackV4)
        #expect(try loop.turn(until: { !left.opened.isEmpty }))
        let block = [UInt8](repeating: 0, count: 60_000)
        var failure: TransportFailure?
        for _ in 0..<1000 where failure == nil { failure = try left.sockets.send(block, along: flow) }
        #expect(failure == .timedOut)
    }

    @Test func connectionsOfAGoneAddressAreClosed() throws {
        let left = try Station(on: loop)
        let right = try Station(on: loop)
        let there = try address("127.0.0.1", try right.port(.tcp))
        let gone = try left.sockets.connect(to: there, from: #require(IPAddress("127.0.0.2")))
        let kept = try left.sockets.connect(to: there, from: #require(IPAddress("127.0.0.3")))
        #expect(try loop.turn(until: { right.opened.count == 2 && left.opened.count == 2 }))
        try left.sockets.closeConnections(from: [#require(IPAddress("127.0.0.2"))])
        #expect(try loop.turn(until: { left.closed.count == 1 && right.closed.count == 1 }))
        #expect(left.closed[0].flow == gone && left.closed[0].failure == .noRoute)
        #expect(try left.sockets.send([1], along: kept) == nil)
    }

    @Test func unknownAddressesGetFourConnections() throws {
        let left = try Station(on: loop)
        let right = try Station(on: loop)
        let there = try address("127.0.0.1", try right.port(.tcp))
        for _ in 0..<5 { _ = try left.sockets.connect(to: there, from: .loopbackV4) }
        #expect(try loop.turn(until: { right.opened.count == 4 && left.closed.count == 1 }))
        try right.sockets.isKnown = { _ in true }
        _ = try left.sockets.connect(to: there, from: .loopbackV4)
        #expect(try loop.turn(until: { right.opened.count == 5 }))
    }

    @Test func aTakenPortIsToldAndTakenOnceFree() throws {
        var first: Station? = try Station(on: loop)
        let port = try #require(first).port(.udp)
        let second = try Station(on: loop, port: port)
        #expect(try loop.turn(until: { second.notListening.count >= 2 }))
        #expect(second.notListening[0].1.number == EADDRINUSE)
        #expect(second.notListening[0].1.subject.hasSuffix(":\(port)"))
        first = nil
        #expect(try loop.turn(until: { second.listening.count >= 2 }))
        #expect(try second.port(.udp) == port)
        #expect(try second.port(.tcp) == port)
    }

    @Test func aMissingInterfaceIsToldAndNotFatal() throws {
        var errors: [SystemError] = []
        let sockets = try SIPSockets(on: loop, port: 0, options: SocketOptions(interface: "nowhere0")) {
            if case .notListening(_, _, let error, _) = $0 { errors.append(error) }
        }
        #expect(try loop.turn(until: { !errors.isEmpty }))
        #expect(errors[0].subject == "interface nowhere0")
        #expect(sockets.port(of: .udp, ipv6: false) == nil)
    }
}

private func hasIPv6Loopback() -> Bool {
    IPAddress("::1").map { LocalAddress.byRoute().towards($0) == $0 } ?? false
}

@Suite struct LocalAddressTests {
    @Test func routesDecide() throws {
        let remote = try #require(IPAddress("127.0.0.5"))
        #expect(LocalAddress.byRoute().towards(remote) == .loopbackV4)
        #expect(LocalAddress.byRoute(interface: "lo").towards(remote) == .loopbackV4)
        #expect(LocalAddress.byRoute(interface: "nowhere0").towards(remote) == nil)
        #expect(LocalAddress.pathMTU(to: remote).map { $0 >= 1280 } == true)
        #expect(LocalAddress { _ in .anyV6 }.towards(remote) == .anyV6)
    }
}
