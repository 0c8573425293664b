import CLinux
import EventLoop
import Glibc
import Primitives

/// A listening TCP socket.
final class StreamListener {
    private static let backlog: Int32 = 64
    /// Without free descriptors it rests for so long instead of spinning.
    private static let pause: Duration = .seconds(1)
    /// So many connections are taken in one turn.
    private static let batch = 8

    let address: SocketAddress
    private let socket: Socket
    private let options: SocketOptions
    private let handler: (consuming Socket, SocketAddress) -> Void
    private let loop: EventLoop
    private var watch: Watch?
    private var resumption: LoopTimer?

    init(
        on loop: EventLoop, _ address: SocketAddress, _ options: SocketOptions,
        _ handler: @escaping (consuming Socket, SocketAddress) -> Void
    ) throws(SystemError) {
        let socket = try Socket(.stream, family: address.address.family, options, subject: "tcp \(address)")
        _ = portero_set_option(socket.number, SOL_SOCKET, SO_REUSEADDR, 1)
        try socket.bind(to: address)
        if listen(socket.number, Self.backlog) != 0 { throw .last("tcp \(address)", "listen") }
        self.address = try socket.localAddress()
        self.socket = socket
        self.options = options
        self.handler = handler
        self.loop = loop
        watch = try loop.watch(self.socket.number, .readable) { [unowned self] _ in accept() }
        resumption = try loop.timer { [unowned self] in watch?.isEnabled = true }
    }

    private func accept() {
        for _ in 0..<Self.batch {
            var native = portero_address()
            let number = portero_accept(socket.number, &native)
            if number < 0 {
                switch errno {
                case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                    watch?.isEnabled = false
                    resumption?.set(deadline: loop.now + Self.pause)
                    return
                case EAGAIN: return
                default: continue
                }
            }
            let accepted = Socket(owning: number)
            guard let remote = SocketAddress(native) else { continue }
            accepted.setStreamOptions(family: address.address.family, dscp: options.dscp)
            handler(accepted, remote)
        }
    }
}
