package import Primitives
package import SDP
package import SIP

/// What the user agent is set up with; a new value of it is a reload.
package struct UserAgentSettings: Equatable, Sendable {
    package var accounts: [Account] = []
    /// `urn:uuid:…`, stable for the device (R1).
    package var instance: String
    /// Product and version for User-Agent; empty: they are not told (SEC11).
    package var product = "Portero"
    /// At most so many calls at once; above: 486 (D16).
    package var maxCalls = 4
    /// Whether IPv6 addresses are used at all.
    package var ipv6 = true
    /// Phones whose state is wanted as events.
    package var watchedPhones: Set<WatchedPhone> = []

    package init(instance: String) { self.instance = instance }
}

/// What the user agent cannot do by itself: handed in as functions.
package struct UserAgentCapabilities {
    package var hashes: Hashes
    package var random: Randomness
    package var numbering: CallNumbering
    /// Binds a pair of RTP and RTCP ports on this address of ours; nil: none is left (MED9).
    package var reservePort: (_ call: CallKey, _ local: IPAddress) -> UInt16?
    /// Gives the call's ports back; called once at its end.
    package var releasePort: (_ call: CallKey) -> Void
    /// Whether this host still has the address.
    package var hasAddress: (IPAddress) -> Bool
    /// The largest packet that the path to a peer is known to carry, octets; nil: nothing is known (T9).
    package var pathMTU: (_ remote: IPAddress) -> Int?

    package init(
        hashes: Hashes, random: Randomness, numbering: CallNumbering,
        reservePort: @escaping (CallKey, IPAddress) -> UInt16?, releasePort: @escaping (CallKey) -> Void,
        hasAddress: @escaping (IPAddress) -> Bool = { _ in false },
        pathMTU: @escaping (IPAddress) -> Int? = { _ in nil }
    ) {
        self.hashes = hashes
        self.random = random
        self.numbering = numbering
        self.reservePort = reservePort
        self.releasePort = releasePort
        self.hasAddress = hasAddress
        self.pathMTU = pathMTU
    }
}

