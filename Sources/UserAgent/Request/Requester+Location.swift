import Primitives
import SIP

/// How a request finds its server: look-ups, connections, the next target, and the times that all this may take.
extension Requester {
    mutating func locate(
        _ id: RequestID, _ locator: Locator, at now: Instant, _ wire: inout Wire, _ connections: inout Connections,
        _ events: inout [RequestEvent]
    ) {
        switch locator.outcome {
        case .success(let found):
            let targets = secured(found, for: id)
            events.append(.located(id, targets))
            entries[id]?.targets = avoided.sorted(targets, at: now)
            tryNext(id, .noRoute, at: now, &wire, &connections, &events)
        case .failure(let failure):
            remove(id)
            events.append(.failed(id, .notLocated(failure)))
        case nil:
            entries[id]?.state = .locating(locator)
            let asked = Set(lookups.values.lazy.filter { $0.request == id }.map(\.question))
            for question in locator.questions.subtracting(asked) {
                let lookup = LookupID(wire.nextNumber())
                lookups[lookup] = (id, question)
                wire.out.append(.lookUp(lookup, question))
            }
        }
    }

    /// Those of TLS with whom they lead to.
    private func secured(_ targets: [Target], for id: RequestID) -> [Target] {
        guard let entry = entries[id] else { return targets }
        return targets.map { target in
            var target = target
            if target.transport == .tls {
                target.server = entry.account.server(at: target.domain, isProxy: entry.path.isNamedByServer)
            }
            return target
        }
    }

    /// Whether the look-up was one of ours.
    mutating func lookedUp(
        _ lookup: LookupID, _ answer: DNSAnswer, at now: Instant, _ wire: inout Wire,
        _ connections: inout Connections, _ events: inout [RequestEvent]
    ) -> Bool {
        guard let (id, question) = lookups.removeValue(forKey: lookup) else { return false }
        if case .locating(var locator)? = entries[id]?.state {
            locator.answered(question, answer, random: &wire.random)
            if locator.outcome != nil || locator.questions.isEmpty == false {
                locate(id, locator, at: now, &wire, &connections, &events)
            }
        }
        return true
    }

    /// The next target, or the end of the request.
    mutating func tryNext(
        _ id: RequestID, _ failure: TransportFailure, at now: Instant, _ wire: inout Wire,
        _ connections: inout Connections, _ events: inout [RequestEvent]
    ) {
        guard let entry = entries[id], !entry.targets.isEmpty else {
            remove(id)
            events.append(.failed(id, .transport(failure)))
            return
        }
        if let transaction = entry.transaction {
            byTransaction[transaction] = nil
            entries[id]?.transaction = nil
        }
        let target = entry.targets[0]
        entries[id]?.targets.removeFirst()
        entries[id]?.target = target
        entries[id]?.state = .connecting
        entries[id]?.until = nil
        if !isClockSet, let settings = target.server?.settings, settings.verifies, !settings.toleratesClock {
            let failure = TransportFailure.insecure("the clock is not set yet: waiting for the time")
            return answered(id, .failure(failure), at: now, &wire, &connections, &events)
        }
        if let flow = connections.connect(to: target, .request(id), at: now, &wire) {
            answered(id, .flow(flow), at: now, &wire, &connections, &events)
        }
    }

    /// A flow came, or did not.
    mutating func answered(
        _ id: RequestID, _ result: Connections.Result, at now: Instant, _ wire: inout Wire,
        _ connections: inout Connections, _ events: inout [RequestEvent]
    ) {
        guard let entry = entries[id], case .connecting = entry.state else { return }
        switch result {
        case .flow(let flow):
            entries[id]?.smallFlow = nil
            becomeReady(id, flow, &events)
        case .failure(let failure):
            if let flow = entry.smallFlow { return goUnfragmented(id, flow, at: now, &wire, &events) }
            var isInsecure = false
            if case .insecure = failure { isInsecure = true }
            if let target = entry.target { avoided.failed(target, isInsecure: isInsecure, at: now) }
            // Whoever makes TLS fail must not get the request without it (SEC8).
            if isInsecure { entries[id]?.targets.removeAll { $0.transport != .tls } }
            tryNext(id, failure, at: now, &wire, &connections, &events)
        }
    }

    mutating func becomeReady(_ id: RequestID, _ flow: Flow, _ events: inout [RequestEvent]) {
        entries[id]?.state = .ready(flow)
        entries[id]?.until = nil
        events.append(.ready(id, flow, entries[id]?.request == nil ? .first : .again))
    }

    /// The server has no TCP: the large request goes by UDP after all, and this is remembered (T9).
    mutating func goUnfragmented(
        _ id: RequestID, _ flow: Flow, at now: Instant, _ wire: inout Wire, _ events: inout [RequestEvent]
    ) {
        if let entry = entries[id], let request = entry.request {
            let size = request.serialized().count
            wire.note(
                .warning, account: entry.account.name,
                "\(request.method) of \(size) octets goes by UDP in fragments: \(flow.remote) takes no TCP")
        }
        if withoutTCP.count >= Self.largeMemoryLimit { withoutTCP = withoutTCP.filter { $0.value > now } }
        if withoutTCP.count < Self.largeMemoryLimit { withoutTCP[flow.remote] = now + Self.largeMemory }
        entries[id]?.smallFlow = nil
        becomeReady(id, flow, &events)
    }

    // MARK: Time

    mutating func deadlineReached(
        at now: Instant, _ wire: inout Wire, _ connections: inout Connections, _ events: inout [RequestEvent]
    ) {
        for (id, entry) in entries where entry.until.map({ $0 <= now }) ?? false {
            switch entry.state {
            case .locating:
                remove(id)
                events.append(.failed(id, .notLocated(.resolverFailed("no answer"))))
            case .connecting:
                if let flow = entry.smallFlow {
                    connections.forget(id)
                    goUnfragmented(id, flow, at: now, &wire, &events)
                }
            case .sent where entry.isAnswered: remove(id)
            case .sent:
                if let target = entry.target { avoided.failed(target, at: now) }
                if let transaction = entry.transaction { wire.transactions.forget(transaction) }
                tryNext(id, .timedOut, at: now, &wire, &connections, &events)
            case .ready: break
            }
        }
    }
}
