import CLinux
package import EventLoop
import Glibc
package import Primitives
package import SIP

/// The sockets that SIP messages travel on: a wildcard UDP socket and a TCP listener for each family on one port, and
/// the TCP connections. Octets up and down; framing is done above.
///
/// A port that is taken, or an interface that is not there yet, is tried again and never ends the appliance.
package final class SIPSockets {
    package enum Event {
        /// A whole UDP payload.
        case datagram([UInt8], Flow)
        /// The next octets of a connection, split anywhere.
        case chunk([UInt8], Flow)
        /// An outgoing connection is made, or an incoming one is taken; in TLS the server has proved to be the one.
        case opened(Flow, isInbound: Bool, TLSClient.Report? = nil)
        /// A connection is over or was not made; nil: the peer closed in order. Nothing follows on this flow.
        case closed(Flow, TransportFailure?)
        /// An ICMP error about what UDP sent to this address.
        case unreachable(SocketAddress, TransportFailure)
        /// A UDP socket or a TCP listener is open.
        case listening(Transport, SocketAddress)
        /// It could not be opened; the next attempt comes after the duration. Told once until it succeeds.
        case notListening(Transport, SocketAddress, SystemError, retryIn: Duration)
    }

    /// An outgoing connection that is not made by then has failed (T9).
    package static let connectLimit: Duration = .seconds(4)
    /// With TLS its handshake is over by then (SEC4).
    package static let handshakeLimit: Duration = .seconds(8)
    private static let retryInterval: Duration = .seconds(5)

    private struct Place {
        let transport: Transport
        let any: IPAddress
        var isReported = false
    }

    private let loop: EventLoop
    private var options: SocketOptions
    private var port: UInt16
    private let handler: (Event) -> Void
    private var timer: LoopTimer?
    /// Where sockets are still to be opened.
    private var missing: [Place] = []
    private var retryAt: Instant?
    /// Of the interface that sockets are bound to; 0: none.
    private var interfaceIndex: UInt32 = 0
    /// The port of the first socket that was opened.
    private var lastPort: UInt16?
    private var datagrams: [Int32: DatagramSocket] = [:]
    private var listeners: [Int32: StreamListener] = [:]
    private var connections: [UInt64: StreamConnection] = [:]
    private var connecting: [UInt64: Instant] = [:]
    private var limits = InboundLimits()
    private var lastNumber: UInt64 = 0

    /// Whether an address belongs to a peer that is known (a registrar, `accept-from`): it is spared by the limits of
    /// incoming connections.
    package var isKnown: (IPAddress) -> Bool = { _ in false }

    /// Stands in for the clock while that is not set, for accounts that tolerate it (R10).
    package var standInTime: UTCTime?

    /// Opens the sockets; what fails is tried again.
    /// - Parameters:
    ///   - port: 0 takes any free one, the same for all where possible.
    ///   - ipv6: without it there are sockets for IPv4 alone; with it a system without IPv6 is no fault.
    ///   - handler: never called from within a call of this class.
    package init(
        on loop: EventLoop, port: UInt16, ipv6: Bool = true, options: SocketOptions = SocketOptions(),
        _ handler: @escaping (Event) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.options = options
        self.port = port
        self.handler = handler
        interfaceIndex = options.interface.map { if_nametoindex($0) } ?? 0
        timer = try loop.timer { [unowned self] in runDeadlines() }
        missing = Self.places(ipv6: ipv6)
        openMissing()
    }

    /// The port of the open UDP socket or TCP listener of that family; nil while there is none.
    package func port(of transport: Transport, ipv6: Bool) -> UInt16? {
        let family: Int32 = ipv6 ? 6 : 4
        return transport == .udp ? datagrams[family]?.address.port : listeners[family]?.address.port
    }

    /// Sends a whole message along a flow. For UDP the flow's local address becomes the source; an unspecified one
    /// leaves it to the kernel.
    /// - Returns: why it could not be sent; nil says only that it is on its way.
    package func send(_ octets: [UInt8], along flow: Flow) -> TransportFailure? {
        if flow.transport == .udp {
            guard let socket = datagrams[flow.remote.address.family] else { return .noRoute }
            return socket.send(octets, to: flow.remote, from: flow.local.address)
        }
        guard let connection = connections[flow.connection] else { return .closedByPeer }
        return connection.send(octets)
    }

    /// Begins a connection from an own address. What is sent before it is made waits for it.
    /// - Parameter server: whom TLS must find there; nil: plain TCP.
    package func connect(
        to remote: SocketAddress, from local: IPAddress, secure server: TLSServer? = nil
    ) throws(TransportFailure) -> Flow {
        lastNumber += 1
        let number = lastNumber
        let connection: StreamConnection
        var tls: TLSClient?
        if let server { tls = try client(to: server) }
        do throws(SystemError) {
            let socket = try Socket(.stream, family: remote.address.family, options, subject: "tcp \(remote)")
            socket.setStreamOptions(family: remote.address.family, dscp: options.dscp)
            try socket.bind(to: SocketAddress(local, 0))
            var native = remote.native
            if portero_connect(socket.number, &native) != 0, errno != EINPROGRESS {
                throw .last("\(remote)", "connect")
            }
            let flow = Flow(
                transport: tls == nil ? .tcp : .tls, local: try socket.localAddress(), remote: remote,
                connection: number)
            connection = try StreamConnection(on: loop, socket, flow, isInbound: false, tls: tls) {
                [unowned self] in handle($0, $1)
            }
        } catch {
            throw TransportFailure(number: error.number)
        }
        connections[number] = connection
        connecting[number] = loop.now + (tls == nil ? Self.connectLimit : Self.handshakeLimit)
        rearm()
        return connection.flow
    }

    private func client(to server: TLSServer) throws(TransportFailure) -> TLSClient {
        do throws(TLSClient.Failure) {
            return try TLSClient(to: server, at: standInTime)
        } catch {
            throw .insecure(error.text)
        }
    }

    /// Closes a connection; there is no `closed` event for it.
    package func close(_ flow: Flow) { forget(flow.connection) }

    /// Closes every connection whose own address is one of these that are gone; each is reported.
    package func closeConnections(from gone: Set<IPAddress>) {
        for (number, connection) in connections where gone.contains(connection.flow.local.address) {
            forget(number)
            report(.closed(connection.flow, .noRoute))
        }
    }

    /// Opens the sockets anew where the interface they are bound to is another one of the same name, as after it was
    /// unplugged: those on the old one hear nothing any more.
    package func follow(_ state: NetworkState) {
        guard let name = options.interface, let index = state.links.first(where: { $0.name == name })?.index,
            index != interfaceIndex
        else { return }
        interfaceIndex = index
        reopen()
    }

    /// Takes over other settings: the sockets are opened anew. Connections go on, except on an interface that is not
    /// the one to use any more; those are reported as closed.
    package func change(port: UInt16, ipv6: Bool, options: SocketOptions) {
        if options.interface != self.options.interface {
            for (number, connection) in connections {
                forget(number)
                report(.closed(connection.flow, .noRoute))
            }
        }
        (self.port, self.options) = (port, options)
        interfaceIndex = options.interface.map { if_nametoindex($0) } ?? 0
        lastPort = nil
        (datagrams, listeners, missing) = ([:], [:], Self.places(ipv6: ipv6))
        openMissing()
    }

    private static func places(ipv6: Bool) -> [Place] {
        (ipv6 ? [.anyV4, .anyV6] : [IPAddress.anyV4]).flatMap { any in
            [Place(transport: .udp, any: any), Place(transport: .tcp, any: any)]
        }
    }

    private func reopen() {
        missing =
            datagrams.keys.map { Place(transport: .udp, any: $0 == 6 ? .anyV6 : .anyV4) }
            + listeners.keys.map { Place(transport: .tcp, any: $0 == 6 ? .anyV6 : .anyV4) }
            + missing
        datagrams = [:]
        listeners = [:]
        openMissing()
    }

    /// The handler is never entered from within a call.
    private func report(_ event: Event) { loop.nextTurn { [handler] in handler(event) } }
}

