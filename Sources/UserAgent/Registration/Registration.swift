import Primitives
import SIP

/// The binding of one account at its registrar (section 6 of the SIP profile: R1–R11).
///
/// It says which requests it wants opened and what they contain; finding servers, credentials and retransmission are
/// the requester's.
struct Registration {
    enum Output {
        /// Open a request and say its name by `opened`.
        case open(RequestPath)
        case submit(RequestID, Request)
        case abandon(RequestID)
        /// `status` is another one.
        case changed
        case note(UserAgentNote.Level, String)
        /// Send this along the flow; what comes of it is seen where it arrives.
        case probe(Request, RequestPath)
        /// After `remove`: nothing is left to do.
        case finished
    }

    /// What our Contact is at the registrar.
    struct Binding {
        var contact: SIPURI
        var flow: Flow
        var expiresAt: Instant
        /// The way that it names leads nowhere at present.
        var isLost = false
    }

    enum Purpose { case register, remove }

    /// A REGISTER on its way.
    struct Attempt {
        var purpose: Purpose
        var id: RequestID?
        var since: Instant
        var flow: Flow?
        var contact: SIPURI?
        /// Registrar that a 301 or 302 named; followed once (R3).
        var redirect: SIPURI?
        /// A 423 came and was heeded.
        var wasBrief = false
        /// Old Contacts are taken out in the same request (R7).
        var removesOld = true
        /// Octets of the request, for the diagnosis of a silent registrar.
        var size = 0
    }

    /// Bindings of addresses that we left while their REGISTER was on its way; more are left to expire.
    static let staleLimit = 4
    static let longestMinExpires: UInt32 = 86_400
    static let longestRetryAfter = Duration.seconds(3600)
    /// Waits after refused credentials: a site that locks accounts out must not lock this one (R3, A2).
    static let credentialWaits: [Duration] = [.seconds(300), .seconds(900), .seconds(1800)]

    var account: Account
    let instance: String
    let callID: String
    let fromTag: String
    var cseq: UInt32 = 0

    var attempt: Attempt?
    var binding: Binding?
    var stale: [SIPURI] = []
    /// Servers found last, for requests of calls and for trust.
    var targets: [Target] = []
    /// From the last 2xx (R11).
    var serviceRoutes: [NameAddress] = []
    /// From the last 2xx: what the registrar calls this device (RFC 5627).
    var gruu: GRUU?
    /// The last 2xx agreed to outbound (RFC 5626).
    var usesOutbound = false
    /// The longest silence that the server allows on the flow, where it names one (RFC 5626 §4.4).
    var flowTimer: Duration?

    var backOff = BackOff()
    var credentialFailures = 0
    /// What to ask for: more than the account's wish only where the registrar demands it (R3).
    var minExpires: UInt32 = 0
    var usesRegID = true

    var nextAttempt: Instant?
    var state: AccountStatus.State
    var since: Instant
    var code: Int?
    var reason: String?
    /// The step that is being made, or the one that failed.
    var step: RegistrationStep?
    /// The wait that follows the last failure was demanded, or protects the account: no event shortens it.
    var isHeldBack = false
    /// The last attempt found no TLS connection that can be trusted.
    var isInsecure = false
    var lastNoted: String?

    init(_ account: Account, instance: String, random: inout Randomness, at now: Instant) {
        self.account = account
        self.instance = instance
        callID = random.token(bits: 128)
        fromTag = random.token(bits: 96)
        state = account.registers && !account.waitsForSwitch ? .unregistered : .disabled
        since = now
    }

    var deadline: Instant? { attempt == nil ? nextAttempt : nil }

    var isRegistered: Bool { state == .registered }

    /// The flow that requests of calls take, and that calls come along.
    var flow: Flow? { binding.flatMap { $0.isLost ? nil : $0.flow } }

    /// The flow of the REGISTER on its way, else of the binding, lost or not.
    var flowInUse: Flow? { attempt?.flow ?? binding?.flow }

    /// The account as dialogs use it, with the Contact that they name.
    var dialogAccount: Account {
        var account = account
        account.gruu = gruu.flatMap { $0.isProven ? $0.uri : nil }
        account.usesOutbound = usesOutbound
        return account
    }

