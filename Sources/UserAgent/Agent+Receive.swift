import Configuration
package import Primitives
import SIP

/// What comes in, before the transactions: framing, limits, and who may send what (SEC1, SEC5).
extension Agent {
    mutating func received(_ octets: [UInt8], _ flow: Flow, at now: Instant) {
        let source = flow.remote.address
        let isKnown = isKnown(source)
        guard !flow.transport.isStream else {
            return connections.received(octets, flow, isKnown: isKnown, at: now, &wire, &connectionEvents)
        }
        guard rates.admits(source, isKnown: isKnown, at: now) else { return }
        heardOctets = octets.count
        if octets.first.map({ $0 < 4 }) ?? false {
            if probes.heard(octets, flow) { connectionEvents.append(.ended(flow, .other("another address"))) }
            return
        }
        do throws(ParseError) {
            if let message = try Message.parse(datagram: octets) { pass(message, flow, at: now) }
        } catch {
            rates.chargeMalformed(source, isKnown: isKnown, at: now)
            wire.note(.debug, "from \(flow.remote): \(error.reason)")
            if isKnown, let refusal = error.refusal { refuse(refusal, flow) }
        }
    }

    /// A message of a stream.
    mutating func received(_ message: Message, _ flow: Flow, at now: Instant) {
        guard rates.admits(flow.remote.address, isKnown: isKnown(flow.remote.address), at: now) else { return }
        if tellsMessages { wire.out.append(.event(.heard(message, flow))) }
        pass(message, flow, at: now)
    }

    private mutating func pass(_ message: Message, _ flow: Flow, at now: Instant) {
        if case .request(let request) = message, !isWelcome(request, flow, at: now) {
            // In a dialog it is no call.
            if request.to.tag == nil {
                tellRefused(
                    request, flow, account: nil, code: nil, "no account takes calls from \(flow.remote.address)")
            }
            return
        }
        if case .request(let request) = message, request.method == .options {
            for key in Array(registrations.keys) where registrations[key]?.heard(request) == true {
                changed.insert(key)
            }
        }
        wire.transactions.received(message, on: flow, at: now, &wire.said)
    }

    /// Answers what could not be understood, to where its Via says (T7).
    private mutating func refuse(_ refusal: Refusal, _ flow: Flow) {
        var refusal = refusal
        var flow = flow
        guard var via = refusal.vias.first else { return }
        if via.wantsRport {
            via.received = flow.remote.address
            via.rport = flow.remote.port
        } else {
            if via.host.address != flow.remote.address { via.received = flow.remote.address }
            flow.remote.port = via.port ?? flow.transport.defaultPort
        }
        refusal.vias[0] = via
        wire.send(refusal.serialized(), flow)
    }

    // MARK: Who sends

    /// Whether an address is a known peer, which the limits of incoming connections spare (SEC4).
    package func knows(_ address: IPAddress) -> Bool { isKnown(address) }

    /// Whether the source is a server of an account, named by one, or a peer of a request or call of ours.
    func isKnown(_ address: IPAddress) -> Bool {
        if trust.knows(address) || requester.isTalking(to: address) { return true }
        for flow in callFlows.values where flow.remote.address == address { return true }
        return false
    }

    /// After a change of accounts, of their servers, or of the addresses of names.
    mutating func renewTrust() {
        var entries: [TrustTable.Entry] = []
        for key in keys() {
            guard let registration = registrations[key] else { continue }
            let account = registration.account
            var servers = Set(registration.targets.map(\.address.address))
            if let flow = registration.flowInUse { servers.insert(flow.remote.address) }
            if !account.registers { for server in account.servers { servers.formUnion(sources.addresses(of: server)) } }
            var hosts: Set<IPAddress> = []
            if case .sources(let list) = account.acceptFrom {
                for case .host(let name) in list { hosts.formUnion(sources.addresses(of: .host(name))) }
            }
            entries.append(
                TrustTable.Entry(
                    key: key, contactUser: account.contactUser,
                    users: (account.uri.user.map { [$0] } ?? []) + account.aliases, catchAll: account.catchAll,
                    isSecure: account.isSecure || registration.flowInUse?.transport == .tls,
                    acceptFrom: account.acceptFrom, servers: servers, hosts: hosts))
        }
        trust = TrustTable(entries)
        isTrustStale = false
    }

    /// What belongs to a dialog or transaction is matched there; everything else needs an account that knows its
    /// sender, or takes calls from anyone (SEC1). Whoever no account knows must know an account (SEC2), and calls at
    /// most every 200 ms (D16). The rest is dropped.
    private mutating func isWelcome(_ request: Request, _ flow: Flow, at now: Instant) -> Bool {
        let source = flow.remote.address
        if request.to.tag != nil || request.method == .ack || request.method == .cancel {
            return flow.transport.isStream || isKnown(source) || isLargerThanItsRefusal(request)
        }
        let best = trust.standing(of: request, from: flow)
        switch best {
        case nil: return false
        case .flow: return true
        case .listed, .anyone, .authenticated:
            guard request.method == .invite || request.method == .options || best == .listed,
                trust.account(for: request, from: flow) != nil
            else { return false }
            return best == .listed || request.method != .invite || rates.admitsCall(source, at: now)
        }
    }

    /// Whether a refusal is not larger than the request: otherwise anybody could make us fire at others (SEC5).
    private func isLargerThanItsRefusal(_ request: Request) -> Bool {
        // `received`, `rport` and a To tag come in addition.
        let addition = 96
        return heardOctets >= request.response(481).serialized().count + addition
    }
}