// MARK: - Listening

extension SIPSockets {
    private func openMissing() {
        var still: [Place] = []
        for var place in missing {
            let wanted = SocketAddress(place.any, port == 0 ? lastPort ?? 0 : port)
            do throws(SystemError) {
                let address = try open(place, wanted)
                lastPort = lastPort ?? address.port
                report(.listening(place.transport, address))
            } catch  where error.number == EAFNOSUPPORT {
                continue
            } catch  where error.number == EADDRNOTAVAIL && place.any.isV6 {
                continue
            } catch {
                if !place.isReported {
                    report(.notListening(place.transport, wanted, error, retryIn: Self.retryInterval))
                }
                place.isReported = true
                still.append(place)
            }
        }
        missing = still
        retryAt = missing.isEmpty ? nil : loop.now + Self.retryInterval
        rearm()
    }

    /// With `sip-port = 0` a port that only one family has free is no reason to wait.
    private func open(_ place: Place, _ wanted: SocketAddress) throws(SystemError) -> SocketAddress {
        do throws(SystemError) {
            return try openExactly(place, wanted)
        } catch  where error.number == EADDRINUSE && port == 0 {
            return try openExactly(place, SocketAddress(place.any, 0))
        }
    }

    private func openExactly(_ place: Place, _ address: SocketAddress) throws(SystemError) -> SocketAddress {
        let family = address.address.family
        if place.transport == .udp {
            let socket = try DatagramSocket(on: loop, address, options) { [unowned self] in
                handle($0, family: family)
            }
            datagrams[family] = socket
            return socket.address
        }
        let listener = try StreamListener(on: loop, address, options) {
            [unowned self] (socket: consuming Socket, remote) in
            accept(socket, remote)
        }
        listeners[family] = listener
        return listener.address
    }