    var status: AccountStatus {
        var status = AccountStatus(
            name: account.name, uri: account.uri.addressOfRecord.description, state: state, since: since)
        if state == .registered { status.expiresAt = binding?.expiresAt }
        status.contact = binding?.contact.description
        let flow = flowInUse
        status.transport = flow?.transport ?? targets.first?.transport
        status.registrar = flow?.remote ?? targets.first?.address
        status.code = code
        status.reason = reason
        status.step = state == .registered || state == .disabled ? nil : step
        if state != .disabled {
            // An attempt on its way ends, at the latest, when its transaction does.
            status.nextAttempt = attempt.map { $0.since + TransactionTimers.timeout } ?? nextAttempt
        }
        return status
    }

    // MARK: Intents

    /// Registers at this time and from then on.
    mutating func start(at instant: Instant) {
        guard account.registers, !account.waitsForSwitch else { return }
        nextAttempt = instant
    }

    /// Registers now, whatever failed before.
    mutating func refresh(at now: Instant, _ out: inout [Output]) {
        credentialFailures = 0
        backOff.reset()
        restart(at: now, &out)
    }

    /// Takes the account's new settings, which need another REGISTER for the same binding.
    mutating func change(to account: Account, at now: Instant, _ out: inout [Output]) {
        let rests = state == .disabled && account.waitsForSwitch
        self.account = account
        if rests { out.append(.changed) } else { refresh(at: now, &out) }
    }

    /// Takes our binding away and stays away until `start` or `refresh` (R9).
    mutating func remove(at now: Instant, _ out: inout [Output]) {
        let way = flow ?? attempt?.flow
        abandonAttempt(&out)
        nextAttempt = nil
        if binding.map({ $0.expiresAt <= now || $0.isLost }) ?? false { binding = nil }
        guard let way, binding != nil || !stale.isEmpty else { return finishRemoval(at: now, &out) }
        attempt = Attempt(purpose: .remove, since: now)
        var path = path(to: account.registrar)
        path.flow = way
        out.append(.open(path))
    }

    mutating func finishRemoval(at now: Instant, _ out: inout [Output]) {
        attempt = nil
        binding = nil
        stale = []
        nextAttempt = nil
        show(.disabled, at: now, &out)
        out.append(.finished)
    }

    // MARK: Network

    /// Something in the network changed: what failed before says nothing now (R4). Waits that the registrar demanded
    /// and those after refused credentials stay.
    mutating func networkChanged(at now: Instant, _ out: inout [Output]) {
        backOff.reset()
        if let attempt, attempt.purpose == .register, attempt.flow == nil { return restart(at: now, &out) }
        if attempt == nil, state == .failed, !isHeldBack, nextAttempt != nil { restart(at: now, &out) }
    }

    /// Dates can be judged now (R10).
    mutating func clockSet(at now: Instant, _ out: inout [Output]) {
        guard attempt == nil, state == .failed, isInsecure else { return }
        backOff.reset()
        restart(at: now, &out)
    }

    /// From where a datagram to the registrar would leave now; nil: no route.
    mutating func route(from local: SocketAddress?, random: inout Randomness, at now: Instant, _ out: inout [Output]) {
        guard account.registers, state != .disabled else { return }
        let present = flowInUse
        guard let local else {
            guard let present, binding?.isLost == false || attempt != nil else { return }
            abandonAttempt(&out)
            binding?.isLost = true
            step = .route
            return retry(
                after: backOff.failed(at: now, random: &random), code: nil,
                reason: "no route to \(present.remote.address)", at: now, &out)
        }
        guard let present else { return }
        if !present.leaves(from: local) {
            binding?.isLost = true
            restart(at: now, &out)
        } else if binding?.isLost == true, attempt == nil {
            restart(at: now, &out)
        }
    }

    /// The connection ended, or the registrar's host says that nobody listens.
    mutating func flowFailed(_ flow: Flow, random: inout Randomness, at now: Instant, _ out: inout [Output]) {
        guard let binding, binding.flow == flow, !binding.isLost else { return }
        if flow.transport.isStream { self.binding?.isLost = true }
        guard attempt == nil, nextAttempt != nil else { return }
        let wait = backOff.failed(at: now, random: &random)
        if flow.transport.isStream {
            step = .connection
            retry(after: wait, code: nil, reason: "connection lost", at: now, &out)
        } else {
            nextAttempt = now + wait
            out.append(.changed)
        }
    }

    // MARK: Attempts

    mutating func deadlineReached(at now: Instant, _ out: inout [Output]) {
        guard attempt == nil, let nextAttempt, nextAttempt <= now else { return }
        begin(at: now, &out)
    }

