import Primitives
import SDP
import SIP
import Simulation

@testable import UserAgent

/// Calls over transactions and nothing else: what the agent puts around a call, reduced to literal addresses on UDP.
struct Endpoint {
    let name: String
    var address: SocketAddress { didSet { addresses.insert(address) } }
    /// All that it ever had.
    private(set) var addresses: Set<SocketAddress>
    var layer: TransactionLayer
    var random: Randomness
    private(set) var calls: [CallKey: Call] = [:]
    /// Statuses of each call, in order.
    private(set) var history: [CallKey: [CallStatus]] = [:]
    private(set) var plans: [CallKey: MediaPlan] = [:]
    private(set) var digits: [UInt8] = []
    private(set) var notes: [String] = []
    private(set) var transfers: [TransferStatus] = []
    private(set) var referred: [ReferredCall] = []
    /// What is handed to a call for the next step, with the instant at which it is due.
    private var intents: [(at: Instant, key: CallKey, input: Call.Input)] = []
    /// Done with each call that comes in, and after which time.
    var reactions: [(after: Duration, input: Call.Input)] = []
    private var sentRequests: [ClientTransactionID: (key: CallKey, number: Int, request: Request, flow: Flow)] = [:]
    private var opened: [CallKey: [Int: (flow: Flow, transaction: ClientTransactionID?)]] = [:]
    private let ports = Ports()
    private var lastKey = 0

    final class Ports {
        var reserved: Set<CallKey> = []
    }

    init(_ name: String, _ address: SocketAddress, seed: UInt64) {
        self.name = name
        self.address = address
        addresses = [address]
        random = .seeded(seed)
        layer = TransactionLayer(random: random)
    }

    /// Changes the account.
    var setUp: (inout Account) -> Void = { _ in }

    var account: Account {
        let uri = SIPURI(user: name, host: Host(address.address), port: address.port)
        var account = Account(
            name: name, uri: uri, authUser: name, password: Password(""), registrar: uri, contactUser: name)
        setUp(&account)
        return account
    }

    var deadline: Instant? {
        earliest(layer.deadline, intents.map(\.at).min(), calls.values.compactMap(\.deadline).min())
    }

    var reservedPorts: Int { ports.reserved.count }

    /// Nothing is left over (D20).
    var isIdle: Bool {
        calls.isEmpty && layer.count == 0 && plans.isEmpty && ports.reserved.isEmpty && intents.isEmpty
    }

    private var capabilities: UserAgentCapabilities {
        let ports = ports
        return UserAgentCapabilities(
            hashes: .forTests,
            random: random, numbering: CallNumbering(),
            reservePort: { key, _ in
                ports.reserved.insert(key)
                return UInt16(truncatingIfNeeded: 20_000 + 2 * key.number)
            },
            releasePort: { ports.reserved.remove($0) })
    }

    // MARK: Steps

    mutating func dial(_ peer: Endpoint, at now: Instant, _ wire: inout [TransactionLayer.Output]) -> CallKey {
        dial(SIPURI(user: peer.name, host: Host(peer.address.address), port: peer.address.port), at: now, &wire)
    }

    mutating func dial(_ uri: SIPURI, at now: Instant, _ wire: inout [TransactionLayer.Output]) -> CallKey {
        lastKey += 1
        let key = CallKey(lastKey)
        var out: [Call.Output] = []
        calls[key] = Call(
            dialling: DialOrder(call: key, uri: uri, account: name), for: account, routes: [], flow: nil,
            capabilities: capabilities, at: now, &out)
        carryOut(out, key, at: now, &wire)
        return key
    }

    mutating func plan(_ input: Call.Input, for key: CallKey, at instant: Instant) {
        intents.append((instant, key, input))
    }

    mutating func handle(
        _ input: Call.Input, for key: CallKey, at now: Instant, _ wire: inout [TransactionLayer.Output]
    ) {
        var out: [Call.Output] = []
        calls[key]?.handle(input, at: now, &out)
        carryOut(out, key, at: now, &wire)
    }

    mutating func deadlineReached(at now: Instant, _ wire: inout [TransactionLayer.Output]) {
        var said: [TransactionLayer.Output] = []
        if let deadline = layer.deadline, deadline <= now { layer.deadlineReached(at: now, &said) }
        take(said, at: now, &wire)
        while let index = intents.firstIndex(where: { $0.at <= now }) {
            let intent = intents.remove(at: index)
            handle(intent.input, for: intent.key, at: now, &wire)
        }
        for key in calls.keys.sorted() where calls[key]?.deadline.map({ $0 <= now }) ?? false {
            handle(.deadlineReached, for: key, at: now, &wire)
        }
    }

    mutating func received(
        _ octets: [UInt8], _ flow: Flow, at now: Instant, _ wire: inout [TransactionLayer.Output]
    ) {
        guard let message = try? Message.parse(datagram: octets) else { return }
        var said: [TransactionLayer.Output] = []
        layer.received(message, on: flow, at: now, &said)
        take(said, at: now, &wire)
    }

