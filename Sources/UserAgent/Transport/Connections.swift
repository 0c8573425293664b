import Primitives
import SIP

/// Stream connections and the attempts to get one; for UDP the question which local address leads to a target.
///
/// A target has one connection, used in both directions and by every account that needs it with the same trust (T13).
struct Connections {
    /// Who waits for a flow.
    enum Waiter {
        case request(RequestID)
        /// A look at the route to a registrar (R7).
        case route(to: IPAddress)
        /// A response whose own connection is gone (T7).
        case response([UInt8])
    }
    enum Result {
        case flow(Flow)
        case failure(TransportFailure)
    }
    enum Event {
        case message(Message, Flow)
        case malformed(ParseError, Flow)
        /// A connection ended, by us or by the peer.
        case ended(Flow, TransportFailure)
        case answered(Target, [Waiter], Result)
    }

    /// Connections in all, and from an address that no account knows (SEC4).
    static let limit = 64
    static let limitPerUnknownAddress = 4
    /// Stream connections being made at once (R5).
    static let handshakeLimit = 8
    /// The edge gives up before that, with a better reason.
    static let connectTimeout = Duration.seconds(10)
    /// A connection that no registration needs is closed when nothing was said so long (T13).
    static let idleLimit = Duration.seconds(900)
    /// Between double CRLFs on the connection of a registration, and how long the answer may take (R6).
    static let pingInterval = Duration.seconds(95)...Duration.seconds(120)
    static let pongTimeout = Duration.seconds(10)

    private struct Attempt {
        var target: Target
        var waiters: [Waiter]
        var until: Instant
    }
    private struct Stream {
        var flow: Flow
        var framer = StreamFramer()
        /// Where it was made to; nil: the peer made it.
        var target: Target?
        var isKnown: Bool
        /// Until its first message is whole (SEC4).
        var isProven = false
        var since: Instant
        var spokenAt: Instant
        /// When octets last came.
        var heardAt: Instant
        var pingAt: Instant?
        var pongBy: Instant?
        /// Has answered a ping: from then on silence means that it is dead.
        var answersPings = false

        func leads(to other: Target) -> Bool {
            if let target { return target.sharesConnection(with: other) }
            return flow.transport == .tcp && other.transport == .tcp && flow.remote == other.address
        }

        func deadline(isKept: Bool) -> Instant? {
            earliest(
                isKept ? nil : spokenAt + Connections.idleLimit, isKept ? pingAt : nil, pongBy, framer.deadline,
                isProven || target != nil ? nil : since + StreamFramer.partialMessageTimeout)
        }
    }

    private var attempts: [ConnectID: Attempt] = [:]
    /// Stream targets that wait for a free handshake, in order.
    private var queue: [(target: Target, waiter: Waiter)] = []
    private var streams: [UInt64: Stream] = [:]
    /// Connections that registrations use.
    private var kept: Set<UInt64> = []

    var deadline: Instant? {
        earliest(
            attempts.values.lazy.map(\.until).min(),
            streams.values.lazy.compactMap { $0.deadline(isKept: kept.contains($0.flow.connection)) }.min())
    }

    var count: Int { streams.count }

    // MARK: Getting a flow

    /// A flow to the target, at once if there is a connection; otherwise `answered` comes later.
    mutating func connect(to target: Target, _ waiter: Waiter, at now: Instant, _ wire: inout Wire) -> Flow? {
        guard target.transport.isStream else {
            begin(target, [waiter], at: now, &wire)
            return nil
        }
        if let stream = streams.values.first(where: { $0.leads(to: target) }) { return stream.flow }
        if let id = attempts.first(where: { $0.value.target.sharesConnection(with: target) })?.key {
            attempts[id]?.waiters.append(waiter)
        } else if handshakes < Self.handshakeLimit {
            begin(target, [waiter], at: now, &wire)
        } else {
            queue.append((target, waiter))
        }
        return nil
    }

    /// Nobody waits for this flow any more.
    mutating func forget(_ id: RequestID) {
        func isOther(_ waiter: Waiter) -> Bool { if case .request(id) = waiter { false } else { true } }
        queue.removeAll { !isOther($0.waiter) }
        for key in attempts.keys { attempts[key]?.waiters.removeAll { !isOther($0) } }
    }

    private var handshakes: Int { attempts.values.lazy.filter { $0.target.transport.isStream }.count }

    private mutating func begin(_ target: Target, _ waiters: [Waiter], at now: Instant, _ wire: inout Wire) {
        let id = ConnectID(wire.nextNumber())
        attempts[id] = Attempt(target: target, waiters: waiters, until: now + Self.connectTimeout)
        wire.out.append(.connect(id, target))
    }

    mutating func connected(
        _ id: ConnectID, _ flow: Flow, at now: Instant, _ wire: inout Wire, _ events: inout [Event]
    ) {
        guard let attempt = attempts.removeValue(forKey: id) else {
            if flow.transport.isStream { wire.out.append(.close(flow)) }
            return
        }
        if flow.transport.isStream {
            streams[flow.connection] = Stream(
                flow: flow, target: attempt.target, isKnown: true, since: now, spokenAt: now, heardAt: now)
            beginNext(at: now, &wire)
        }
        events.append(.answered(attempt.target, attempt.waiters, .flow(flow)))
    }