    private func handle(_ event: DatagramSocket.Event, family: Int32) {
        switch event {
        case .received(let octets, let from, let to):
            guard let port = datagrams[family]?.address.port else { return }
            handler(.datagram(octets, Flow(transport: .udp, local: SocketAddress(to, port), remote: from)))
        case .failed(let remote, let failure): handler(.unreachable(remote, failure))
        }
    }
}

// MARK: - Connections

extension SIPSockets {
    private func accept(_ socket: consuming Socket, _ remote: SocketAddress) {
        lastNumber += 1
        let number = lastNumber
        switch limits.admit(number, from: remote.address, isKnown: isKnown(remote.address), at: loop.now) {
        case .refused: return
        case .admitted(let closing):
            if let closing, let victim = connections[closing] {
                forget(closing)
                handler(.closed(victim.flow, .timedOut))
            }
        }
        do throws(SystemError) {
            let flow = Flow(transport: .tcp, local: try socket.localAddress(), remote: remote, connection: number)
            connections[number] = try StreamConnection(on: loop, socket, flow, isInbound: true) { [unowned self] in
                handle($0, $1)
            }
            rearm()
            handler(.opened(flow, isInbound: true))
        } catch {
            limits.remove(number)
        }
    }

    private func handle(_ connection: StreamConnection, _ event: StreamConnection.Event) {
        let number = connection.flow.connection
        switch event {
        case .opened(let report):
            connecting[number] = nil
            handler(.opened(connection.flow, isInbound: false, report))
        case .received(let octets):
            if connection.isInbound { limits.touch(number, at: loop.now) }
            handler(.chunk(octets, connection.flow))
        case .closed(let failure):
            forget(number)
            handler(.closed(connection.flow, failure))
        }
        rearm()
    }

    private func forget(_ number: UInt64) {
        connections.removeValue(forKey: number)?.close()
        connecting[number] = nil
        limits.remove(number)
    }

    private func runDeadlines() {
        let now = loop.now
        if let retryAt, retryAt <= now { openMissing() }
        let over = connecting.filter { $0.value <= now }.map(\.key) + limits.expire(at: now)
        for number in over {
            guard let connection = connections[number] else { continue }
            let isInsecure = connection.isShakingHands
            forget(number)
            handler(.closed(connection.flow, isInsecure ? .insecure("the handshake takes too long") : .timedOut))
        }
        rearm()
    }

    private func rearm() {
        timer?.set(deadline: earliest(retryAt, connecting.values.earliest, limits.deadline))
    }
}
