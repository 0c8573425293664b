import CLinux
package import EventLoop
import Glibc
package import Primitives
package import SIP

/// A UDP socket of one family that knows the own address of each datagram.
package final class DatagramSocket {
    package enum Event {
        case received([UInt8], from: SocketAddress, to: IPAddress)
        /// An ICMP error about what was sent there.
        case failed(SocketAddress, TransportFailure)
    }

    /// So many datagrams are read in one turn, then others get theirs.
    private static let batch = 32
    /// The longest UDP payload (SEC3).
    private static let longest = 65_507

    /// Where it is bound, with the port that a 0 became.
    package let address: SocketAddress
    private let socket: Socket
    private let handler: (Event) -> Void
    private var buffer = [UInt8](repeating: 0, count: longest)
    private var watch: Watch?

    /// Binds to an address; the wildcard one takes datagrams to any, port 0 is any free one.
    package init(
        on loop: EventLoop, _ address: SocketAddress, _ options: SocketOptions, _ handler: @escaping (Event) -> Void
    ) throws(SystemError) {
        let socket = try Socket(.datagram, family: address.address.family, options, subject: "udp \(address)")
        try socket.bind(to: address)
        self.address = try socket.localAddress()
        self.socket = socket
        self.handler = handler
        watch = try loop.watch(self.socket.number, .readable) { [unowned self] ready in
            if ready.contains(.failed) { takeErrors() }
            if ready.contains(.readable) { receive() }
        }
    }

    private func receive() {
        for _ in 0..<Self.batch {
            var from = portero_address()
            var to = portero_address()
            let count = portero_receive(socket.number, &buffer, buffer.count, &from, &to)
            if count < 0 {
                if errno == EAGAIN { return }
                continue
            }
            guard let source = SocketAddress(from), let own = SocketAddress(to) else { continue }
            handler(.received(Array(buffer[..<count]), from: source, to: own.address))
        }
    }

    private func takeErrors() {
        _ = portero_take_error(socket.number)
        for _ in 0..<Self.batch {
            var remote = portero_address()
            let number = portero_receive_error(socket.number, &remote)
            if number == 0 { return }
            if let remote = SocketAddress(remote) { handler(.failed(remote, TransportFailure(number: number))) }
        }
    }

    /// Sends from an own address (the wildcard one: the kernel's choice). A full send buffer counts as a datagram lost on
    /// the way.
    package func send(_ octets: [UInt8], to remote: SocketAddress, from local: IPAddress) -> TransportFailure? {
        var destination = remote.native
        var source = SocketAddress(local, 0).native
        // An error that an earlier datagram caused waits on the socket and would be taken for this one's: try again.
        for _ in 0..<3 {
            let count =
                local.isUnspecified
                ? portero_send(socket.number, octets, octets.count, &destination, nil)
                : portero_send(socket.number, octets, octets.count, &destination, &source)
            if count >= 0 { return nil }
            let number = errno
            switch number {
            case EAGAIN, ENOBUFS, EINTR: return nil
            case ECONNREFUSED, EHOSTUNREACH: continue
            default: return TransportFailure(number: number)
            }
        }
        return .unreachable
    }
}
