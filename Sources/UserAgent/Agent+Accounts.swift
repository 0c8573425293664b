import Primitives
import SIP

/// Accounts come, change and go.
extension Agent {
    /// Registers new accounts one after the other (R5).
    mutating func addAccounts(_ accounts: [Account], at now: Instant) {
        var start = now
        for account in accounts {
            let key = addAccount(account, at: now)
            update(key, at: now) { registration, _, _ in registration.start(at: start) }
            if account.registers { start += wire.random.duration(in: Self.stagger) }
        }
    }

    private mutating func addAccount(_ account: Account, at now: Instant) -> RegistrationKey {
        let key = wire.nextNumber()
        registrations[key] = Registration(account, instance: settings.instance, random: &wire.random, at: now)
        current[account.name] = key
        changed.insert(key)
        return key
    }

    /// A reload: what did not change keeps its registration and Call-ID; calls stay up.
    mutating func configure(_ new: UserAgentSettings, at now: Instant) {
        settings = new
        requester.product = new.product
        requester.usesIPv6 = new.ipv6
        var added: [Account] = []
        for account in new.accounts {
            guard let key = current[account.name], let old = registrations[key]?.account else {
                added.append(account)
                continue
            }
            if !account.registersDifferently(from: old) {
                registrations[key]?.account = account
                changed.insert(key)
            } else if account.hasSameBinding(as: old) {
                update(key, at: now) { registration, _, out in registration.change(to: account, at: now, &out) }
            } else {
                succeeding[key] = addAccount(account, at: now)
                leave(key, at: now)
            }
        }
        let names = Set(new.accounts.map(\.name))
        for (name, key) in current where !names.contains(name) {
            current[name] = nil
            leave(key, at: now)
        }
        addAccounts(added, at: now)
        requester.keepCredentials(of: registrations.values.lazy.map(\.account))
        challengers = challengers.filter { names.contains($0.key) }
        wantSources(at: now)
        wantSubscriptions(at: now)
    }

    /// Takes the binding away, and the registration when that is done or takes too long.
    private mutating func leave(_ key: RegistrationKey, at now: Instant) {
        leaving[key] = now + Self.stopLimit
        update(key, at: now) { registration, _, out in registration.remove(at: now, &out) }
    }

    mutating func removed(_ key: RegistrationKey, at now: Instant) {
        guard leaving.removeValue(forKey: key) != nil, let registration = registrations.removeValue(forKey: key)
        else { return }
        said[key] = nil
        if let id = registration.attempt?.id {
            owners[id] = nil
            requester.abandon(id, &wire, &connections)
        }
        registrationDeadlines[key] = nil
        if let successor = succeeding.removeValue(forKey: key) {
            update(successor, at: now) { registration, _, _ in registration.start(at: now) }
        }
        goOnStopping(at: now)
    }

    // MARK: Intents

    mutating func register(_ name: String?, at now: Instant) {
        for key in keys(of: name) {
            update(key, at: now) { registration, _, out in registration.refresh(at: now, &out) }
        }
    }

    mutating func unregister(_ name: String?, at now: Instant) {
        for key in keys(of: name) {
            update(key, at: now) { registration, _, out in registration.remove(at: now, &out) }
        }
    }

    /// All, in the order of the configuration, or the one with this name.
    func keys(of name: String? = nil) -> [RegistrationKey] {
        settings.accounts.compactMap { name == nil || name == $0.name ? current[$0.name] : nil }
    }

    mutating func stop(at now: Instant) {
        guard stopBy == nil else { return }
        stopBy = now + Self.stopLimit
        unregisterAt = now + Self.goodbyeLimit
        for key in calls.keys.sorted() { tell(key, .hangUp(.shutdown), at: now) }
        endSubscriptions(at: now)
        goOnStopping(at: now)
    }

    /// First the calls, then the registrations; the end when everything is said.
    mutating func goOnStopping(at now: Instant) {
        guard stopBy != nil else { return }
        if let unregisterAt, calls.isEmpty || unregisterAt <= now {
            self.unregisterAt = nil
            for key in registrations.keys.sorted() where leaving[key] == nil { leave(key, at: now) }
        }
        if unregisterAt == nil, leaving.isEmpty, calls.isEmpty { stopped() }
    }

    mutating func stopped() {
        stopBy = nil
        unregisterAt = nil
        isStopped = true
        wire.out.append(.stopped)
    }

    // MARK: Registrations

    /// Lets a registration work, and carries out what it wants.
    mutating func update(
        _ key: RegistrationKey, at now: Instant,
        _ work: (inout Registration, inout Randomness, inout [Registration.Output]) -> Void
    ) {
        var outputs: [Registration.Output] = []
        registrations[key]?.work(work, &wire.random, &outputs)
        registrationDeadlines[key] = registrations[key]?.deadline
        for output in outputs {
            switch output {
            case .open(let path):
                guard let account = registrations[key]?.account else { break }
                let id = requester.open(
                    account, path, at: now, &wire, &connections, &requestEvents)
                owners[id] = .registration(key)
                registrations[key]?.opened(id)
            case .submit(let id, let request):
                requester.submit(id, request, at: now, &wire, &connections, &requestEvents)
            case .abandon(let id):
                owners[id] = nil
                requester.abandon(id, &wire, &connections)
            case .changed: changed.insert(key)
            case .note(let level, let text): wire.note(level, account: registrations[key]?.account.name, text)
            case .probe(let request, let path):
                if let account = registrations[key]?.account { send(request, for: account, path, at: now) }
            case .finished: removed(key, at: now)
            }
        }
    }

    /// Says what is another status now, and keeps the flows alive that are in use.
    mutating func sayStatuses(of keys: Set<RegistrationKey>, at now: Instant) {
        for key in keys.sorted() where leaving[key] == nil || stopBy != nil {
            guard let status = registrations[key]?.status else { continue }
            if let former = said[key], former.isSame(as: status) { continue }
            said[key] = status
            wire.out.append(.event(.account(status)))
        }
        isTrustStale = true
        var wanted: [Flow: Duration] = [:]
        var streams: [Flow] = []
        var asked: Set<Flow> = []
        for registration in registrations.values {
            guard let flow = registration.flow, registration.account.registers else { continue }
            if flow.transport.isStream {
                streams.append(flow)
            } else if registration.account.keepAlive > .zero {
                let interval = min(registration.account.keepAlive, registration.flowTimer ?? .seconds(3600))
                wanted[flow] = min(wanted[flow] ?? interval, interval)
                if registration.usesOutbound { asked.insert(flow) }
            }
        }
        probes.keep(asked)
        keepAlives.keep(wanted, at: now, random: &wire.random)
        connections.keep(streams, at: now, &wire)
    }
}

extension Account {
    /// Whether both are the same Contact at the same registrar: then a REGISTER changes what else is different.
    fileprivate func hasSameBinding(as other: Account) -> Bool {
        registers && other.registers && uri == other.uri && registrar == other.registrar
            && contactUser == other.contactUser
    }
}

extension AccountStatus {
    /// Equal but for the times that every refresh moves, and the steps on its way.
    fileprivate func isSame(as other: AccountStatus) -> Bool {
        var other = other
        other.expiresAt = expiresAt
        other.nextAttempt = nextAttempt
        other.step = step
        return self == other
    }
}

extension Registration {
    /// Works in place.
    fileprivate mutating func work(
        _ body: (inout Registration, inout Randomness, inout [Output]) -> Void, _ random: inout Randomness,
        _ out: inout [Output]
    ) {
        body(&self, &random, &out)
    }
}