    mutating func restart(at now: Instant, _ out: inout [Output]) {
        guard account.registers else { return }
        abandonAttempt(&out)
        begin(at: now, &out)
    }

    /// The registrar may have got what is given up here: its Contact is taken out with the next REGISTER.
    mutating func abandonAttempt(_ out: inout [Output]) {
        guard let attempt else { return }
        if let id = attempt.id { out.append(.abandon(id)) }
        if let contact = attempt.contact, attempt.purpose == .register, contact != binding?.contact,
            !stale.contains(contact), stale.count < Self.staleLimit
        {
            stale.append(contact)
        }
        self.attempt = nil
    }

    mutating func begin(at now: Instant, _ out: inout [Output]) {
        attempt = Attempt(purpose: .register, since: now)
        nextAttempt = nil
        isHeldBack = false
        isInsecure = false
        step = .name
        // A refresh of a good binding is no change of state.
        if state != .registered || binding?.isLost != false { show(.registering, at: now, &out) }
        out.append(.open(path(to: account.registrar)))
    }

    func path(to registrar: SIPURI) -> RequestPath {
        RequestPath(to: registrar, routes: account.outboundProxy.map { [.looseRoute($0)] } ?? [])
    }

    mutating func opened(_ id: RequestID) { attempt?.id = id }

    mutating func located(_ targets: [Target]) {
        self.targets = targets
        step = .connection
    }

    /// Composes the REGISTER for a flow (R1).
    mutating func ready(_ id: RequestID, _ flow: Flow, _ occasion: RequestOccasion, _ out: inout [Output]) {
        guard var attempt, attempt.id == id else { return }
        if occasion != .again { cseq = cseq & 0x7FFF_FFFF &+ 1 }
        var registrar = attempt.redirect ?? account.registrar
        registrar.escapedUser = nil
        registrar.escapedPassword = nil
        registrar.headers = []
        let displayName = account.displayName.isEmpty ? nil : account.displayName
        let aor = account.uri.addressOfRecord
        var request = Request(
            .register, registrar,
            from: NameAddress(aor, displayName: displayName, parameters: ["tag": fromTag]),
            to: NameAddress(aor, displayName: displayName), callID: callID, cseq: cseq)
        for route in path(to: registrar).routes { request.headers.append(.route, route.description) }
        let asked = attempt.purpose == .remove ? 0 : max(account.expires, minExpires)
        let contact = account.contact(on: flow)
        if attempt.purpose == .register { request.headers.append(.contact, describe(contact, expires: asked)) }
        if attempt.removesOld {
            for old in attempt.purpose == .remove ? oldContacts() : oldContacts(beside: contact) {
                let isOurs = attempt.purpose == .remove && old == binding?.contact
                request.headers.append(.contact, describe(old, expires: 0, asDevice: isOurs))
            }
        }
        attempt.contact = contact
        step = .answer
        request.headers.append(.expires, String(asked))
        request.headers.append(.supported, "path, outbound, gruu")
        attempt.flow = flow
        attempt.size = request.serialized().count
        self.attempt = attempt
        out.append(.submit(id, request))
    }

    /// `asDevice`: with the names of the device, which an address that we left must not have beside the present one.
    func describe(_ contact: SIPURI, expires: UInt32, asDevice: Bool = true) -> String {
        let text = NameAddress(contact, parameters: ["expires": String(expires)]).description
        if !asDevice { return text }
        return text + ";+sip.instance=\"<\(instance)>\"" + (usesRegID ? ";reg-id=1" : "")
    }

    /// Bindings of ours that another address has replaced.
    func oldContacts(beside contact: SIPURI? = nil) -> [SIPURI] {
        ((binding.map { [$0.contact] } ?? []) + stale).filter { $0 != contact }
    }
}

extension NameAddress {
    /// A Route to a proxy: with `lr`, unless its owner says that it is a strict router by leaving it out of a URI with
    /// other parameters.
    static func looseRoute(_ uri: SIPURI) -> NameAddress {
        var uri = uri
        uri.parameters.setFlag("lr")
        return NameAddress(uri)
    }
}

extension Duration {
    /// For a log line: whole seconds, or minutes from two of them on.
    var inWords: String {
        let seconds = (nanoseconds + 999_999_999) / 1_000_000_000
        return seconds < 120 ? "\(seconds) s" : "\((seconds + 30) / 60) min"
    }
}
