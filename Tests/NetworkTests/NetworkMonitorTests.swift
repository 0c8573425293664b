import EventLoop
import Network
import Primitives
import SIP
import Testing

@Suite struct NetworkStateTests {
    @Test func thisMachineHasALoopback() throws {
        let state = try NetworkState.current()
        #expect(state.links.contains { $0.name == "lo" && $0.isLoopback })
        #expect(
            state.addresses.contains {
                $0.interface == "lo" && $0.address == .loopbackV4 && $0.prefixLength == 8 && $0.isUsable
            })
        #expect(!state.sources.contains(.loopbackV4))
    }
}

/// In network namespaces of their own.
@Suite(.enabled(if: Namespace.isPossible, "network namespaces need root and iproute2"))
struct NetworkMonitorTests {
    /// A cable between two ends, `left` with an address.
    private static func cable() throws {
        try Namespace.ip("link add left type veth peer name right")
        try Namespace.ip("link set left up")
        try Namespace.ip("link set right up")
        try Namespace.ip("addr add 192.0.2.7/24 dev left")
    }

    @Test func addressesLinksAndRoutesAreFollowed() throws {
        try Namespace.run {
            let loop = try EventLoop()
            var states: [NetworkState] = []
            let monitor = try NetworkMonitor(on: loop) { states.append($0) }
            #expect(!monitor.state.isUp)
            #expect(monitor.state.sources.isEmpty)
            func settles(_ condition: (NetworkState) -> Bool) throws -> Bool {
                try loop.turn(until: { condition(monitor.state) })
            }
            try Self.cable()
            let first = IPAddress.v4(0xC000_0207)
            #expect(try settles { $0.sources.contains(first) })
            #expect(monitor.state.isUp)
            #expect(states.last == monitor.state)
            #expect(monitor.changes == states.count)
            // The route to what counts, not a default route.
            #expect(LocalAddress.byRoute().towards(.v4(0xC000_0201)) == first)
            #expect(LocalAddress.byRoute().towards(.v4(0xC633_6401)) == nil)
            try Namespace.ip("route add 198.51.100.0/24 via 192.0.2.1")
            #expect(try settles { $0.routes.contains { $0.gateway == .v4(0xC000_0201) && $0.prefixLength == 24 } })
            #expect(LocalAddress.byRoute().towards(.v4(0xC633_6401)) == first)
            try Namespace.ip("addr del 192.0.2.7/24 dev left")
            try Namespace.ip("addr add 192.0.2.8/24 dev left")
            #expect(try settles { $0.sources.contains(.v4(0xC000_0208)) && !$0.sources.contains(first) })
            #expect(LocalAddress.byRoute().towards(.v4(0xC000_0201)) == .v4(0xC000_0208))
            try Namespace.ip("link set right down")
            #expect(try settles { !$0.isUp })
            // The kernel goes on choosing it.
            #expect(LocalAddress.byRoute().towards(.v4(0xC000_0201)) == .v4(0xC000_0208))
            #expect(!monitor.canSend(from: .v4(0xC000_0208)))
            #expect(monitor.canSend(from: .loopbackV4))
            try Namespace.ip("link set right up")
            #expect(try settles { $0.isUp })
            #expect(monitor.canSend(from: .v4(0xC000_0208)))
        }
    }

    @Test func anOverrideHidesTheRealNetwork() throws {
        try Namespace.run {
            try Self.cable()
            let loop = try EventLoop()
            var states: [NetworkState] = []
            let monitor = try NetworkMonitor(on: loop) { states.append($0) }
            #expect(try loop.turn(until: { monitor.state.isUp }))
            monitor.set(.down)
            #expect(monitor.state.isUp, "told from within the call")
            #expect(try loop.turn(until: { !monitor.state.isUp }))
            #expect(monitor.state.addresses.isEmpty)
            monitor.set(.auto)
            #expect(try loop.turn(until: { monitor.state.isUp }))
            try Namespace.ip("link set left down")
            #expect(try loop.turn(until: { !monitor.state.isUp }))
            monitor.set(.up)
            #expect(try loop.turn(until: { monitor.state.isUp }))
        }
    }

    /// The address of an interface that goes is no source any more; the wildcard socket serves the next one.
    @Test func socketsOutliveTheirAddresses() throws {
        try Namespace.run {
            try Self.cable()
            let loop = try EventLoop()
            var received: [Flow] = []
            let sockets = try SIPSockets(on: loop, port: 5060, ipv6: false) {
                if case .datagram(_, let flow) = $0 { received.append(flow) }
            }
            func sendToSelf(_ own: IPAddress) -> TransportFailure? {
                let address = SocketAddress(own, 5060)
                return sockets.send([1], along: Flow(transport: .udp, local: address, remote: address))
            }
            #expect(sendToSelf(.v4(0xC000_0207)) == nil)
            try Namespace.ip("addr del 192.0.2.7/24 dev left")
            try Namespace.ip("addr add 192.0.2.8/24 dev left")
            #expect(sendToSelf(.v4(0xC000_0207)) != nil)
            #expect(sendToSelf(.v4(0xC000_0208)) == nil)
            #expect(try loop.turn(until: { received.count == 2 }))
            #expect(received[1].local.address == .v4(0xC000_0208))
        }
    }

    @Test func anInterfaceThatWasReplacedGetsNewSockets() throws {
        try Namespace.run {
            try Self.cable()
            let loop = try EventLoop()
            var listening = 0
            let sockets = try SIPSockets(on: loop, port: 5060, ipv6: false, options: SocketOptions(interface: "left")) {
                if case .listening = $0 { listening += 1 }
            }
            #expect(try loop.turn(until: { listening == 2 }))
            sockets.follow(try NetworkState.current())
            try Namespace.ip("link del left")
            sockets.follow(try NetworkState.current())
            try loop.turn(atMost: .zero)
            #expect(listening == 2)
            try Self.cable()
            sockets.follow(try NetworkState.current())
            #expect(try loop.turn(until: { listening == 4 }))
            #expect(sockets.port(of: .udp, ipv6: false) == 5060)
            #expect(sockets.port(of: .tcp, ipv6: false) == 5060)
        }
    }
}