    /// Outputs of the transactions: what is for the network stays, the rest is carried to the calls.
    private mutating func take(
        _ said: [TransactionLayer.Output], at now: Instant, _ wire: inout [TransactionLayer.Output]
    ) {
        for output in said {
            switch output {
            case .send, .sendAnew: wire.append(output)
            case .response(let id, let response, let flow):
                guard let sent = sentRequests[id] else { break }
                handle(
                    response.isProvisional
                        ? .provisional(sent.number, response)
                        : .final(sent.number, response, sent: sent.request, flow),
                    for: sent.key, at: now, &wire)
            case .failed(let id, let failure):
                guard let sent = sentRequests[id] else { break }
                let cause: RequestFailure =
                    switch failure {
                    case .timeout: .timeout
                    case .transport(let failure): .transport(failure)
                    }
                handle(.failed(sent.number, cause), for: sent.key, at: now, &wire)
            case .stray2xx(let response, _):
                if let key = key(callID: response.callID, localTag: response.from.tag) {
                    handle(.stray2xx(response), for: key, at: now, &wire)
                }
            case .cancelled(let id, let request):
                if let key = calls.first(where: { $0.value.incoming?.id == id })?.key {
                    handle(.cancelled(by: request), for: key, at: now, &wire)
                }
            case .request(let request, let id, let flow): take(request, id, flow, at: now, &wire)
            }
        }
    }

    private func key(callID: String, localTag: String?) -> CallKey? {
        calls.first { $0.value.callID == callID && $0.value.localTag == localTag }?.key
    }

    private mutating func take(
        _ request: Request, _ id: ServerTransactionID?, _ flow: Flow, at now: Instant,
        _ wire: inout [TransactionLayer.Output]
    ) {
        var said: [TransactionLayer.Output] = []
        if let tag = request.to.tag {
            if let key = key(callID: request.callID, localTag: tag) {
                handle(.request(request, id, flow, isServer: false), for: key, at: now, &wire)
            } else if let id {
                layer.respond(id, request.response(481), at: now, &said)
            }
        } else if request.method == .invite, let id {
            lastKey += 1
            let key = CallKey(lastKey)
            do {
                calls[key] = try Call(
                    answering: request, id, on: flow, as: key, for: account, caller: request.from.uri,
                    callerName: "", capabilities: capabilities, at: now)
                for reaction in reactions { plan(reaction.input, for: key, at: now + reaction.after) }
            } catch {
                layer.respond(id, request.response(error.status), at: now, &said)
            }
        } else if let id {
            layer.respond(id, request.response(405), at: now, &said)
        }
        take(said, at: now, &wire)
    }

    private mutating func carryOut(
        _ outputs: [Call.Output], _ key: CallKey, at now: Instant, _ wire: inout [TransactionLayer.Output]
    ) {
        for output in outputs {
            var said: [TransactionLayer.Output] = []
            switch output {
            case .open(let number, let path):
                guard let host = path.nextHop.host?.address else {
                    handle(.failed(number, .notLocated(.noSuchName)), for: key, at: now, &wire)
                    break
                }
                let flow = Flow(
                    transport: .udp, local: address, remote: SocketAddress(host, path.nextHop.port ?? 5060))
                opened[key, default: [:]][number] = (flow, nil)
                handle(.ready(number, flow, .first), for: key, at: now, &wire)
            case .submit(let number, var request):
                guard let flow = opened[key]?[number]?.flow else { break }
                request.vias = [
                    Via(
                        transport: "UDP", host: Host(flow.local.address), port: flow.local.port,
                        branch: Via.magicCookie + random.token(bits: 100), parameters: ["rport": nil])
                ]
                if request.method == .ack {
                    layer.sendStateless(request, on: flow, &said)
                } else {
                    let id = ClientTransactionID(branch: request.topVia?.branch ?? "", method: request.method)
                    sentRequests[id] = (key, number, request, flow)
                    opened[key]?[number]?.transaction = id
                    layer.send(request, on: flow, at: now, &said)
                }
            case .cancel(let number, let reason):
                if let id = opened[key]?[number]?.transaction {
                    layer.cancel(id, reason: reason, at: now, &said)
                } else {
                    handle(.failed(number, .cancelled), for: key, at: now, &wire)
                }
            case .abandon(let number):
                if let id = opened[key]?[number]?.transaction { layer.forget(id) }
                opened[key]?[number] = nil
            case .withdraw(let number):
                if let id = opened[key]?[number]?.transaction { layer.forget(id) }
                opened[key]?[number] = nil
            case .callReferred(let wanted): referred.append(wanted)
            case .transfer(let status): transfers.append(status)
            case .respond(let id, let response): layer.respond(id, response, at: now, &said)
            case .ignore(let id): layer.ignore(id)
            case .media(let plan): plans[key] = plan
            case .status(let status): history[key, default: []].append(status)
            case .digit(let digit): digits.append(digit)
            case .lookUp(_, _): handle(.resolved(.loopbackV4), for: key, at: now, &wire)
            case .note(_, let text): notes.append(text)
            case .finished:
                calls[key] = nil
                opened[key] = nil
            }
            take(said, at: now, &wire)
        }
    }
}

