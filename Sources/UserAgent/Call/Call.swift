import Primitives
import SDP
import SIP

/// One call of either direction: the INVITE usage of a dialog, with its offers, answers and media plan.
///
/// A call ends for its owner as soon as one side hangs up (`status` says `ended`, the media stops); what SIP still wants
/// to be said goes on behind that until `finished`.
struct Call {
    enum Phase {
        /// Our INVITE has no final response.
        case inviting
        /// The peer's INVITE has no final response.
        case incoming
        case established
        /// Over for its owner.
        case leaving
        case finished
    }

    /// Legs of a forked INVITE that are kept apart (D5).
    static let legLimit = 16
    /// Places that an INVITE is sent to, the first one among them (D9).
    static let targetLimit = 5
    /// Requests of ours at once; a 2xx that comes again beyond that waits for its next repeat (SEC12).
    static let errandLimit = 32
    /// Digits that wait for the INFO before them.
    static let digitLimit = 32
    /// Addresses that the peer was seen at (SEC14).
    static let sourceLimit = 8
    /// An incoming call that nobody decides about is refused after this time (D20).
    static let ringLimit = Duration.seconds(600)
    /// How often their side hears again that ours rings (D10).
    static let ringInterval = Duration.seconds(60)
    /// By then everything is said after the end of a call, or nobody listens (D20).
    static let leaveLimit = Duration.seconds(100)

    let key: CallKey
    let account: Account
    let capabilities: UserAgentCapabilities
    let callID: String
    /// Our tag in the dialog.
    let localTag: String
    var random: Randomness
    var phase: Phase
    var status: CallStatus
    /// What was told last.
    private var told: CallStatus?

    var dialog: Dialog?
    var negotiation: OfferAnswer?
    /// The RTP port that is reserved.
    var port: (address: IPAddress, number: UInt16)?
    /// The media as told last.
    var plan: MediaPlan?
    /// The name in the peer's description that is being looked up.
    var nameAsked: String?

    var errands: [Int: Errand] = [:]
    private var lastErrand = 0
    /// INVITEs of ours with a 2xx: each repeat of it is acknowledged.
    var answered: [Int: AnsweredInvite] = [:]

    var outgoing: OutgoingInvite?
    var incoming: IncomingInvite?
    var accepted: AcceptedInvite?
    /// Whether the dialog's first INVITE is over with its ACK: before that the called side says no BYE (D7).
    var isAcknowledged = true
    /// A BYE that waits for that ACK, with its Reason.
    var lateBye: String??

    var reinvite: Reinvite?
    /// What the operator wants, and what was agreed.
    var wantsHold = false
    var holds = false
    /// The peer keeps us on hold.
    var heldByPeer = false
    var move: Move?
    /// When a refused INVITE or re-INVITE is tried again.
    var retryAt: Instant?

    /// Digits that wait for their INFO, and whether one is on its way.
    var digits: [UInt8] = []
    var isSendingDigit = false
    private var sources: [IPAddress] = []
    private var leaveBy: Instant?

    init(
        key: CallKey, account: Account, capabilities: UserAgentCapabilities, callID: String, localTag: String,
        phase: Phase, status: CallStatus
    ) {
        self.key = key
        self.account = account
        self.capabilities = capabilities
        self.callID = callID
        self.localTag = localTag
        self.phase = phase
        self.status = status
        random = capabilities.random
    }

    /// When `deadlineReached` is next due; nil while nothing is pending.
    var deadline: Instant? {
        if phase == .finished { return nil }
        return earliest(retryAt, accepted?.deadline, incoming?.deadline, move?.until, leaveBy)
    }

    var isOver: Bool { phase == .leaving || phase == .finished }

    /// Inputs that do not fit the state are absorbed, requests of the peer answered all the same.
    mutating func handle(_ input: Input, at now: Instant, _ out: inout [Output]) {
        switch input {
        case .ring: ring(at: now, &out)
        case .answer: answer(at: now, &out)
        case .reject(let code): reject(code, at: now, &out)
        case .hangUp(let reason): hangUp(reason, at: now, &out)
        case .hold: hold(true)
        case .resume: hold(false)
        case .sendDigit(let digit): sendDigit(digit)
        case .addressChanged: addressChanged(at: now, &out)
        case .ready(let number, let flow, let occasion): ready(number, flow, occasion, at: now, &out)
        case .provisional(let number, let response): provisional(number, response, at: now, &out)
        case .final(let number, let response, let sent, let flow):
            saw(flow)
            final(number, response, to: sent, at: now, &out)
        case .failed(let number, let failure): failed(number, failure, at: now, &out)
        case .stray2xx(let response): acknowledge(stray: response, &out)
        case .request(let request, let id, let flow): received(request, id, flow, at: now, &out)
        case .cancelled(let request): cancelled(by: request, at: now, &out)
        case .resolved(let address): resolved(address, at: now, &out)
        case .deadlineReached: deadlineReached(at: now, &out)
        }
        if phase == .established { renegotiate(&out) }
        if phase == .established { sendNextDigit(&out) }
        tell(&out)
        if phase == .leaving, errands.isEmpty, accepted == nil { finish(&out) }
    }

