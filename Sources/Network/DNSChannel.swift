import CAres
import CLinux
import EventLoop
import Primitives
import SIP

/// One c-ares channel on the loop.
final class DNSChannel {
    enum Outcome {
        case answer([UInt8])
        /// The channel went before the answer came.
        case cancelled
        /// No name server answered.
        case silent(String)
        /// One answered that it cannot.
        case failed(String)
    }

    private final class Query {
        let handler: (Outcome) -> Void
        init(_ handler: @escaping (Outcome) -> Void) { self.handler = handler }
    }

    private let loop: EventLoop
    private var resolver: OpaquePointer?
    private var watches: [Int32: Watch] = [:]
    private var timer: LoopTimer?

    /// - Parameter servers: nil for the system's.
    init(on loop: EventLoop, servers: [SocketAddress]?) throws(SystemError) {
        self.loop = loop
        timer = try loop.timer { [unowned self] in process(-1, -1) }
        let list = servers.map { $0.map(\.description).joined(separator: ",") }
        let context = Unmanaged.passUnretained(self).toOpaque()
        resolver = portero_resolver_create(
            list,
            { context, descriptor, readable, writable in
                guard let context else { return }
                Unmanaged<DNSChannel>.fromOpaque(context).takeUnretainedValue()
                    .watch(descriptor, readable != 0, writable != 0)
            }, context)
        if resolver == nil { throw SystemError("resolver", "create", number: EINVAL) }
    }

    deinit {
        watches = [:]
        portero_resolver_destroy(resolver)
    }

    /// The handler is called once, at times before this returns.
    func ask(_ question: DNSQuestion, _ handler: @escaping (Outcome) -> Void) {
        let type: Int32 =
            switch question.kind {
            case .a: 1
            case .aaaa: 28
            case .srv: 33
            case .naptr: 35
            }
        portero_resolver_query(
            resolver, question.name, type,
            { context, status, text, octets, count in
                guard let context else { return }
                let query = Unmanaged<Query>.fromOpaque(context).takeRetainedValue()
                let text = text.map { String(cString: $0) } ?? "failed"
                switch status {
                case PORTERO_DNS_ANSWER:
                    query.handler(.answer(Array(UnsafeBufferPointer(start: octets, count: Int(max(0, count))))))
                case PORTERO_DNS_CANCELLED: query.handler(.cancelled)
                case PORTERO_DNS_SILENT: query.handler(.silent(text))
                default: query.handler(.failed(text))
                }
            }, Unmanaged.passRetained(Query(handler)).toOpaque())
        rearm()
    }

    private func watch(_ descriptor: Int32, _ readable: Bool, _ writable: Bool) {
        guard readable || writable else {
            watches.removeValue(forKey: descriptor)?.end()
            return
        }
        var events: Events = []
        if readable { events.insert(.readable) }
        if writable { events.insert(.writable) }
        if let watch = watches[descriptor] { return watch.change(to: events) }
        // Without a watch the query ends by its time limit.
        watches[descriptor] = try? loop.watch(descriptor, events) { [unowned self] ready in
            let isReadable = !ready.isDisjoint(with: [.readable, .failed, .hungUp])
            process(isReadable ? descriptor : -1, ready.contains(.writable) ? descriptor : -1)
        }
    }

    private func process(_ readable: Int32, _ writable: Int32) {
        portero_resolver_process(resolver, readable, writable)
        rearm()
    }

    private func rearm() {
        let left = portero_resolver_timeout(resolver)
        timer?.set(deadline: left < 0 ? nil : loop.now + .milliseconds(Int64(left)))
    }
}
