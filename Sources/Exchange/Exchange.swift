package import Primitives
package import SIP

/// A small exchange: a registrar with digest authentication (RFC 3261 §10) and a stateful proxy between its users
/// (§16) that stays in the way of their calls.
///
/// Signalling goes by UDP; media go between the users themselves. A core: everything comes in by `handle` and goes out
/// by its last argument.
package struct Exchange {
    package struct Settings: Sendable {
        /// Host of its users' addresses of record, and realm of its challenges.
        package var domain: Host
        /// Where users reach it: what it writes into Record-Route.
        package var address: SocketAddress
        package var users: [User]
        /// Of a registration, in seconds; shorter ones are refused with 423.
        package var shortestExpiry: UInt32 = 30

        package init(domain: Host, address: SocketAddress, users: [User]) {
            self.domain = domain
            self.address = address
            self.users = users
        }
    }

    package enum Input: Sendable {
        /// A whole datagram.
        case received([UInt8], Flow)
        /// Nobody listens at the end of the flow.
        case flowFailed(Flow, TransportFailure)
        case deadlineReached
    }

    package enum Output: Sendable {
        case send([UInt8], Flow)
        case event(Event)
    }

    /// What an operator wants to see; never with credentials.
    package enum Event: Hashable, Sendable {
        case registration(Registrar.Event)
        /// Somebody did not prove who they are: the method, and the user of From.
        case refused(SIPMethod, user: String?)
        /// A call goes to so many bindings of the called.
        case calling(from: String, to: String, bindings: Int)
        /// A call got its final response.
        case answered(to: String, status: Int)
    }

    /// Methods that the exchange answers itself or passes on.
    static let allowed = "INVITE, ACK, CANCEL, BYE, OPTIONS, REGISTER, INFO, UPDATE, PRACK, REFER, NOTIFY, MESSAGE"

    let settings: Settings
    let passwords: [String: String]
    var random: Randomness
    var layer: TransactionLayer
    var registrar: Registrar
    var challenger: Challenger
    var passes: DialogPass
    /// Requests that were passed on and wait for their end.
    var forwardings: [ServerTransactionID: Forwarding] = [:]
    /// Whose branch a client transaction is.
    var branches: [ClientTransactionID: ServerTransactionID] = [:]
    /// Calls that were answered, in the order of time: until then repeats of their 2xx are passed on (RFC 6026).
    var endings: [(at: Instant, id: ServerTransactionID)] = []

    /// Users beyond the first of a name are ignored.
    package init(settings: Settings, hashes: Hashes, random: Randomness) {
        self.settings = settings
        self.random = random
        passwords = Dictionary(settings.users.map { ($0.name, $0.password) }) { first, _ in first }
        layer = TransactionLayer(random: random)
        registrar = Registrar(shortestExpiry: settings.shortestExpiry)
        challenger = Challenger(realm: settings.domain.text, hashes: hashes, random: random)
        passes = DialogPass(hashes: hashes, random: random)
    }

    /// When `deadlineReached` is next due; nil while nothing is pending. May be early, never late.
    package var deadline: Instant? { earliest(layer.deadline, registrar.deadline, endings.first?.at) }

    /// Of one user, the newest first.
    package func bindings(of user: String) -> [Binding] { registrar.bindings(of: user) }

    package mutating func handle(_ input: Input, at now: Instant, _ out: inout [Output]) {
        var steps: [TransactionLayer.Output] = []
        switch input {
        case .received(let octets, let flow): layer.received(datagram: octets, on: flow, at: now, &steps)
        case .flowFailed(let flow, let failure): layer.flowFailed(flow, failure, at: now, &steps)
        case .deadlineReached:
            layer.deadlineReached(at: now, &steps)
            var events: [Registrar.Event] = []
            registrar.expire(at: now, &events)
            out += events.map { .event(.registration($0)) }
            forgetEnded(at: now)
        }
        var next = 0
        while next < steps.count {
            take(steps[next], at: now, &steps, &out)
            next += 1
        }
    }

    private mutating func take(
        _ step: TransactionLayer.Output, at now: Instant, _ steps: inout [TransactionLayer.Output],
        _ out: inout [Output]
    ) {
        switch step {
        case .send(let octets, let flow): out.append(.send(octets, flow))
        case .request(let request, let id?, let flow):
            if request.method == .register {
                register(request, id, flow, at: now, &steps, &out)
            } else {
                route(request, id, flow, at: now, &steps, &out)
            }
        case .request(let ack, nil, let flow): passOn(acknowledgement: ack, flow, &steps)
        case .cancelled(let id, let cancel): self.cancel(id, by: cancel, at: now, &steps)
        case .response(let id, let response, _): answered(id, response, at: now, &steps, &out)
        case .failed(let id, let failure): failed(id, failure, at: now, &steps, &out)
        // Streams, which there are none of, and answers that nobody waits for any more.
        case .sendAnew, .stray2xx: break
        }
    }

    // MARK: Registration

    private mutating func register(
        _ request: Request, _ id: ServerTransactionID, _ flow: Flow, at now: Instant,
        _ steps: inout [TransactionLayer.Output], _ out: inout [Output]
    ) {
        guard request.uri.isSIP, isHere(request.uri) else {
            return layer.respond(id, request.response(404), at: now, &steps)
        }
        guard let user = authenticate(request, id, .server, at: now, &steps, &out) else { return }
        guard request.to.uri.user == user, request.to.uri.host == settings.domain else {
            return layer.respond(id, request.response(403), at: now, &steps)
        }
        var events: [Registrar.Event] = []
        let response = registrar.register(request, user: user, flow: flow, at: now, &events)
        layer.respond(id, response, at: now, &steps)
        out += events.map { .event(.registration($0)) }
    }

    /// The user who proved to have sent the request; nil: it is answered.
    mutating func authenticate(
        _ request: Request, _ id: ServerTransactionID, _ place: Challenger.Place, at now: Instant,
        _ steps: inout [TransactionLayer.Output], _ out: inout [Output]
    ) -> String? {
        let passwords = passwords
        switch challenger.judge(request, place, at: now, password: { passwords[$0] }) {
        case .accepted(let user): return user
        case .challenge(let stale):
            layer.respond(id, challenger.challenge(request, place, stale: stale, at: now), at: now, &steps)
        case .refused:
            layer.respond(id, request.response(403), at: now, &steps)
            out.append(.event(.refused(request.method, user: request.from.uri.user)))
        }
        return nil
    }

    /// Whether a URI is one of the exchange or of its users.
    func isHere(_ uri: SIPURI) -> Bool { uri.host == settings.domain || isOwn(uri) }

    /// Whether a URI leads to the exchange itself.
    func isOwn(_ uri: SIPURI) -> Bool {
        if settings.domain.address == nil, uri.host == settings.domain { return true }
        return uri.host?.address == settings.address.address
            && uri.port ?? Transport.udp.defaultPort == settings.address.port
    }
}
