import Exchange
import Primitives
import SDP
import SIP
import Simulation

/// An exchange and its phones on a network without loss, in simulated time.
final class Town {
    static let exchangeAddress = SocketAddress(.v4(0xC000_0201), 5060)
    static let domain = Host(.v4(0xC000_0201))
    /// From sender to receiver.
    private static let latency = Duration.milliseconds(1)

    enum Place: Hashable { case exchange, phone(String) }

    private enum Parcel {
        case sip([UInt8], Flow)
        case rtp([UInt8], from: SocketAddress, to: SocketAddress)
    }

    private(set) var now = Instant.zero
    var exchange: Exchange
    private(set) var phones: [String: Phone] = [:]
    private var addresses: [SocketAddress: String] = [:]
    private var parcels: [(at: Instant, Parcel)] = []
    private(set) var exchangeEvents: [Exchange.Event] = []
    private(set) var phoneEvents: [String: [Phone.Event]] = [:]
    /// Every SIP message that was sent, in order.
    private(set) var messages: [Message] = []
    /// The same as octets, understood or not.
    private(set) var datagrams: [[UInt8]] = []
    /// Addresses that nobody listens at.
    var dead: Set<SocketAddress> = []

    init(users: [String] = ["alice", "bob", "carol"], seed: UInt64 = 1) {
        exchange = Exchange(
            settings: Exchange.Settings(
                domain: Self.domain, address: Self.exchangeAddress,
                users: users.map { User(name: $0, password: "secret of \($0)") }),
            hashes: .forTests, random: .seeded(seed))
    }

    /// Adds a phone of a user; `name` where it differs from the user.
    func add(
        _ name: String, user: String? = nil, password: String? = nil, number: UInt32,
        _ change: (inout Phone.Settings) -> Void = { _ in }
    ) {
        let address = IPAddress.v4(0xC000_0210 + number)
        let user = user ?? name
        var settings = Phone.Settings(
            user: User(name: user, password: password ?? "secret of \(user)"), domain: Self.domain,
            exchange: Self.exchangeAddress, address: SocketAddress(address, 5060),
            media: SocketAddress(address, 16_384))
        change(&settings)
        phones[name] = Phone(settings: settings, hashes: .forTests, random: .seeded(UInt64(number) + 100))
        addresses[settings.address] = name
        addresses[settings.media] = name
        phoneEvents[name] = []
    }

    func uri(_ user: String) -> SIPURI { SIPURI(user: user, host: Self.domain) }

    func tell(_ name: String, _ input: Phone.Input) {
        var out: [Phone.Output] = []
        phones[name]?.handle(input, at: now, &out)
        for output in out {
            switch output {
            case .send(let octets, let flow): post(octets, flow)
            case .sendMedia(let octets, let remote):
                guard let media = phones[name]?.settings.media else { continue }
                parcels.append((now + Self.latency, .rtp(octets, from: media, to: remote)))
            case .event(let event): phoneEvents[name]?.append(event)
            }
        }
    }

    /// Hands octets to the exchange as if they came from that address.
    func send(_ octets: [UInt8], from remote: SocketAddress) {
        tellExchange(.received(octets, Flow(transport: .udp, local: Self.exchangeAddress, remote: remote)))
    }

    private func tellExchange(_ input: Exchange.Input) {
        var out: [Exchange.Output] = []
        exchange.handle(input, at: now, &out)
        for output in out {
            switch output {
            case .send(let octets, let flow): post(octets, flow)
            case .event(let event): exchangeEvents.append(event)
            }
        }
    }

    private func post(_ octets: [UInt8], _ flow: Flow) {
        datagrams.append(octets)
        if let message = try? Message.parse(datagram: octets) { messages.append(message) }
        parcels.append((now + Self.latency, .sip(octets, flow)))
    }

    /// Runs until nothing is due before the limit, or until the condition holds; false if it never did.
    @discardableResult
    func run(for limit: Duration, until condition: (Town) -> Bool = { _ in false }) -> Bool {
        let end = now + limit
        while true {
            if condition(self) { return true }
            let deadlines = [exchange.deadline] + phones.values.map(\.deadline) + [parcels.first?.at]
            guard let next = deadlines.compactMap({ $0 }).min(), next <= end else { break }
            now = max(now, next)
            if let first = parcels.first, first.at <= now {
                parcels.removeFirst()
                deliver(first.1)
                continue
            }
            if let deadline = exchange.deadline, deadline <= now { tellExchange(.deadlineReached) }
            for (name, phone) in phones {
                if let deadline = phone.deadline, deadline <= now { tell(name, .deadlineReached) }
            }
        }
        now = end
        return condition(self)
    }

    private func deliver(_ parcel: Parcel) {
        switch parcel {
        case .sip(let octets, let flow):
            guard !dead.contains(flow.remote) else {
                if flow.local == Self.exchangeAddress { tellExchange(.flowFailed(flow, .refused)) }
                return
            }
            let seen = Flow(transport: .udp, local: flow.remote, remote: flow.local)
            if flow.remote == Self.exchangeAddress {
                tellExchange(.received(octets, seen))
            } else if let name = addresses[flow.remote] {
                tell(name, .received(octets, seen))
            }
        case .rtp(let octets, let sender, let receiver):
            if let name = addresses[receiver] { tell(name, .media(octets, from: sender)) }
        }
    }

    // MARK: Questions

    func events(_ name: String) -> [Phone.Event] { phoneEvents[name] ?? [] }

    func isRegistered(_ name: String) -> Bool {
        events(name).contains { if case .registered = $0 { true } else { false } }
    }

    func isTalking(_ name: String) -> Bool { phones[name]?.isTalking == true }

    func requests(_ method: SIPMethod) -> [Request] {
        messages.compactMap { if case .request(let request) = $0, request.method == method { request } else { nil } }
    }

    func responses(_ status: Int) -> [Response] {
        messages.compactMap {
            if case .response(let response) = $0, response.status == status { response } else { nil }
        }
    }
}
