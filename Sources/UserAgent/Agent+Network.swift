import Configuration
import Primitives
import SIP

/// What a changed network means for the accounts (R7).
///
/// What counts is the address that the kernel takes to each registrar: it is asked by `connect` to the registrar's
/// address on UDP, which the edge answers at once and which sends nothing.
extension Agent {
    mutating func lookAtRoutes(at now: Instant) {
        requester.avoided.forget()
        sources.expire(at: now)
        for key in keys() {
            update(key, at: now) { registration, _, out in registration.networkChanged(at: now, &out) }
        }
        var asked: Set<IPAddress> = []
        let flows = keys().compactMap { registrations[$0]?.flowInUse } + callFlows.values
        for remote in flows.map(\.remote) where asked.insert(remote.address).inserted {
            let target = Target(transport: .udp, address: remote, domain: remote.address.description)
            _ = connections.connect(to: target, .route(to: remote.address), at: now, &wire)
        }
    }

    mutating func answeredRoute(to remote: IPAddress, _ result: Connections.Result, at now: Instant) {
        let local: SocketAddress? = if case .flow(let flow) = result { flow.local } else { nil }
        for key in keys() {
            guard let flow = registrations[key]?.flowInUse, flow.remote.address == remote else { continue }
            // First, so that nobody takes it for a way to the registrar.
            if flow.transport.isStream, flow.local.address != local?.address {
                connections.close(flow, .noRoute, &wire, &connectionEvents)
            }
            update(key, at: now) { registration, random, out in
                registration.route(from: local, random: &random, at: now, &out)
            }
        }
        if let local { moveCalls(to: local, remote: remote, at: now) }
    }

    /// Calls go on from another address (R8).
    private mutating func moveCalls(to local: SocketAddress, remote: IPAddress, at now: Instant) {
        for (key, flow) in callFlows where flow.remote.address == remote && !flow.leaves(from: local) {
            let change = Call.AddressChange(
                local: local, isFormerGone: !capabilities.hasAddress(flow.local.address))
            if flow.transport == .udp {
                wire.transactions.rehome(from: flow.local, to: local)
                callFlows[key]?.local = local
            }
            tell(key, .addressChanged(change), at: now)
        }
    }

    /// The clock was set, or is found to be before the day of this build: no certificate can be judged then (R10).
    mutating func clockChanged(isSet: Bool, at now: Instant) {
        let wasSet = requester.isClockSet
        requester.isClockSet = isSet
        guard isSet else { return }
        requester.avoided.forget()
        for key in keys() {
            if !wasSet, let flow = registrations[key]?.flow, registrations[key]?.account.tls.toleratesClock == true {
                // Made by a time that only stood in for this one: it is made anew with full checks.
                connections.close(flow, .other("made before the clock was set"), &wire, &connectionEvents)
            }
            update(key, at: now) { registration, _, out in registration.clockSet(at: now, &out) }
        }
    }

    mutating func resolverChanged(at now: Instant) {
        sources.expire(at: now)
        for key in keys() {
            update(key, at: now) { registration, _, out in registration.networkChanged(at: now, &out) }
        }
    }

    /// The names whose addresses decide who may call.
    mutating func wantSources(at now: Instant) {
        var wanted: Set<Locator.Destination> = []
        for account in settings.accounts {
            if !account.registers { wanted.formUnion(account.servers) }
            if case .sources(let list) = account.acceptFrom {
                for case .host(let name) in list { wanted.insert(.host(name)) }
            }
        }
        sources.want(wanted, at: now)
        isTrustStale = true
    }
}

extension Account {
    /// Where its requests go, and its calls come from.
    var servers: [Locator.Destination] {
        [outboundProxy ?? registrar].compactMap { destination($0) }
    }
}

extension Flow {
    /// Whether it begins at the address that the kernel takes now. The SIP port may be another one too; a connection
    /// has a port of its own.
    func leaves(from local: SocketAddress) -> Bool {
        transport.isStream ? self.local.address == local.address : self.local == local
    }
}

extension Locator.Destination {
    /// A host of which only the addresses are wanted.
    static func host(_ name: String) -> Locator.Destination { Locator.Destination(host: name, port: 5060) }
}
