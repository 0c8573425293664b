package import Primitives
package import SDP
package import SIP

/// A telephone: registers at an exchange, rings, answers by itself after a while, and calls. In place of a voice it
/// says a tone, and in place of an ear it measures. One call at a time; a second caller hears that it is busy.
///
/// A core: everything comes in by `handle` and goes out by its last argument.
package struct Phone {
    package struct Settings: Sendable {
        package var user: User
        /// Shown to the called; empty: none.
        package var displayName = ""
        /// Host of its address of record.
        package var domain: Host
        /// Where all requests go that belong to no dialog.
        package var exchange: SocketAddress
        /// Where it sends from and is reached.
        package var address: SocketAddress
        /// The same for RTP.
        package var media: SocketAddress
        /// PCMA and PCMU; others are left out.
        package var codecs: [AudioCodec] = [.pcma, .pcmu]
        /// How long it rings before it answers by itself; nil: until `answer`.
        package var answersAfter: Duration?
        /// What it says: hertz, and 0…1 of full scale.
        package var tone = 440.0
        package var amplitude = 0.25
        /// Frequencies that it measures one by one, hertz.
        package var listensFor: [Double] = []
        /// What it asks its registrar for, seconds.
        package var expires: UInt32 = 300

        package init(
            user: User, domain: Host, exchange: SocketAddress, address: SocketAddress, media: SocketAddress
        ) {
            self.user = user
            self.domain = domain
            self.exchange = exchange
            self.address = address
            self.media = media
        }
    }

    package enum Input: Sendable {
        /// A whole SIP datagram.
        case received([UInt8], Flow)
        /// A datagram that came to the RTP port.
        case media([UInt8], from: SocketAddress)
        /// Nobody listens at the end of the flow.
        case flowFailed(Flow, TransportFailure)
        case register
        /// Takes the registration away; nothing is registered again until `register`.
        case unregister
        /// Calls. Does nothing during another call. The headers are added to the INVITE.
        case dial(SIPURI, headers: Headers)
        /// Answers the call that rings.
        case answer
        /// Refuses the call that rings.
        case reject(status: Int)
        /// Ends the call, or gives a dialed one up.
        case hangUp
        /// Presses a key (RFC 4733); without a call that carries keys nothing happens.
        case press(DTMFSignal)
        case deadlineReached
    }

    package enum Output: Sendable {
        case send([UInt8], Flow)
        /// From the RTP port.
        case sendMedia([UInt8], to: SocketAddress)
        case event(Event)
    }

    package enum Event: Hashable, Sendable {
        /// For so many seconds.
        case registered(UInt32)
        case unregistered
        /// The status; nil: no answer. It is tried again.
        case registrationFailed(Int?)
        /// It rings, called by somebody.
        case ringing(from: SIPURI)
        /// The called phone rings.
        case ringback
        case answered(AudioCodec)
        case heard(Hearing)
        case digit(DTMFSignal)
        /// By a final response (then its status), or by BYE or CANCEL. `byPeer`: not by our own wish.
        case ended(status: Int?, byPeer: Bool)
    }

    /// What a request of ours is for.
    enum Purpose { case register, call, bye }

    struct Errand {
        let purpose: Purpose
        let request: Request
        var attempts = AuthenticationAttempts()
    }

    static let allowed = "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO"
    /// Before a failed registration is tried again.
    static let registrationPause = Duration.seconds(10)

    package let settings: Settings
    var random: Randomness
    var layer: TransactionLayer
    var authenticator: Authenticator
    var errands: [ClientTransactionID: Errand] = [:]
    var registration: PhoneRegistration
    var call: PhoneCall?
    var media: PhoneMedia?
    var steps: [TransactionLayer.Output] = []
    private var events: [Event] = []
    private var packets: [(octets: [UInt8], to: SocketAddress)] = []

    package init(settings: Settings, hashes: Hashes, random: Randomness) {
        self.settings = settings
        self.random = random
        layer = TransactionLayer(random: random)
        authenticator = Authenticator(
            AccountSecret(username: settings.user.name, key: .password(settings.user.password)), hashes: hashes)
        registration = PhoneRegistration(random: &self.random)
    }

    /// When `deadlineReached` is next due; nil while nothing is pending. May be early, never late.
    package var deadline: Instant? {
        earliest(layer.deadline, registration.attemptAt, call?.deadline, media?.deadline)
    }

    /// Whether a call is answered.
    package var isTalking: Bool { call?.stage == .talking }

    package mutating func handle(_ input: Input, at now: Instant, _ out: inout [Output]) {
        switch input {
        case .received(let octets, let flow): layer.received(datagram: octets, on: flow, at: now, &steps)
        case .media(let octets, let sender): hear(octets, from: sender, at: now)
        case .flowFailed(let flow, let failure): layer.flowFailed(flow, failure, at: now, &steps)
        case .register: register(at: now)
        case .unregister: unregister(at: now)
        case .dial(let uri, let headers): dial(uri, headers, at: now)
        case .answer: answer(at: now)
        case .reject(let status): reject(status, at: now)
        case .hangUp: hangUp(at: now)
        case .press(let key): _ = media?.press(key)
        case .deadlineReached: deadlineReached(at: now)
        }
        while !steps.isEmpty {
            let taken = steps
            steps = []
            for step in taken { take(step, at: now, &out) }
        }
        out += packets.map { .sendMedia($0.octets, to: $0.to) } + events.map { .event($0) }
        packets = []
        events = []
    }

    mutating func tell(_ event: Event) { events.append(event) }

    private mutating func deadlineReached(at now: Instant) {
        layer.deadlineReached(at: now, &steps)
        if let attemptAt = registration.attemptAt, attemptAt <= now { register(at: now) }
        if let answerAt = call?.answerAt, answerAt <= now { answer(at: now) }
        repeatAnswer(at: now)
        if let due = media?.deadlineReached(at: now) { packets += due }
    }

    private mutating func hear(_ octets: [UInt8], from sender: SocketAddress, at now: Instant) {
        var heard: [PhoneMedia.Event] = []
        media?.received(octets, from: sender, at: now, &heard)
        for event in heard {
            switch event {
            case .heard(let hearing): tell(.heard(hearing))
            case .digit(let key): tell(.digit(key))
            }
        }
    }

    private mutating func take(_ step: TransactionLayer.Output, at now: Instant, _ out: inout [Output]) {
        switch step {
        case .send(let octets, let flow): out.append(.send(octets, flow))
        case .request(let request, let id?, _): serve(request, id, at: now)
        case .request(let ack, nil, _): acknowledged(by: ack, at: now)
        case .cancelled(let id, _): cancelled(id, at: now)
        case .response(let id, let response, _): answered(id, response, at: now)
        case .failed(let id, _): failed(id, at: now)
        case .stray2xx(let response, _): refuseAnswer(response, to: nil, at: now)
        // Streams, which there are none of.
        case .sendAnew: break
        }
    }

    // MARK: Requests of ours

    var uri: SIPURI { SIPURI(user: settings.user.name, host: settings.domain) }

    var contact: SIPURI {
        SIPURI(user: settings.user.name, host: Host(settings.address.address), port: settings.address.port)
    }

    /// Sends a request with a fresh branch.
    @discardableResult
    mutating func send(_ errand: Errand, at now: Instant) -> ClientTransactionID {
        let flow = flow(for: errand.request)
        var request = errand.request
        request.vias = [Via(leavingBy: flow, random: &random)]
        let id = layer.send(request, on: flow, at: now, &steps)
        errands[id] = Errand(purpose: errand.purpose, request: request, attempts: errand.attempts)
        return id
    }

    /// The exchange, or the next hop of a dialog.
    func flow(for request: Request) -> Flow {
        var remote = settings.exchange
        if request.to.tag != nil {
            let hop = request.routes.first?.uri ?? request.uri
            if let address = hop.host?.address {
                remote = SocketAddress(address, hop.port ?? Transport.udp.defaultPort)
            }
        }
        return Flow(transport: .udp, local: settings.address, remote: remote)
    }

    private mutating func answered(_ id: ClientTransactionID, _ response: Response, at now: Instant) {
        guard let errand = errands[id] else { return refuseAnswer(response, to: nil, at: now) }
        if response.status == 401 || response.status == 407, retry(id, errand, after: response, at: now) { return }
        if response.isFinal {
            if response.isSuccess { authenticator.succeeded(response) }
            if errand.purpose != .call || !response.isSuccess { errands[id] = nil }
        }
        switch errand.purpose {
        case .register: registrationAnswered(response, at: now)
        case .call: callAnswered(errand.request, id, response, at: now)
        case .bye: break
        }
    }

    private mutating func retry(
        _ id: ClientTransactionID, _ errand: Errand, after response: Response, at now: Instant
    ) -> Bool {
        var attempts = errand.attempts
        let isOurCall = errand.purpose == .call && call?.branch == id
        if errand.purpose == .register, errand.request.cseq.number != registration.sequence { return false }
        guard !(isOurCall && call?.stage == .cancelling),
            var request = try? authenticator.retry(errand.request, after: response, &attempts, &random)
        else { return false }
        errands[id] = nil
        request.cseq.number &+= 1
        let next = send(Errand(purpose: errand.purpose, request: request, attempts: attempts), at: now)
        switch errand.purpose {
        case .register: registration.sequence = request.cseq.number
        case .call where isOurCall:
            call?.branch = next
            call?.invite = errands[next]?.request ?? request
        case .call, .bye: break
        }
        return true
    }

    private mutating func failed(_ id: ClientTransactionID, at now: Instant) {
        guard let errand = errands.removeValue(forKey: id) else { return }
        switch errand.purpose {
        case .register: registrationFailed(nil, at: now)
        case .call: if call?.branch == id { end(status: nil, byPeer: true) }
        case .bye: break
        }
    }

    /// Forgets the call. What is still on its way is answered by the transactions alone.
    mutating func end(status: Int?, byPeer: Bool) {
        guard call != nil else { return }
        call = nil
        media = nil
        errands = errands.filter { $0.value.purpose != .call }
        tell(.ended(status: status, byPeer: byPeer))
    }
}
