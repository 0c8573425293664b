import Primitives
import SDP
import SIP
import Simulation
import Testing
import UserAgent

/// One agent on a simulated network: time goes by jumps, servers are scripts.
final class Site {
    var now = Instant.zero
    private(set) var agent: Agent
    /// Our address; nil: no network.
    var local: IPAddress? = Site.home
    /// Our SIP port.
    var port: UInt16 = 5060
    /// Answers to look-ups.
    var zone: (DNSQuestion) -> DNSAnswer = { _ in .records([]) }
    /// How long the name server takes.
    var zoneDelay: (DNSQuestion) -> Duration = { _ in .milliseconds(1) }
    /// What a server says to a request, and after how long. nothing: it is silent.
    var server: (Request, Flow) -> [(after: Duration, Response)] = { _, _ in [] }
    /// What becomes of a connection attempt; nil: it never ends.
    var accepts: (Target) -> Result<Void, TransportFailure>? = { _ in .success(()) }

    /// What the owner does with a call that comes in.
    var decide: (IncomingCall) -> UserAgentInput? = { _ in nil }

    struct Sent {
        var at: Instant
        var octets: [UInt8]
        var flow: Flow
        var request: Request? { if case .request(let request)? = message { request } else { nil } }
        var response: Response? { if case .response(let response)? = message { response } else { nil } }
        /// Of a response, malformed echoes or not.
        var status: Int? {
            octets.starts(with: "SIP/2.0 ".utf8) ? Int(String(decoding: octets[8..<11], as: UTF8.self)) : nil
        }
        var message: Message? { try? Message.parse(datagram: octets) }
    }
    private(set) var sent: [Sent] = []
    private(set) var statuses: [AccountStatus] = []
    private(set) var calls: [CallStatus] = []
    private(set) var incoming: [IncomingCall] = []
    private(set) var notes: [UserAgentNote] = []
    private(set) var media: [(CallKey, MediaPlan?)] = []
    private(set) var closed: [Flow] = []
    private(set) var phones: [(WatchedPhone, PhoneState?)] = []
    private(set) var messages: [(String, MessageSummary)] = []
    private(set) var texts: [TextMessage] = []
    private(set) var refused: [RefusedCall] = []
    private(set) var isStopped = false
    /// Times that the agent wanted to be woken.
    private(set) var wakeUps = 0
    var ports: Set<UInt16> = []

    private var inbox: [(at: Instant, order: Int, input: UserAgentInput)] = []
    private var arrivals = 0
    private var connections: UInt64 = 0

    static let home = IPAddress.v4(0xC000_0207)
    static let registrar = SocketAddress(.v4(0xC000_0201), 5060)

    init(_ accounts: [Account], maxCalls: Int = 4, watchedPhones: Set<WatchedPhone> = [], seed: UInt64 = 1) {
        var settings = UserAgentSettings(instance: "urn:uuid:00000000-0000-1000-8000-000000000001")
        settings.accounts = accounts
        settings.maxCalls = maxCalls
        settings.watchedPhones = watchedPhones
        let ports = PortBox()
        let capabilities = UserAgentCapabilities(
            hashes: .forTests, random: .seeded(seed), numbering: CallNumbering(),
            reservePort: { call, _ in ports.reserve(call) }, releasePort: { ports.release($0) },
            pathMTU: { _ in ports.pathMTU })
        self.portBox = ports
        agent = Agent(settings: settings, capabilities: capabilities, at: .zero)
    }

    let portBox: PortBox

    final class PortBox {
        /// What the path to every peer carries.
        var pathMTU: Int?
        private(set) var taken: [CallKey: UInt16] = [:]
        func reserve(_ call: CallKey) -> UInt16? {
            guard let port = (0..<20).map({ UInt16(16384 + 2 * $0) }).first(where: { !taken.values.contains($0) })
            else { return nil }
            taken[call] = port
            return port
        }
        func release(_ call: CallKey) { taken[call] = nil }
    }

    var settings: UserAgentSettings {
        var settings = UserAgentSettings(instance: "urn:uuid:00000000-0000-1000-8000-000000000001")
        settings.accounts = []
        return settings
    }

    // MARK: Driving

