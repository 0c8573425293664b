import EventLoop
import Exchange
import Hashing
import Network
import Primitives
import SIP

/// An exchange and one telephone of it on this machine, on free ports of 127.0.0.1.
final class DemoExchange {
    private static let home = IPAddress.loopbackV4

    private let loop: EventLoop
    private var exchange: Exchange
    private var phone: Phone
    private let exchangeSocket: DatagramSocket
    private let phoneSocket: DatagramSocket
    private let mediaSocket: DatagramSocket
    private var exchangeTimer: LoopTimer?
    private var phoneTimer: LoopTimer?
    private let entrance: Entrance
    /// What the phone tells, as it happens.
    var phoneTold: (Phone.Event) -> Void = { _ in }

    /// Where the sockets' events go, which are there before the object is whole.
    private final class Entrance {
        weak var owner: DemoExchange?
    }

    /// - Parameters:
    ///   - users: who may register; among them the phone's.
    ///   - change: what the phone is to do.
    init(
        on loop: EventLoop, users: [User], phone user: User, _ change: (inout Phone.Settings) -> Void
    ) throws(SystemError) {
        self.loop = loop
        let entrance = Entrance()
        self.entrance = entrance
        func open(_ handler: @escaping (DemoExchange, DatagramSocket.Event) -> Void) throws(SystemError)
            -> DatagramSocket
        {
            try DatagramSocket(on: loop, SocketAddress(Self.home, 0), SocketOptions()) { event in
                if let owner = entrance.owner { handler(owner, event) }
            }
        }
        exchangeSocket = try open { $0.exchange(of: $1) }
        phoneSocket = try open { $0.phone(of: $1) }
        mediaSocket = try open { owner, event in
            if case .received(let octets, let sender, _) = event { owner.tell(.media(octets, from: sender)) }
        }
        let domain = Host(Self.home)
        exchange = Exchange(
            settings: Exchange.Settings(domain: domain, address: exchangeSocket.address, users: users),
            hashes: .nettle, random: .system)
        var settings = Phone.Settings(
            user: user, domain: domain, exchange: exchangeSocket.address, address: phoneSocket.address,
            media: mediaSocket.address)
        change(&settings)
        phone = Phone(settings: settings, hashes: .nettle, random: .system)
        exchangeTimer = try loop.timer { [weak self] in self?.tellExchange(.deadlineReached) }
        phoneTimer = try loop.timer { [weak self] in self?.tell(.deadlineReached) }
        entrance.owner = self
    }

    /// Where the exchange is reached.
    var address: SocketAddress { exchangeSocket.address }

    /// Of one user, the newest first.
    func bindings(of user: String) -> [Binding] { exchange.bindings(of: user) }

    func uri(_ user: String) -> SIPURI { SIPURI(user: user, host: Host(Self.home), port: address.port) }

    // MARK: The phone

    /// Tells the phone what to do.
    func tell(_ input: Phone.Input) {
        var out: [Phone.Output] = []
        phone.handle(input, at: loop.now, &out)
        for output in out {
            switch output {
            case .send(let octets, let flow):
                if let failure = phoneSocket.send(octets, to: flow.remote, from: flow.local.address) {
                    loop.nextTurn { [weak self] in self?.tell(.flowFailed(flow, failure)) }
                }
            case .sendMedia(let octets, let remote):
                // Sound that does not arrive is what the demo would notice.
                _ = mediaSocket.send(octets, to: remote, from: Self.home)
            case .event(let event): phoneTold(event)
            }
        }
        phoneTimer?.set(deadline: phone.deadline)
    }

    private func phone(of event: DatagramSocket.Event) {
        switch event {
        case .received(let octets, let sender, _): tell(.received(octets, flow(phoneSocket, sender)))
        case .failed(let remote, let failure): tell(.flowFailed(flow(phoneSocket, remote), failure))
        }
    }

    // MARK: The exchange

    private func tellExchange(_ input: Exchange.Input) {
        var out: [Exchange.Output] = []
        exchange.handle(input, at: loop.now, &out)
        for case .send(let octets, let flow) in out {
            if let failure = exchangeSocket.send(octets, to: flow.remote, from: flow.local.address) {
                loop.nextTurn { [weak self] in self?.tellExchange(.flowFailed(flow, failure)) }
            }
        }
        exchangeTimer?.set(deadline: exchange.deadline)
    }

    private func exchange(of event: DatagramSocket.Event) {
        switch event {
        case .received(let octets, let sender, _): tellExchange(.received(octets, flow(exchangeSocket, sender)))
        case .failed(let remote, let failure): tellExchange(.flowFailed(flow(exchangeSocket, remote), failure))
        }
    }

    private func flow(_ socket: DatagramSocket, _ remote: SocketAddress) -> Flow {
        Flow(transport: .udp, local: socket.address, remote: remote)
    }
}