/// Two endpoints and the network between them.
struct CallWorld {
    var endpoints: [Endpoint]
    var network: SimulatedNetwork
    var now = Instant.zero
    var keepsTrace = true
    /// Each message that was sent.
    private(set) var trace: [(at: Instant, from: SocketAddress, message: Message)] = []
    /// Messages that never leave.
    var drops: (Message) -> Bool = { _ in false }

    init(seed: UInt64 = 1, conditions: NetworkConditions = .ideal) {
        endpoints = [
            Endpoint("door", SocketAddress(.v4(0xC000_0207), 5060), seed: seed &* 2 &+ 1),
            Endpoint("phone", SocketAddress(.v4(0xC000_0214), 5060), seed: seed &* 2 &+ 2),
        ]
        network = SimulatedNetwork(seed: seed, conditions: conditions)
    }

    mutating func dial(from: Int = 0, to: Int = 1) -> CallKey {
        let peer = endpoints[to]
        var wire: [TransactionLayer.Output] = []
        let key = endpoints[from].dial(peer, at: now, &wire)
        put(wire)
        return key
    }

    mutating func `do`(_ input: Call.Input, _ endpoint: Int = 0, call: CallKey = CallKey(1)) {
        var wire: [TransactionLayer.Output] = []
        endpoints[endpoint].handle(input, for: call, at: now, &wire)
        put(wire)
    }

    /// Lets a message from outside arrive.
    mutating func receive(_ message: Message, _ endpoint: Int, from remote: SocketAddress) {
        var wire: [TransactionLayer.Output] = []
        let flow = Flow(transport: .udp, local: endpoints[endpoint].address, remote: remote)
        endpoints[endpoint].received(message.serialized(), flow, at: now, &wire)
        put(wire)
    }

    mutating func put(_ wire: [TransactionLayer.Output]) {
        for case .send(let octets, let flow) in wire {
            if keepsTrace, let message = try? Message.parse(datagram: octets) {
                trace.append((now, flow.local, message))
                if drops(message) { continue }
            }
            network.send(octets, flow, at: now)
        }
    }

    /// Runs until this time has passed, or nothing is due any more.
    mutating func run(for duration: Duration) { run(until: now + duration) }

    mutating func run(until end: Instant = .zero + .seconds(3600)) {
        var steps = 0
        while let next = earliest(network.deadline, endpoints.compactMap(\.deadline).min()), next <= end,
            steps < 100_000
        {
            steps += 1
            now = max(now, next)
            for arrival in network.arrivals(at: now) {
                guard let index = endpoints.firstIndex(where: { $0.address == arrival.flow.local }) else { continue }
                var wire: [TransactionLayer.Output] = []
                endpoints[index].received(arrival.octets, arrival.flow, at: now, &wire)
                put(wire)
            }
            for index in endpoints.indices where endpoints[index].deadline.map({ $0 <= now }) ?? false {
                var wire: [TransactionLayer.Output] = []
                endpoints[index].deadlineReached(at: now, &wire)
                put(wire)
            }
        }
        if end < .zero + .seconds(3600) { now = max(now, end) }
    }

    func states(_ endpoint: Int, call: CallKey = CallKey(1)) -> [CallStatus.State] {
        endpoints[endpoint].history[call, default: []].map(\.state)
    }

    func last(_ endpoint: Int, call: CallKey = CallKey(1)) -> CallStatus? { endpoints[endpoint].history[call]?.last }

    /// Methods and status codes that this endpoint sent.
    func sent(by endpoint: Int) -> [String] {
        trace.filter { endpoints[endpoint].addresses.contains($0.from) }.map { entry in
            switch entry.message {
            case .request(let request): request.method.name
            case .response(let response): "\(response.status) \(response.cseq.method)"
            }
        }
    }

    func requests(_ method: SIPMethod, from endpoint: Int) -> [Request] {
        trace.filter { endpoints[endpoint].addresses.contains($0.from) }.compactMap { entry in
            if case .request(let request) = entry.message, request.method == method { request } else { nil }
        }
    }

    func responses(_ status: Int, from endpoint: Int) -> [Response] {
        trace.filter { endpoints[endpoint].addresses.contains($0.from) }.compactMap { entry in
            if case .response(let response) = entry.message, response.status == status { response } else { nil }
        }
    }

    var isIdle: Bool { endpoints.allSatisfy(\.isIdle) && network.deadline == nil }
}
