import Primitives
import SIP

/// What the registrar says, and what follows from it.
extension Registration {
    mutating func failed(
        _ id: RequestID, _ failure: RequestFailure, random: inout Randomness, at now: Instant, _ out: inout [Output]
    ) {
        guard let attempt, attempt.id == id else { return }
        if attempt.purpose == .remove { return finishRemoval(at: now, &out) }
        self.attempt = nil
        step = failure.step
        var text = failure.text
        if case .transport(.insecure) = failure { isInsecure = true }
        if case .timeout = failure, let flow = attempt.flow {
            text = "no answer to REGISTER \(account.registrar) (\(flow.transport.rawValue), \(attempt.size) octets)"
        }
        retry(
            after: backOff.failed(at: now, random: &random),
            code: failure == .timeout ? 408 : nil, reason: text, at: now, &out)
    }

    mutating func answered(
        _ id: RequestID, _ response: Response, random: inout Randomness, at now: Instant, _ out: inout [Output]
    ) {
        guard let attempt, attempt.id == id else { return }
        if attempt.purpose == .remove { return finishRemoval(at: now, &out) }
        self.attempt = nil
        switch response.status {
        case 200..<300: succeeded(response, attempt, random: &random, at: now, &out)
        case 301, 302:
            guard attempt.redirect == nil, let target = response.contacts.first?.uri, target.isSIP else {
                return refused(response, random: &random, at: now, &out)
            }
            self.attempt = Attempt(purpose: .register, since: attempt.since, redirect: target)
            out.append(.open(path(to: target)))
        case 423:
            if let wanted = response.minExpires, !attempt.wasBrief, wanted <= Self.longestMinExpires,
                wanted >= max(account.expires, minExpires)
            {
                minExpires = wanted
                self.attempt = Attempt(purpose: .register, since: attempt.since, wasBrief: true)
                return out.append(.open(path(to: account.registrar)))
            }
            refused(response, random: &random, at: now, &out)
        case 439 where usesRegID:
            usesRegID = false
            begin(at: now, &out)
        case 401, 403, 407: credentialsRefused(response, at: now, &out)
        case 400..<500 where attempt.removesOld && !oldContacts(beside: attempt.contact ?? account.uri).isEmpty:
            // Some registrars take one Contact only: the old one is left to expire.
            self.attempt = Attempt(purpose: .register, since: attempt.since, removesOld: false)
            out.append(.open(path(to: account.registrar)))
        default: refused(response, random: &random, at: now, &out)
        }
    }

    private mutating func succeeded(
        _ response: Response, _ attempt: Attempt, random: inout Randomness, at now: Instant, _ out: inout [Output]
    ) {
        guard let contact = attempt.contact, let flow = attempt.flow,
            let own = ownContact(contact, in: response), own.expires != 0
        else {
            return retry(
                after: backOff.failed(at: now, random: &random), code: response.status,
                reason: "answer without our Contact", at: now, &out)
        }
        let granted = own.expires ?? response.expires ?? max(account.expires, minExpires)
        binding = Binding(contact: contact, flow: flow, expiresAt: now + .seconds(Int64(granted)))
        stale = []
        serviceRoutes = response.serviceRoutes
        flowTimer = response.headers.first("Flow-Timer").flatMap { deltaSeconds($0) }
            .map { .seconds(max(10, Int64($0) * 8 / 10)) }
        usesOutbound = usesRegID && response.require.contains("outbound")
        take(gruuOf: own, flow, random: &random, &out)
        backOff.succeeded(at: now)
        credentialFailures = 0
        lastNoted = nil
        nextAttempt = now + Self.refreshWait(granted, random: &random)
        code = response.status
        reason = response.reason
        show(.registered, at: now, &out)
    }

    /// 80–95 % of what was granted, for less than a minute 50–60 %; not below 10 s unless less than 20 s were granted
    /// (R2).
    static func refreshWait(_ granted: UInt32, random: inout Randomness) -> Duration {
        let whole = Duration.seconds(Int64(granted))
        let wait = random.duration(
            in: granted < 60 ? (whole / 2)...(whole * 6 / 10) : (whole * 80 / 100)...(whole * 95 / 100))
        return max(wait, granted < 20 ? .seconds(1) : .seconds(10))
    }

    /// Ours among the Contacts of a 2xx. Some registrars write the address that they see (`received`) into it.
    private func ownContact(_ contact: SIPURI, in response: Response) -> NameAddress? {
        let candidates = response.contacts.filter { $0.uri.user == contact.user }
        return candidates.first { $0.uri.host == contact.host && $0.uri.port == contact.port }
            ?? candidates.first { $0.parameters["+sip.instance"] == "<\(instance)>" }
            ?? candidates.first { response.topVia?.received.map { Host($0) } == $0.uri.host }
    }

    private mutating func refused(
        _ response: Response, random: inout Randomness, at now: Instant, _ out: inout [Output]
    ) {
        var wait = backOff.failed(at: now, random: &random)
        if let asked = response.retryAfter {
            wait = min(.seconds(Int64(asked)), Self.longestRetryAfter)
            isHeldBack = true
        }
        retry(after: wait, code: response.status, reason: response.reason, at: now, &out)
    }

    private mutating func credentialsRefused(_ response: Response, at now: Instant, _ out: inout [Output]) {
        var wait = Self.credentialWaits[min(credentialFailures, Self.credentialWaits.count - 1)]
        if let asked = response.retryAfter { wait = max(wait, min(.seconds(Int64(asked)), Self.longestRetryAfter)) }
        isHeldBack = true
        step = .challenge
        let isFirst = credentialFailures == 0
        credentialFailures += 1
        if isFirst {
            // Once until a success: a repeated alarm is not read.
            let text = "registrar \(account.registrar.host?.description ?? "") refused the password"
            out.append(.note(.error, "\(text) (\(response.status)), retrying in \(wait.inWords)"))
        }
        lastNoted = "\(response.status)"
        retry(after: wait, code: response.status, reason: response.reason, at: now, &out)
    }

    mutating func retry(
        after wait: Duration, code: Int?, reason: String, at now: Instant, _ out: inout [Output]
    ) {
        nextAttempt = now + wait
        self.code = code
        self.reason = reason
        let cause = code.map { "\($0)" } ?? reason
        if cause != lastNoted {
            lastNoted = cause
            let what = code.map { "\($0) \(reason)" } ?? reason
            let registrar = account.registrar.host?.description ?? ""
            out.append(.note(.warning, "registrar \(registrar): \(what), retrying in \(wait.inWords)"))
        }
        show(.failed, at: now, &out)
    }

    mutating func show(_ state: AccountStatus.State, at now: Instant, _ out: inout [Output]) {
        if state != self.state { since = now }
        self.state = state
        out.append(.changed)
    }
}

extension RequestFailure {
    /// Where on its way a registration failed.
    fileprivate var step: RegistrationStep {
        switch self {
        case .notLocated: .name
        case .transport(.noRoute): .route
        case .transport(.insecure): .certificate
        case .transport: .connection
        case .timeout, .cancelled: .answer
        }
    }
}
