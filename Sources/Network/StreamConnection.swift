import CLinux
import EventLoop
import Glibc
import Primitives
import SIP

/// One TCP connection: raw octets in and out.
final class StreamConnection {
    enum Event {
        case opened
        case received([UInt8])
        /// Nothing follows. Nil: the peer closed in order.
        case closed(TransportFailure?)
    }

    /// What may wait to be written: a peer that does not read costs no more than this.
    private static let queueLimit = 256 * 1024

    /// So much is read in one turn.
    private static let blockSize = 16_384

    let flow: Flow
    let isInbound: Bool
    private(set) var isOpen: Bool
    private let socket: Socket
    private let loop: EventLoop
    private let handler: (StreamConnection, Event) -> Void
    private var queue: [UInt8] = []
    private var watch: Watch?
    private var isOver = false

    init(
        on loop: EventLoop, _ socket: consuming Socket, _ flow: Flow, isInbound: Bool,
        _ handler: @escaping (StreamConnection, Event) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.socket = socket
        self.flow = flow
        self.isInbound = isInbound
        self.handler = handler
        isOpen = isInbound
        watch = try loop.watch(self.socket.number, isInbound ? .readable : [.readable, .writable]) {
            [unowned self] ready in handle(ready)
        }
    }

    /// Queues what the kernel does not take at once.
    func send(_ octets: [UInt8]) -> TransportFailure? {
        if isOver { return .closedByPeer }
        guard queue.count + octets.count <= Self.queueLimit else { return .timedOut }
        let wasEmpty = queue.isEmpty
        queue += octets
        guard isOpen, wasEmpty else { return nil }
        if let failure = write() {
            loop.nextTurn { [self] in end(failure) }
            return failure
        }
        return nil
    }

    private func handle(_ ready: Events) {
        if !isOpen {
            let number = portero_take_error(socket.number)
            if number != 0 { return end(TransportFailure(number: number)) }
            guard ready.contains(.writable) else { return }
            isOpen = true
            handler(self, .opened)
        }
        if !isOver, ready.contains(.writable), let failure = write() { return end(failure) }
        if !isOver, ready.contains(.readable) || ready.contains(.hungUp) || ready.contains(.failed) { read() }
    }

    private func read() {
        var octets = [UInt8](repeating: 0, count: Self.blockSize)
        let count = Glibc.read(socket.number, &octets, octets.count)
        if count < 0 {
            let number = errno
            if number != EAGAIN, number != EINTR { end(TransportFailure(number: number)) }
        } else if count == 0 {
            end(nil)
        } else {
            octets.removeLast(octets.count - count)
            handler(self, .received(octets))
        }
    }

    private func write() -> TransportFailure? {
        while !queue.isEmpty {
            let count = Glibc.send(socket.number, queue, queue.count, Int32(MSG_NOSIGNAL))
            if count < 0 {
                let number = errno
                if number == EINTR { continue }
                if number == EAGAIN { break }
                return TransportFailure(number: number)
            }
            queue.removeFirst(count)
        }
        watch?.change(to: queue.isEmpty ? .readable : [.readable, .writable])
        return nil
    }

    private func end(_ failure: TransportFailure?) {
        if isOver { return }
        close()
        handler(self, .closed(failure))
    }

    /// Ends it without a report.
    func close() {
        isOver = true
        watch = nil
    }
}
