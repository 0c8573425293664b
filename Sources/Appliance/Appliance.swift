internal import API
package import Configuration
package import EventLoop
internal import Glibc
internal import Hashing
internal import Intercom
internal import Media
package import Network
internal import Primitives
internal import SIP
internal import UserAgent

/// The whole door station: cores for what is decided, edges for what is touched, and this class that joins them on one
/// loop.
///
/// Edges append inputs; `turn()` gives them to the cores one after another and carries out what they say. No core is
/// ever called from within another's output.
package final class Appliance {
    /// What the surroundings may set otherwise than a service does.
    package struct Options {
        /// Instead of the configuration's `socket`.
        package var socket: String?
        /// Which own address is taken towards a peer; nil: the kernel's route.
        package var localAddress: LocalAddress?
        /// Whether the service manager hears of it: not of one that only shows what it can.
        package var isService = true
        /// Where log lines go.
        package var log = Journal.Output.automatic
        /// Names and values of events, in the form of INTERFACE section 5, as they are published.
        package var observer: ((String) -> Void)?

        package init() {}
    }

    let loop: EventLoop
    let journal: Journal
    let options: Options
    let notifier: ServiceNotifier
    let helper: HelperThread

    var source: ConfigurationSource
    var configuration: Configuration
    var configurationState: ConfigurationState
    var state: StateFolder
    /// What is not on the disk yet.
    var unsaved: [StateFolder.File: [UInt8]] = [:]
    /// Tries again to save it.
    var saveTimer: LoopTimer?
    var identity: Identity
    var faults = FaultBoard()
    let startedAt: Instant
    /// What `socket` and `state-directory` are until the next start, whatever a reload says.
    let startedDevice: DeviceSettings

    var agent: Agent
    /// What the agent was given last.
    var agentSettings: UserAgentSettings
    var intercom: Intercom
    var sockets: SIPSockets?
    let resolver: Resolver
    let engine: MediaEngine
    let ports: RTPPorts
    var panel: Panel?
    var control: ControlServer?
    /// Tries again to open the control socket.
    private var controlTimer: LoopTimer?
    /// Between attempts to open the control socket.
    private static let controlRetry: Duration = .seconds(10)
    /// Being ready does not wait longer for the sound devices.
    private static let checkLimit: Duration = .seconds(5)
    private var readyTimer: LoopTimer?
    var monitor: NetworkMonitor?
    var provisioning: Provisioning?

    /// What waits for the cores, in order.
    var inputs: [Input] = []
    private var timer: LoopTimer?
    private var signals: [SignalWatch] = []
    var mediaTimer: LoopTimer?
    var minuteTimer: LoopTimer?

    let pairs: PortPairs
    /// TCP connections on their way, by number.
    var connecting: [UInt64: ConnectID] = [:]
    var sound = SoundState()
    var history = CallHistory()
    var callRecords: [UserAgent.CallKey: CallRecord] = [:]
    var clockWatch: ClockWatch?
    var certificates = CertificateDates()
    var certificateTimer: LoopTimer?
    /// When the time of a TLS connection was last saved.
    var savedTimeAt: Instant?
    var isStopping = false
    /// The addresses that the network monitor last saw.
    var networkAddresses: Set<IPAddress> = []

    enum Input {
        case agent(UserAgentInput)
        case intercom(IntercomInput)
    }

    /// Where the configuration comes from that is in force.
    package enum ConfigurationState: String, Sendable {
        case current
        case lastGood = "last-good"
        case provisioned
    }

    /// Builds everything and opens it: outputs at rest first, then sound, then SIP.
    package init(
        loop: EventLoop, source: ConfigurationSource, configuration: Configuration, state: ConfigurationState,
        options: Options = Options()
    ) throws(SystemError) {
        self.loop = loop
        self.source = source
        self.configuration = configuration
        self.options = options
        configurationState = state
        startedAt = loop.now
        startedDevice = configuration.device
        journal = Journal(on: loop, output: options.log)
        notifier = ServiceNotifier(on: loop, isService: options.isService)
        helper = try HelperThread(on: loop)
        self.state = StateFolder(path: configuration.device.stateDirectory)
        var random = Randomness.system
        identity = Identity(self.state.read(.identity), &random)

        let ports = RTPPorts(range: configuration.network.rtpPorts)
        self.ports = ports
        engine = try MediaEngine(loop: loop, settings: MediaSettings(configuration))
        resolver = try Resolver(on: loop)

        let numbering = CallNumbering()
        let pairs = PortPairs(ports)
        self.pairs = pairs
        let capabilities = UserAgentCapabilities(
            hashes: .nettle, random: random, numbering: numbering,
            reservePort: { call, local in pairs.reserve(for: call, on: local) },
            releasePort: { call in pairs.release(call) },
            hasAddress: { (try? NetworkState.current())?.sources.contains($0) ?? false },
            pathMTU: { LocalAddress.pathMTU(to: $0) })
        var translation = AccountTranslation(
            deviceName: configuration.device.name, credentials: .ofProcess, identity: identity, random: random)
        let settings = translation.settings(for: configuration, product: Version.product)
        identity = translation.identity
        agentSettings = settings
        agent = Agent(settings: settings, capabilities: capabilities, at: loop.now)
        let lockOut = LockOutDocument.read(self.state.read(.lockOut))
        intercom = Intercom(
            configuration, numbering: numbering, hashes: .nettle,
            lockOut: lockOut.map { LockOut($0, at: loop.now, wall: loop.wallClock) } ?? LockOut(),
            uses: CodeUsesDocument.read(self.state.read(.codeUses)), localTime: LocalClock.time(loop.wallClock),
            at: loop.now)

        applyLog()
        panel = try Panel(self)
        engine.handler = { [weak self] in self?.media($0) }
        try openEdges()
        for (account, text) in translation.problems { raise("account \(account)", text) }
        if let time = intercom.lockedOut(at: loop.now) { raiseLockOut(time) }
        saveIdentity()
    }

    private func openEdges() throws(SystemError) {
        timer = try loop.timer { [weak self] in self?.deadlineReached() }
        mediaTimer = try loop.timer { [weak self] in self?.watchMedia() }
        minuteTimer = try loop.timer { [weak self] in self?.tellTime() }
        tellTime()
        saveTimer = try loop.timer { [weak self] in self?.saveAgain() }
        panel?.open(configuration)
        try openSockets()
        resolver.serversChanged = { [weak self] in self?.take(.agent(.resolverChanged)) }
        monitor = try openMonitor()
        try watchClock()
        controlTimer = try loop.timer { [weak self] in try? self?.openControl() }
        try openControl()
        provisioning = try Provisioning(self)
        for signal in [Signal.terminate, .interrupt] {
            signals.append(try loop.onSignal(signal) { [weak self] in self?.stop() })
        }
        signals.append(try loop.onSignal(.hangUp) { [weak self] in _ = self?.reload() })
        try notifier.feedWatchdog(while: { [weak self] in self.map { $0.engine.isAlive(at: $0.loop.now) } ?? true })
        loop.afterTurn = { [weak self] in self?.turn() }
        // The lights show from the start what holds.
        take(.intercom(.deadlineReached))
    }

    /// A folder that is missing must not keep the door shut: that is a fault. Another appliance there is the end of
    /// this one.
    private func openControl() throws(SystemError) {
        do throws(SystemError) {
            control = try ControlServer(
                loop: loop, path: options.socket ?? configuration.device.socket,
                missedLine: { [weak self] in self?.missedLine($0) ?? "" },
                perform: { [weak self] in self?.perform($0) ?? .impossible("stopping") })
            clear("api")
        } catch {
            if error.number == EADDRINUSE { throw error }
            raise("api", "\(error); tried again in \(Int(Self.controlRetry.inSeconds)) s")
            controlTimer?.set(deadline: loop.now + Self.controlRetry)
        }
    }

    /// Runs until stopped.
    /// - Returns: the exit code.
    package func run() throws(SystemError) -> Int32 {
        try start()
        return try loop.run()
    }

    /// Begins to work, on the loop that somebody turns.
    package func start() throws(SystemError) {
        publish("started", ["version": .string(Version.number)])
        journal.log(
            .config, .notice, "portero \(Version.number) started, configuration \(configurationState.rawValue)")
        notifyStatus()
        // Lines and sockets are open by now; devices are looked for, and one that is missing is a fault.
        readyTimer = try loop.timer { [weak self] in self?.ready() }
        readyTimer?.set(deadline: loop.now + Self.checkLimit)
        engine.checkDevices { [weak self] in self?.ready() }
        turn()
    }

    private func ready() {
        guard readyTimer != nil, !isStopping else { return }
        readyTimer = nil
        notifier.ready()
    }

    /// Says goodbye: BYE, unregister, outputs to rest; the loop ends within 3 s.
    package func stop() {
        guard !isStopping else { return }
        isStopping = true
        notifier.stopping()
        publish("stopping", [:])
        journal.log(.config, .notice, "stopping")
        take(.intercom(.stop))
        take(.agent(.stop))
        turn()
    }

    /// Everything is said: outputs to rest, devices and sockets closed.
    func finish() {
        panel?.rest()
        engine.shutDown()
        control?.stop()
        journal.flush()
        loop.stop(0)
    }

    // MARK: A turn

    /// Appends an input for the cores; it is handled in this turn of the loop.
    func take(_ input: Input) { inputs.append(input) }

    private func deadlineReached() {
        let now = loop.now
        if let deadline = agent.deadline, deadline <= now { take(.agent(.deadlineReached)) }
        if let deadline = intercom.deadline, deadline <= now { take(.intercom(.deadlineReached)) }
        turn()
    }

    /// Gives every input to its core and carries out what comes of it, until there is none; then re-arms the timer.
    func turn() {
        var next = 0
        while next < inputs.count {
            let input = inputs[next]
            next += 1
            switch input {
            case .agent(let input):
                var out: [UserAgentOutput] = []
                agent.handle(input, at: loop.now, &out)
                for output in out { perform(output) }
            case .intercom(let input):
                var out: [IntercomOutput] = []
                intercom.handle(input, at: loop.now, &out)
                for output in out { perform(output) }
            }
        }
        inputs.removeAll(keepingCapacity: true)
        timer?.set(deadline: earliest(agent.deadline, intercom.deadline))
    }
}