    private mutating func deadlineReached(at now: Instant, _ out: inout [Output]) {
        if let leaveBy, now >= leaveBy {
            for number in errands.keys { out.append(.abandon(number)) }
            errands = [:]
            accepted = nil
            return
        }
        switch accepted?.deadlineReached(at: now) {
        case .resend: if let accepted { out.append(.respond(accepted.id, accepted.response)) }
        case .giveUp: giveUpAcknowledgement(at: now, &out)
        case .wait, nil: break
        }
        incomingDeadlineReached(at: now, &out)
        if let until = move?.until, now >= until { giveUpMove(at: now, &out) }
        if let retryAt, now >= retryAt {
            self.retryAt = nil
            if phase == .inviting { invite(at: now, &out) }
        }
    }

    private mutating func finish(_ out: inout [Output]) {
        phase = .finished
        out.append(.finished)
    }

    /// The INVITE has its 2xx.
    mutating func establish(at now: Instant) {
        phase = .established
        status.answeredAt = now
        move?.until = now + Self.moveLimit
    }

    // MARK: The end

    mutating func hangUp(_ reason: HangUpReason, at now: Instant, _ out: inout [Output]) {
        switch phase {
        case .inviting:
            if let number = outgoing?.number { out.append(.cancel(number, reason: reason.header)) }
            end(487, nil, CallCause(reason, wasAnswered: false), at: now, &out)
        case .incoming:
            refuse(reason.status, cause: CallCause(reason, wasAnswered: false), at: now, &out)
        case .established:
            sayBye(reason.header, &out)
            end(200, nil, CallCause(reason, wasAnswered: true), at: now, &out)
        case .leaving, .finished: break
        }
    }

    /// The call is over for its owner: nothing is heard or said any more.
    mutating func end(
        _ code: Int?, _ reason: String?, _ cause: CallCause, at now: Instant, _ out: inout [Output]
    ) {
        guard !isOver else { return }
        phase = .leaving
        leaveBy = now + Self.leaveLimit
        retryAt = nil
        move = nil
        digits = []
        show(nil, &out)
        if port != nil {
            port = nil
            capabilities.releasePort(key)
        }
        status.state = .ended
        status.since = now
        status.hold = .none
        status.code = code
        status.reason = reason ?? code.map { reasonPhrase($0) }
        status.cause = cause.rawValue
    }

    // MARK: What is told

    /// Another state, for the owner.
    mutating func become(_ state: CallStatus.State, at now: Instant) {
        guard status.state != state else { return }
        status.state = state
        status.since = now
    }

    /// Between answer and end the state is that of the holds (S4).
    mutating func showHold(at now: Instant) {
        guard phase == .established else { return }
        status.hold = holds ? (heldByPeer ? .both : .local) : heldByPeer ? .remote : .none
        become(holds ? .held : heldByPeer ? .heldByPeer : .talking, at: now)
    }

    mutating func tell(_ out: inout [Output]) {
        guard status != told else { return }
        told = status
        out.append(.status(status))
    }

    /// Starts, changes or stops the media; equal plans restart nothing (S6).
    mutating func show(_ next: MediaPlan?, _ out: inout [Output]) {
        status.plan = next
        guard next != plan else { return }
        plan = next
        out.append(.media(next))
    }

    /// Takes the negotiated media into force, once the address of the peer is known.
    mutating func showNegotiated(at now: Instant, _ out: inout [Output]) {
        guard phase == .established, let negotiation else { return }
        if let name = negotiation.nameToResolve {
            ask(name, &out)
        } else {
            show(negotiation.plan, &out)
            if !holds { heldByPeer = negotiation.plan?.heldByPeer ?? false }
        }
        showHold(at: now)
    }

    private mutating func ask(_ name: String, _ out: inout [Output]) {
        guard nameAsked != name else { return }
        nameAsked = name
        out.append(.lookUp(name: name, isV6: negotiation?.local.address.isV6 ?? false))
    }

    private mutating func resolved(_ address: IPAddress?, at now: Instant, _ out: inout [Output]) {
        guard let name = nameAsked else { return }
        nameAsked = nil
        guard phase == .established, negotiation?.nameToResolve == name else { return }
        guard let address else {
            out.append(.note(.warning, "no address for \(name), where the peer wants its audio"))
            sayBye(nil, &out)
            return end(nil, "no address for the peer's audio", .failed, at: now, &out)
        }
        negotiation?.resolved(address)
        showNegotiated(at: now, &out)
    }

    // MARK: Ways

    /// Opens a request.
    @discardableResult
    mutating func open(_ errand: Errand, _ path: RequestPath, _ out: inout [Output]) -> Int {
        lastErrand += 1
        errands[lastErrand] = errand
        out.append(.open(lastErrand, path))
        return lastErrand
    }

    /// Remembers where the peer, or the proxy before it, was seen.
    mutating func saw(_ flow: Flow) {
        guard !sources.contains(flow.remote.address) else { return }
        if sources.count == Self.sourceLimit { sources.removeFirst() }
        sources.append(flow.remote.address)
    }

    /// Whether a request in the dialog may come along this flow (SEC14).
    func isTrusted(_ flow: Flow) -> Bool {
        flow.transport.isStream || sources.contains(flow.remote.address)
            || dialog?.mayComeFrom(flow.remote.address) ?? true
    }

    /// Our side of the media on this flow; nil if no port is left (MED9).
    mutating func localMedia(on flow: Flow) -> LocalMedia? {
        let address = flow.local.address
        if port?.address != address {
            guard let number = capabilities.reservePort(key, address) else { return nil }
            port = (address, number)
        }
        guard let port else { return nil }
        var local =
            negotiation?.local
            ?? LocalMedia(
                codecs: account.codecs, address: address, port: port.number, telephoneEvents: account.dtmf != .info,
                opusBitRate: account.opusBitRate)
        local.address = address
        local.port = port.number
        return local
    }
}