    mutating func connectFailed(
        _ id: ConnectID, _ failure: TransportFailure, at now: Instant, _ wire: inout Wire, _ events: inout [Event]
    ) {
        guard let attempt = attempts.removeValue(forKey: id) else { return }
        beginNext(at: now, &wire)
        events.append(.answered(attempt.target, attempt.waiters, .failure(failure)))
    }

    private mutating func beginNext(at now: Instant, _ wire: inout Wire) {
        while handshakes < Self.handshakeLimit, !queue.isEmpty {
            let (target, waiter) = queue.removeFirst()
            if let id = attempts.first(where: { $0.value.target.sharesConnection(with: target) })?.key {
                attempts[id]?.waiters.append(waiter)
            } else {
                begin(target, [waiter], at: now, &wire)
            }
        }
    }

    // MARK: Octets

    /// Octets of a stream, in any portion. `isKnown`: an account knows the peer's address.
    mutating func received(
        _ octets: [UInt8], _ flow: Flow, isKnown: Bool, at now: Instant, _ wire: inout Wire, _ events: inout [Event]
    ) {
        if streams[flow.connection] == nil {
            guard makeRoom(for: flow, isKnown: isKnown, at: now, &wire, &events) else { return }
            streams[flow.connection] = Stream(
                flow: flow, isKnown: isKnown, since: now, spokenAt: now, heardAt: now)
        }
        streams[flow.connection]?.heardAt = now
        var framed: [StreamFramer.Event] = []
        streams[flow.connection]?.framer.feed(octets, at: now, &framed)
        for event in framed {
            switch event {
            case .message(let message):
                streams[flow.connection]?.isProven = true
                streams[flow.connection]?.spokenAt = now
                events.append(.message(message, flow))
            case .ping: wire.send([0x0D, 0x0A], flow)
            case .pong:
                streams[flow.connection]?.answersPings = true
                streams[flow.connection]?.pongBy = nil
            case .failed(let error):
                events.append(.malformed(error, flow))
                if let refusal = error.refusal { wire.send(refusal.serialized(), flow) }
                close(flow, .other("malformed message"), &wire, &events)
                return
            }
        }
    }

    /// Something was sent along the flow.
    mutating func sent(along flow: Flow, at now: Instant) {
        if flow.transport.isStream { streams[flow.connection]?.spokenAt = now }
    }

    /// A connection of an unknown peer must not keep a known one out: the oldest unknown one goes (SEC4).
    private mutating func makeRoom(
        for flow: Flow, isKnown: Bool, at now: Instant, _ wire: inout Wire, _ events: inout [Event]
    ) -> Bool {
        let unknown = streams.values.filter { !$0.isKnown }.sorted { $0.since < $1.since }
        if !isKnown {
            let same = unknown.lazy.filter { $0.flow.remote.address == flow.remote.address }.count
            guard same < Self.limitPerUnknownAddress else {
                wire.out.append(.close(flow))
                return false
            }
        }
        guard streams.count >= Self.limit else { return true }
        guard let oldest = unknown.first else {
            wire.out.append(.close(flow))
            return false
        }
        close(oldest.flow, .other("too many connections"), &wire, &events)
        return true
    }

    // MARK: Ends

    mutating func failed(_ flow: Flow, _ failure: TransportFailure, _ events: inout [Event]) {
        if flow.transport.isStream { streams[flow.connection] = nil }
        events.append(.ended(flow, failure))
    }

    mutating func close(
        _ flow: Flow, _ failure: TransportFailure, _ wire: inout Wire, _ events: inout [Event]
    ) {
        guard streams.removeValue(forKey: flow.connection) != nil else { return }
        wire.out.append(.close(flow))
        events.append(.ended(flow, failure))
    }

    /// Closes a connection along which nothing has come since then.
    mutating func closeIfSilent(
        _ flow: Flow, since instant: Instant, _ wire: inout Wire, _ events: inout [Event]
    ) {
        guard let stream = streams[flow.connection], stream.heardAt <= instant else { return }
        close(flow, .timedOut, &wire, &events)
    }

    /// The connections that registrations use; they are pinged and never idle.
    mutating func keep(_ flows: some Sequence<Flow>, at now: Instant, _ wire: inout Wire) {
        kept = Set(flows.lazy.map(\.connection))
        for connection in kept where streams[connection]?.pingAt == nil {
            streams[connection]?.pingAt = now + wire.random.duration(in: Self.pingInterval)
        }
    }

    mutating func deadlineReached(at now: Instant, _ wire: inout Wire, _ events: inout [Event]) {
        for (id, attempt) in attempts where attempt.until <= now {
            attempts[id] = nil
            events.append(.answered(attempt.target, attempt.waiters, .failure(.timedOut)))
            beginNext(at: now, &wire)
        }
        for (connection, stream) in streams {
            let isKept = kept.contains(connection)
            guard let deadline = stream.deadline(isKept: isKept), deadline <= now else { continue }
            if isKept, let pingAt = stream.pingAt, pingAt <= now {
                wire.send([0x0D, 0x0A, 0x0D, 0x0A], stream.flow)
                streams[connection]?.pingAt = now + wire.random.duration(in: Self.pingInterval)
                if stream.answersPings, stream.pongBy == nil { streams[connection]?.pongBy = now + Self.pongTimeout }
            } else {
                let reason = stream.pongBy.map { $0 <= now } ?? false ? TransportFailure.timedOut : .other("idle")
                close(stream.flow, reason, &wire, &events)
            }
        }
    }
}
