import Configuration
import Primitives
import SIP

/// Which account knows whom, and whose a request is (SEC1, SEC2).
///
/// Made anew when accounts, their servers or the addresses of names change; asked for every datagram.
struct TrustTable {
    /// What an account says about its callers.
    struct Entry {
        var key: Agent.RegistrationKey
        var contactUser: String
        /// Its own user and its aliases.
        var users: [String]
        var catchAll: Bool
        /// It never leaves TLS: along another way its servers are strangers, for their address may be forged.
        var isSecure: Bool
        var acceptFrom: AcceptFrom
        /// Addresses of its registrar and proxies.
        var servers: Set<IPAddress>
        /// Addresses of the hosts that `accept-from` names.
        var hosts: Set<IPAddress>

        func isServer(_ flow: Flow) -> Bool {
            servers.contains(flow.remote.address) && (!isSecure || flow.transport == .tls)
        }
    }

    struct Choice {
        var key: Agent.RegistrationKey
        var standing: Standing
        /// For the log.
        var why: String
    }

    private let entries: [Entry]
    private let addresses: Set<IPAddress>
    private let networks: [CallSource]

    /// In the order of the configuration.
    init(_ entries: [Entry] = []) {
        self.entries = entries
        var addresses: Set<IPAddress> = []
        var networks: [CallSource] = []
        for entry in entries {
            addresses.formUnion(entry.servers)
            addresses.formUnion(entry.hosts)
            guard case .sources(let list) = entry.acceptFrom else { continue }
            networks += list.filter { if case .network = $0 { true } else { false } }
        }
        self.addresses = addresses
        self.networks = networks
    }

    /// Whether any account knows the address.
    func knows(_ address: IPAddress) -> Bool {
        addresses.contains(address) || networks.contains { $0.contains(address) }
    }

    /// Whether a server of this account, whose word about callers is believed (I7), sends along this flow.
    func serves(_ key: Agent.RegistrationKey, _ flow: Flow) -> Bool {
        entries.contains { $0.key == key && $0.isServer(flow) }
    }

    /// How the account at best knows who sends this; nil: none does, or takes calls from anyone.
    func standing(of request: Request, from flow: Flow) -> Standing? {
        var best: Standing?
        for index in entries.indices {
            guard let standing = standing(index, request, flow), best.map({ $0 < standing }) ?? true else {
                continue
            }
            best = standing
        }
        return best
    }

    private func standing(_ index: Int, _ request: Request, _ flow: Flow) -> Standing? {
        let address = flow.remote.address
        if entries[index].isServer(flow) { return .flow }
        switch entries[index].acceptFrom {
        case .registrar: return nil
        case .anyone: return .anyone
        case .sources(let list):
            if entries[index].hosts.contains(address) { return .listed }
            if list.contains(where: { $0.contains(address) }) { return .listed }
            let callers = list.compactMap { if case .caller(let pattern) = $0 { pattern } else { nil } }
            return AssertedCaller(request, standing: .listed).matches(callers) ? .listed : nil
        }
    }

    /// The account that a request is for, among those that its source may reach; nil: none.
    ///
    /// By the user of the Contact that was registered, the user of the Request-URI, that of To, and at last the one that
    /// catches all. Of several that match equally, the one that knows the source best, then the first.
    func account(for request: Request, from flow: Flow) -> Choice? {
        let user = request.uri.calledUser
        let called = request.to.uri.calledUser
        var best: (rank: Int, choice: Choice)?
        for index in entries.indices {
            guard let standing = standing(index, request, flow),
                let (rank, why) = match(index, request, user, called, standing)
            else { continue }
            if let best, (best.rank, best.choice.standing) >= (rank, standing) { continue }
            best = (rank, Choice(key: entries[index].key, standing: standing, why: why))
        }
        return best?.choice
    }

    /// How well a request names an account; greater is better.
    private func match(
        _ index: Int, _ request: Request, _ user: String?, _ called: String?, _ standing: Standing
    ) -> (rank: Int, why: String)? {
        if let user, entries[index].contactUser == user { return (4, "contact user") }
        if let user, entries[index].users.contains(user) { return (3, "request user \(user)") }
        if let called, entries[index].users.contains(called) { return (2, "called user \(called)") }
        if entries[index].catchAll, standing == .flow { return (1, "catch-all") }
        // A probe of the host as such.
        return request.method == .options && user == nil ? (0, "no user") : nil
    }
}

extension SIPURI {
    /// The user, or the digits of a telephone number.
    fileprivate var calledUser: String? { scheme == .tel ? numberDigits : user }
}
