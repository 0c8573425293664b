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
    /// Requests of one dialog that wait for the one before them.
    static let waitingLimit = 32
    /// After the CANCEL of an INVITE that goes out again from another address: by then it has been heard.
    static let withdrawTime = Duration.milliseconds(300)
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

    /// Its dialogs by their remote tags: several while a forked INVITE rings (D5).
    var legs: [String: Leg] = [:]
    /// The remote tag of the dialog that is answered, or answers.
    var tag: String?
    /// The RTP port that is reserved.
    var port: (address: IPAddress, number: UInt16)?
    /// The media as told last.
    var plan: MediaPlan?
    /// The name in the peer's description that is being looked up.
    var nameAsked: String?

    var errands: [Int: Errand] = [:]
    var lastErrand = 0
    /// INVITEs of ours with a 2xx: each repeat of it is acknowledged.
    var answered: [Int: AnsweredInvite] = [:]

    var outgoing: OutgoingInvite?
    var incoming: IncomingInvite?
    /// A reliable 18x without its PRACK (D11), and the number of the last one.
    var reliable: RepeatedResponse?
    var lastReliable: UInt32?
    var accepted: RepeatedResponse?
    /// Whether the dialog's first INVITE is over with its ACK: before that the called side says no BYE (D7).
    var isAcknowledged = true
    /// A BYE that waits for that ACK, with its Reason.
    var lateBye: String??

    /// What the operator wants, and what was agreed.
    var wantsHold = false
    var holds = false
    /// The peer keeps us on hold.
    var heldByPeer = false
    var move: Move?
    var terms: SessionTimerTerms
    var timer: SessionTimer?
    /// The session timer wants our refresh.
    var isRefreshDue = false

    /// A transfer that we asked for, and one that the peer asked for.
    var transfer: Transfer?
    var referral: Referral?
    /// The peer has asked for one before.
    var hasReferred = false
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
        terms = SessionTimerTerms(interval: account.sessionTimer)
    }

    /// When `deadlineReached` is next due; nil while nothing is pending.
    var deadline: Instant? {
        if phase == .finished { return nil }
        return earliest(
            outgoing?.retryAt, incoming.map { min($0.ringAt ?? $0.giveUpAt, $0.giveUpAt) },
            phase == .incoming ? reliable?.repetition.deadline : nil, accepted?.repetition.deadline,
            legs.values.compactMap(\.pausedUntil).min(),
            move?.until, timer?.deadline, transfer?.until, referral?.endsAt, leaveBy)
    }

    var isOver: Bool { phase == .leaving || phase == .finished }

    /// Inputs that do not fit the state are absorbed, requests of the peer answered all the same.
    mutating func handle(_ input: Input, at now: Instant, _ out: inout [Output]) {
        switch input {
        case .ring: ring(at: now, &out)
        case .answer: answer(at: now, &out)
        case .reject(let code): reject(code, at: now, &out)
        case .redirect(let uri): refuse(302, cause: .declined, contact: uri, at: now, &out)
        case .hangUp(let reason): hangUp(reason, at: now, &out)
        case .hold: hold(true)
        case .resume: hold(false)
        case .sendDigit(let digit): sendDigit(digit)
        case .transfer(let order): transfer(order, at: now, &out)
        case .addressChanged(let change): addressChanged(change, at: now, &out)
        case .ready(let number, let flow, let occasion): ready(number, flow, occasion, at: now, &out)
        case .provisional(let number, let response): provisional(number, response, at: now, &out)
        case .final(let number, let response, let sent, let flow):
            saw(flow)
            final(number, response, to: sent, at: now, &out)
        case .failed(let number, let failure): failed(number, failure, at: now, &out)
        case .stray2xx(let response): acknowledge(stray: response, &out)
        case .request(let request, let id, let flow, let isServer):
            received(request, id, flow, isServer, at: now, &out)
        case .cancelled(let request): cancelled(by: request, at: now, &out)
        case .referral(let status): referral(status, at: now, &out)
        case .resolved(let address): resolved(address, at: now, &out)
        case .deadlineReached: deadlineReached(at: now, &out)
        }
        proceed(&out)
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
        for (tag, leg) in legs where leg.pausedUntil.map({ $0 <= now }) ?? false { legs[tag]?.pausedUntil = nil }
        acceptedDeadlineReached(at: now, &out)
        incomingDeadlineReached(at: now, &out)
        outgoingDeadlineReached(at: now, &out)
        timerDeadlineReached(at: now, &out)
        transferDeadlineReached(at: now, &out)
        if let until = move?.until, now >= until { giveUpMove(at: now, &out) }
    }

    private mutating func finish(_ out: inout [Output]) {
        phase = .finished
        out.append(.finished)
    }

    /// The INVITE has its 2xx.
    mutating func establish(at now: Instant) {
        phase = .established
        status.answeredAt = now
        for tag in legs.keys { legs[tag]?.owesMove = false }
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
        outgoing?.retryAt = nil
        reliable = nil
        move = nil
        timer = nil
        transfer = nil
        referral = nil
        for tag in legs.keys {
            legs[tag]?.waiting = []
            legs[tag]?.pausedUntil = nil
        }
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

    // MARK: Ways

    /// Remembers where the peer, or the proxy before it, was seen.
    mutating func saw(_ flow: Flow) {
        guard !sources.contains(flow.remote.address) else { return }
        if sources.count == Self.sourceLimit { sources.removeFirst() }
        sources.append(flow.remote.address)
    }

    /// Whether a request in the dialog may come along this flow (SEC14).
    func isTrusted(_ flow: Flow) -> Bool {
        flow.transport.isStream || account.followsPeer || sources.contains(flow.remote.address)
            || legs.values.contains { $0.dialog.mayComeFrom(flow.remote.address) }
    }
}
