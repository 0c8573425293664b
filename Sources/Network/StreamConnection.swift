import CLinux
import EventLoop
import Glibc
import Primitives
import SIP

/// One TCP connection, in TLS or not: octets in and out.
final class StreamConnection {
    enum Event {
        /// It is made, and in TLS the server is the one.
        case opened(TLSClient.Report?)
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
    /// It carries what is sent.
    private(set) var isOpen: Bool
    private var isConnected: Bool
    /// TLS is at work and the server has not proved yet to be the one.
    var isShakingHands: Bool { isConnected && !isOpen }
    private let socket: Socket
    private let loop: EventLoop
    private let handler: (StreamConnection, Event) -> Void
    private let tls: TLSClient?
    /// In TLS: what was to be sent before the server has proved to be the one.
    private var early: [UInt8] = []
    /// What the kernel has not taken yet.
    private var queue: [UInt8] = []
    private var watch: Watch?
    private var isOver = false

    /// - Parameter tls: a client that has said nothing yet; nil: plain TCP.
    init(
        on loop: EventLoop, _ socket: consuming Socket, _ flow: Flow, isInbound: Bool, tls: TLSClient? = nil,
        _ handler: @escaping (StreamConnection, Event) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.socket = socket
        self.flow = flow
        self.isInbound = isInbound
        self.tls = tls
        self.handler = handler
        isOpen = isInbound
        isConnected = isInbound
        watch = try loop.watch(self.socket.number, isInbound ? .readable : [.readable, .writable]) {
            [unowned self] ready in handle(ready)
        }
    }

    /// Queues what the kernel does not take at once.
    func send(_ octets: [UInt8]) -> TransportFailure? {
        if isOver { return .closedByPeer }
        guard queue.count + early.count + octets.count <= Self.queueLimit else { return .timedOut }
        guard let tls else { return put(octets) }
        guard tls.isSecured else {
            early += octets
            return nil
        }
        do throws(TLSClient.Failure) {
            try tls.send(octets)
        } catch {
            return .insecure(error.text)
        }
        return put(tls.takeOutput())
    }

    private func put(_ octets: [UInt8]) -> TransportFailure? {
        let wasEmpty = queue.isEmpty
        queue += octets
        guard isConnected, wasEmpty else { return nil }
        if let failure = write() {
            loop.nextTurn { [self] in end(failure) }
            return failure
        }
        return nil
    }

    private func handle(_ ready: Events) {
        if !isConnected {
            let number = portero_take_error(socket.number)
            if number != 0 { return end(TransportFailure(number: number)) }
            guard ready.contains(.writable) else { return }
            isConnected = true
            if tls != nil { secure([]) } else { open(nil) }
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
            end(isShakingHands ? .insecure("the server ended the connection within the handshake") : nil)
        } else {
            octets.removeLast(octets.count - count)
            if tls != nil { secure(octets) } else { handler(self, .received(octets)) }
        }
    }

    /// Lets TLS work on octets of the server; none: it begins.
    private func secure(_ octets: [UInt8]) {
        guard let tls else { return }
        do throws(TLSClient.Failure) {
            let events = octets.isEmpty ? [] : try tls.receive(octets)
            if octets.isEmpty { try tls.start() }
            if let failure = put(tls.takeOutput()) { return end(failure) }
            for event in events where !isOver {
                switch event {
                case .secured(let report): open(report)
                case .received(let octets): handler(self, .received(octets))
                case .ended: end(nil)
                }
            }
        } catch {
            // The peer hears why, if TLS has a word for it.
            _ = put(tls.takeOutput())
            end(isOpen ? .other(error.text) : .insecure(error.text))
        }
    }

    private func open(_ report: TLSClient.Report?) {
        isOpen = true
        let early = early
        self.early = []
        if !early.isEmpty, let failure = send(early) { return end(failure) }
        handler(self, .opened(report))
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
        if let tls, isOpen, !isOver, queue.isEmpty {
            tls.end()
            queue = tls.takeOutput()
            _ = write()
        }
        isOver = true
        watch = nil
    }
}