/// Names an attempt to get a flow to a target.
package struct ConnectID: Hashable, Sendable {
    package var number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// Names a look-up.
package struct LookupID: Hashable, Sendable {
    package var number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// What the user agent hears: from the network, from its owner, from the clock.
package enum UserAgentInput: Sendable {
    // From the sockets.
    /// A whole datagram, or octets of a stream in any portion.
    case received([UInt8], Flow)
    case connected(ConnectID, Flow)
    case connectFailed(ConnectID, TransportFailure)
    /// A stream ended, or a UDP peer answered "port unreachable" (then the flow's connection is 0).
    case flowFailed(Flow, TransportFailure)
    case lookedUp(LookupID, DNSAnswer)
    /// Addresses, links or routes changed; changes that come close together are one, and a flapping link is held back
    /// (R7). The user agent asks by `connect` to UDP targets which source address the kernel takes to each registrar
    /// and peer now: nothing is done where that is the same.
    case networkChanged
    case resolverChanged
    /// The clock was set. `isSet`: it is not before the day of this build, so that certificates can be judged (R10);
    /// until something else is said it counts as set.
    case clockChanged(isSet: Bool)

    // Intents.
    case configure(UserAgentSettings)
    case dial(DialOrder)
    /// Their side hears that ours rings (180).
    case ring(CallKey)
    case answer(CallKey)
    case reject(CallKey, code: Int)
    /// Sends the caller elsewhere (302).
    case redirect(CallKey, to: SIPURI)
    /// Ends a call in whatever state, by CANCEL, BYE or a refusal. `reason` goes into a Reason header.
    case hangUp(CallKey, HangUpReason)
    case hold(CallKey)
    case resume(CallKey)
    /// Brings the peer of an answered call together with somebody else, by REFER (D14).
    case transfer(CallKey, TransferTarget)
    /// One digit by SIP INFO; digits by RFC 4733 are the media's.
    case sendDigit(CallKey, UInt8)
    case register(account: String?)
    case unregister(account: String?)
    /// BYE, unregister, then `stopped`; at the latest after 2 s (R9).
    case stop
    case deadlineReached
}

/// A call to make; its key was numbered by who gives the order.
package struct DialOrder: Sendable {
    package var call: CallKey
    package var uri: SIPURI
    /// Name of the account.
    package var account: String
    /// Added to the INVITE after those of the account.
    package var headers: [(name: String, value: String)] = []
    /// The dialog at the called side that the call takes the place of (RFC 3891).
    package var replaces: Replaces?
    /// Who asked for the call: the value of a Referred-By header (RFC 3892).
    package var referredBy: String?
    package init(call: CallKey, uri: SIPURI, account: String) {
        self.call = call
        self.uri = uri
        self.account = account
    }
}

/// Why we end a call.
package enum HangUpReason: Hashable, Sendable {
    case normal
    /// Another leg of the group answered: Reason SIP;cause=200 (I6).
    case answeredElsewhere
    case mediaTimeout
    case tooLong
    case shutdown
    /// Another call took its place.
    case transferred
}

/// With whom the peer of a transferred call shall talk.
package enum TransferTarget: Hashable, Sendable {
    /// Blind.
    case uri(SIPURI)
    /// The peer of this call, which is answered too: attended.
    case call(CallKey)
}

/// What the user agent does and tells.
package enum UserAgentOutput: Sendable {
    /// Along a flow: for UDP a whole datagram, for streams in order.
    case send([UInt8], Flow)
    /// Get a flow to this target: for UDP find the local address, for streams connect. Answered by `connected` or
    /// `connectFailed`.
    case connect(ConnectID, Target)
    case close(Flow)
    case lookUp(LookupID, DNSQuestion)
    /// Start or change the call's media; nil: stop.
    case media(CallKey, MediaPlan?)
    case event(UserAgentEvent)
    /// After `stop`: everything is said.
    case stopped
}

/// What the user agent tells its owner.
package enum UserAgentEvent: Sendable {
    /// An account's state changed.
    case account(AccountStatus)
    /// A call came in and passed every check; answer with `ring`, `answer` or `reject` in the same turn.
    case incoming(IncomingCall)
    /// A call's state changed.
    case call(CallStatus)
    /// A transfer begins, succeeds or fails.
    case transfer(TransferStatus)
    /// By SIP INFO in a confirmed dialog.
    case digit(CallKey, digit: UInt8)
    /// What a watched phone does now; nil: its server does not tell any more.
    case phone(WatchedPhone, PhoneState?)
    /// How the mailbox of an account stands.
    case messages(account: String, MessageSummary)
    case message(TextMessage)
    /// A call was refused, or dropped, before anybody heard of it.
    case refused(RefusedCall)
    /// For the log: something was survived or decided.
    case note(UserAgentNote)
    /// A whole message came along a stream: only while `Agent.tellsMessages` says so.
    case heard(Message, Flow)
}

/// For the log: something was survived or decided.
package struct UserAgentNote: Sendable {
    package enum Level: Sendable { case error, warning, notice, info, debug }
    package var level: Level
    package var account: String?
    package var call: CallKey?
    package var text: String
    package init(_ level: Level, account: String? = nil, call: CallKey? = nil, _ text: String) {
        self.level = level
        self.account = account
        self.call = call
        self.text = text
    }
}

/// How an account stands, for the status document.
package struct AccountStatus: Equatable, Sendable {
    package enum State: String, Sendable { case unregistered, registering, registered, failed, disabled }
    package var name: String
    package var uri: String
    package var state: State
    /// What the registrar granted, counted from `since`; nil unless registered.
    package var expiresAt: Instant?
    package var contact: String?
    package var transport: Transport?
    package var registrar: SocketAddress?
    /// Of the last answer.
    package var code: Int?
    package var reason: String?
    package var since: Instant
    /// The next REGISTER; there in every state but `disabled`.
    package var nextAttempt: Instant?
    /// How far the registration is on its way, or where it failed; nil: it is registered, or not wanted.
    package var step: RegistrationStep?

    package init(name: String, uri: String, state: State, since: Instant) {
        self.name = name
        self.uri = uri
        self.state = state
        self.since = since
    }
}

/// The way to a registration: its steps, in order.
package enum RegistrationStep: String, Sendable {
    /// The name of the server is looked up.
    case name
    /// The kernel is asked for the way there.
    case route
    case connection
    /// Of a TLS server.
    case certificate
    /// Credentials are asked for and judged.
    case challenge
    /// Everything else that the registrar says, or does not.
    case answer
}

/// A call that came in and passed every check.
package struct IncomingCall: Equatable, Sendable {
    package enum Answer: Equatable, Sendable {
        case ring
        /// By itself after this time (I1, I2); the microphone starts muted.
        case automatic(after: Duration)
    }
    package var call: CallKey
    package var account: String
    /// Why this account: for the log.
    package var why: String
    /// The asserted caller (I7).
    package var caller: SIPURI
    package var callerName: String
    package var answer: Answer
    /// The call that this one takes the place of (RFC 3891, D15): it is answered already, and that one ends.
    package var replaces: CallKey?
    package init(call: CallKey, account: String, why: String, caller: SIPURI, callerName: String, answer: Answer) {
        self.call = call
        self.account = account
        self.why = why
        self.caller = caller
        self.callerName = callerName
        self.answer = answer
    }
}

/// A call that was refused, or dropped without an answer, before anybody heard of it.
package struct RefusedCall: Equatable, Sendable {
    /// nil: it names none, or its sender may reach none.
    package var account: String?
    /// As From says: nobody has asserted it.
    package var caller: SIPURI
    package var uri: SIPURI
    package var source: SocketAddress
    /// nil: dropped (SEC1).
    package var code: Int?
    /// A sentence without its end.
    package var why: String

    package init(
        account: String?, caller: SIPURI, uri: SIPURI, source: SocketAddress, code: Int?, why: String
    ) {
        self.account = account
        self.caller = caller
        self.uri = uri
        self.source = source
        self.code = code
        self.why = why
    }
}

/// How a call stands, for the status document.
package struct CallStatus: Equatable, Sendable {
    package enum Direction: String, Sendable { case outgoing, incoming }
    package enum State: String, Sendable {
        case dialing, ringing, early, incoming, talking, held
        case heldByPeer = "held-by-peer"
        case ended
    }
    package enum Hold: String, Sendable { case none, local, remote, both }
    package var call: CallKey
    package var direction: Direction
    package var state: State
    package var account: String
    package var remote: SIPURI
    package var remoteName: String
    package var hold: Hold = .none
    /// Set while media flows.
    package var plan: MediaPlan?
    /// At the end: the SIP status, its phrase, and a stable word: `normal`, `busy`, `declined`, `no-answer`,
    /// `cancelled`, `answered-elsewhere`, `unreachable`, `refused`, `media-timeout`, `too-long`, `failed`, `shutdown`, `transferred`.
    package var code: Int?
    package var reason: String?
    package var cause: String?
    package var since: Instant
    /// When it was answered.
    package var answeredAt: Instant?
    /// The SIP Call-ID, for the log.
    package var sipCallID: String

    package init(
        call: CallKey, direction: Direction, state: State, account: String, remote: SIPURI, remoteName: String,
        since: Instant, sipCallID: String
    ) {
        self.call = call
        self.direction = direction
        self.state = state
        self.account = account
        self.remote = remote
        self.remoteName = remoteName
        self.since = since
        self.sipCallID = sipCallID
    }
}

/// How a transfer goes.
package struct TransferStatus: Equatable, Sendable {
    package enum State: String, Sendable { case started, done, failed }
    /// The call that is transferred.
    package var call: CallKey
    /// Whom its other side shall talk with.
    package var target: SIPURI
    package var state: State
    /// By REFER of the peer: it is us who calls the target.
    package var isAskedByPeer: Bool
    /// The call to the target: the one that we make, or with `attended` the one that was there.
    package var other: CallKey?
    /// How the call to the target ended, or the REFER: a SIP status and its phrase.
    package var code: Int?
    package var reason: String?

    package init(call: CallKey, target: SIPURI, state: State, isAskedByPeer: Bool) {
        self.call = call
        self.target = target
        self.state = state
        self.isAskedByPeer = isAskedByPeer
    }
}