    func give(_ input: UserAgentInput) {
        var out: [UserAgentOutput] = []
        agent.handle(input, at: now, &out)
        for output in out { carryOut(output) }
        // In the same turn, but never from within an output.
        while !decisions.isEmpty { give(decisions.removeFirst()) }
    }

    private var decisions: [UserAgentInput] = []

    func schedule(_ input: UserAgentInput, after delay: Duration) {
        arrivals += 1
        inbox.append((now + delay, arrivals, input))
    }

    /// Lets time pass.
    func run(for duration: Duration) {
        let end = now + duration
        var turns = 0
        while true {
            turns += 1
            if turns > 1_000_000 {
                Issue.record("the agent never rests")
                return
            }
            let next = inbox.min { ($0.at, $0.order) < ($1.at, $1.order) }
            let due = agent.deadline.map { max($0, now) }
            let at = [next?.at, due].compactMap { $0 }.min() ?? end
            guard at <= end else { break }
            if next == nil, due == nil { break }
            now = max(now, at)
            if let next, next.at <= now, due.map({ next.at <= $0 }) ?? true {
                inbox.removeAll { $0.order == next.order }
                give(next.input)
            } else {
                wakeUps += 1
                give(.deadlineReached)
                if let deadline = agent.deadline, deadline <= now {
                    // Nothing may be due again at once: that would be a busy loop.
                    spins += 1
                    if spins > 1000 {
                        Issue.record("the agent is due again and again at \(now)")
                        return
                    }
                } else {
                    spins = 0
                }
            }
        }
        now = end
    }

    private var spins = 0

    private func carryOut(_ output: UserAgentOutput) {
        switch output {
        case .send(let octets, let flow):
            let item = Sent(at: now, octets: octets, flow: flow)
            sent.append(item)
            guard let request = item.request else { return }
            for (delay, response) in server(request, flow) {
                schedule(.received(response.serialized(), flow), after: delay)
            }
        case .connect(let id, let target):
            guard let local else { return schedule(.connectFailed(id, .noRoute), after: .zero) }
            if target.transport == .udp {
                let flow = Flow(transport: .udp, local: SocketAddress(local, port), remote: target.address)
                return schedule(.connected(id, flow), after: .zero)
            }
            switch accepts(target) {
            case .success:
                connections += 1
                let flow = Flow(
                    transport: target.transport, local: SocketAddress(local, UInt16(40_000 + connections)),
                    remote: target.address, connection: connections)
                schedule(.connected(id, flow), after: .milliseconds(5))
            case .failure(let failure): schedule(.connectFailed(id, failure), after: .milliseconds(5))
            case nil: break
            }
        case .close(let flow): closed.append(flow)
        case .lookUp(let id, let question): schedule(.lookedUp(id, zone(question)), after: zoneDelay(question))
        case .media(let call, let plan): media.append((call, plan))
        case .event(.account(let status)): statuses.append(status)
        case .event(.incoming(let call)):
            incoming.append(call)
            if let input = decide(call) { decisions.append(input) }
        case .event(.call(let status)): calls.append(status)
        case .event(.note(let note)): notes.append(note)
        case .event(.phone(let phone, let state)): phones.append((phone, state))
        case .event(.messages(let account, let summary)): messages.append((account, summary))
        case .event(.message(let message)): texts.append(message)
        case .event(.refused(let call)): refused.append(call)
        case .event(.digit), .event(.heard), .event(.transfer): break
        case .stopped: isStopped = true
        }
    }

    // MARK: Looking

    var status: AccountStatus? { agent.accountStatuses.first }

    var registers: [(at: Instant, request: Request, flow: Flow)] {
        sent.compactMap { item in
            item.request.flatMap { $0.method == .register ? (item.at, $0, item.flow) : nil }
        }
    }

    func forgetSent() { sent = [] }
}

extension Account {
    static func house(_ name: String = "house", registrar: String = "sip:192.0.2.1") throws -> Account {
        var account = Account(
            name: name, uri: try SIPURI("sip:\(name)@pbx.example.org"), authUser: name, password: Password("secret"),
            registrar: try SIPURI(registrar), contactUser: "k7x\(name)")
        account.keepAlive = .zero
        return account
    }
}
