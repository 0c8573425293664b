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
        if case .request(let request) = message, !isWelcome(request, flow, at: now) { return }
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
        keys().contains { key in
            registrations[key].map { isServer(address, of: $0) || isListed(address, by: $0.account) } ?? false
        } || requester.isTalking(to: address) || callFlows.values.contains { $0.remote.address == address }
    }

    private func isServer(_ address: IPAddress, of registration: Registration) -> Bool {
        if registration.flowInUse?.remote.address == address { return true }
        if registration.targets.contains(where: { $0.address.address == address }) { return true }
        guard !registration.account.registers else { return false }
        return registration.account.servers.contains { sources.addresses(of: $0).contains(address) }
    }

    private func isListed(_ address: IPAddress, by account: Account) -> Bool {
        guard case .sources(let list) = account.acceptFrom else { return false }
        return list.contains { source in
            if case .host(let name) = source { return sources.addresses(of: .host(name)).contains(address) }
            return source.contains(address)
        }
    }

    /// How the account knows who sends this; nil: not at all.
    func standing(of request: Request, from address: IPAddress, with registration: Registration) -> Standing? {
        if isServer(address, of: registration) { return .flow }
        let account = registration.account
        switch account.acceptFrom {
        case .registrar: return nil
        case .anyone: return .anyone
        case .sources(let list):
            if isListed(address, by: account) { return .listed }
            let callers = list.compactMap { if case .caller(let pattern) = $0 { pattern } else { nil } }
            return AssertedCaller(request, standing: .listed).matches(callers) ? .listed : nil
        }
    }

    /// What belongs to a dialog or transaction is matched there; everything else needs an account that knows its
    /// sender, or takes calls from anyone (SEC1). Whoever no account knows must know an account (SEC2), and calls at
    /// most every 200 ms (D16). The rest is dropped.
    private mutating func isWelcome(_ request: Request, _ flow: Flow, at now: Instant) -> Bool {
        let source = flow.remote.address
        if request.to.tag != nil || request.method == .ack || request.method == .cancel {
            return flow.transport.isStream || isKnown(source) || isLargerThanItsRefusal(request)
        }
        let best = keys().compactMap { registrations[$0] }
            .compactMap { standing(of: request, from: source, with: $0) }.max()
        switch best {
        case nil: return false
        case .flow: return true
        case .listed, .anyone:
            guard request.method == .invite || request.method == .options || best == .listed,
                account(for: request, from: source) != nil
            else { return false }
            return best == .listed || request.method != .invite || rates.admitsCall(source, at: now)
        }
    }

    /// Whether a refusal is not larger than the request: otherwise anybody could make us fire at others (SEC5).
    private func isLargerThanItsRefusal(_ request: Request) -> Bool {
        // `received`, `rport` and a To tag come in addition.
        let addition = 96
        return request.serialized().count >= request.response(481).serialized().count + addition
    }
}
