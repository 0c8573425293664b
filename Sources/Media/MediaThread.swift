import Audio
import CLinux
import EventLoop
import Glibc
import Primitives

/// The thread on which all sound is made: one tick of ten milliseconds serves every call, tone, ring and device.
///
/// The microphone's card drives the ticks while one is open, else the speaker's or the ringer's, else a timer. While there
/// is nothing to do the thread sleeps on its doorbell. Nothing here allocates, locks or logs: objects come made from the
/// loop and go back to be freed there.
final class MediaThread {
    let link: MediaLink
    var rate = 48_000

    var speaker: OpenPlayback?
    var ringer: OpenPlayback?
    var microphone: OpenCapture?
    var tone: TonePlayer?
    var ring: RingPlayer?
    let streams = UnsafeMutableBufferPointer<Unmanaged<Stream>>.allocate(capacity: MediaThread.streamLimit)
    var streamCount = 0

    let heard: SampleBuffer
    let played: SampleBuffer
    let rung: SampleBuffer
    var gate = HalfDuplexGate()
    var meter = PowerMeter()
    let datagrams: Datagrams

    /// Xruns of devices that are not open any more.
    var formerXruns = 0
    // Times are nanoseconds of the loop's clock: `Duration` is twice as wide and costs more than the rest of a turn.
    /// When the last tick was made.
    private var lastTick: Int64 = 0
    /// When the microphone or speaker that drives the ticks last did.
    private var lastDriven: Int64 = 0
    private let polls = UnsafeMutablePointer<pollfd>.allocate(capacity: Descriptors.limit + 1)
    private var isOver = false
    /// Ticks made in one go: one or two.
    private(set) var ticksAtATime = 2
    /// When the next turn is due by the clock.
    private var due: Int64 = 0

    /// More calls at a time are refused by the engine.
    static let streamLimit = 64
    /// Ticks made in one turn at most: what is later than that is left out.
    private static let catchUp = 8
    /// How much later than the card's interrupt the thread wakes up at first, and how much earlier it does each time.
    private static let margin: Int64 = 1_000_000
    private static let creep: Int64 = 20_000
    /// A card that should drive the ticks and is silent for so long is helped out by the timer…
    private static let stall: Int64 = 60_000_000
    /// …and after this it is given up.
    private static let death: Int64 = 1_000_000_000
    private static let priority: Int32 = 20

    /// Nil without memory.
    init?(_ link: MediaLink) {
        self.link = link
        let longest = Tick.samples(rateHertz: 48_000)
        heard = SampleBuffer(count: longest)
        played = SampleBuffer(count: 2 * longest)
        rung = SampleBuffer(count: 2 * longest)
        guard let datagrams = Datagrams() else { return nil }
        self.datagrams = datagrams
    }

    deinit {
        streams.deallocate()
        polls.deallocate()
    }

    /// Runs until the command ``Command/end``.
    func run() {
        if portero_real_time(Self.priority) == 0 { link.isRealTime.store(true, ordering: .relaxed) }
        lastTick = now
        while !isOver {
            takeCommands()
            if isOver { break }
            if isIdle {
                link.isBusy.store(false, ordering: .relaxed)
                link.speakerPower.store(0, ordering: .relaxed)
                link.microphonePower.store(0, ordering: .relaxed)
                sleep(nanoseconds: -1)
                // Whatever begins now begins with a tick.
                lastTick = now - stride
                lastDriven = now
                continue
            }
            link.isBusy.store(true, ordering: .relaxed)
            link.heartbeat.wrappingAdd(1, ordering: .relaxed)
            waitAndTick()
        }
        report(.ended)
    }

    private var now: Int64 { Clock.now.nanoseconds }

    private var isIdle: Bool {
        streamCount == 0 && tone == nil && ring == nil && speaker == nil && ringer == nil && microphone == nil
    }

    // MARK: - Waiting

    private func waitAndTick() {
        if let capture = microphone?.device, capture.isClocked {
            waitForMicrophone(capture)
        } else if let driver = drivingPlayback {
            waitForPlayback(driver)
        } else {
            waitForTimer()
        }
    }

    private func waitForTimer() {
        due = lastTick + stride
        let now = now
        if due > now { return sleep(nanoseconds: due - now) }
        make(ticks: ticksAtATime, at: now)
        // After a long stall the ticks that were missed are not made up for: nobody would hear them.
        lastTick = now - due > 100_000_000 ? now : due
    }

    private var drivingPlayback: (any Playback)? {
        if let device = speaker?.device, device.isClocked { return device }
        if let device = ringer?.device, device.isClocked { return device }
        return nil
    }

    /// Sleeps by the clock until the microphone should have heard enough, and asks the card only if it has not: one wake-up for
    /// all ticks of a packet, whatever the card's period. The sleep shortens itself by a little each time, so that a card that is
    /// faster than the clock is met early soon, and the next sleep is set by its own time again.
    private func waitForMicrophone(_ capture: any Capture) {
        follow(driver: nil)
        let wakeAt = min(due, stallDeadline)
        if wakeAt > now {
            sleep(nanoseconds: wakeAt - now)
            if wakeAt > now { return }
        }
        if case .lost(let number) = capture.collect(polls + 1, count: 0) { return lose(.microphone, number) }
        let isEarly = capture.ticks < ticksAtATime
        if isEarly, stallDeadline > now {
            let watched = capture.descriptors(into: polls + 1)
            sleep(nanoseconds: stallDeadline - now, watching: watched)
            if case .lost(let number) = capture.collect(polls + 1, count: watched) {
                return lose(.microphone, number)
            }
        }
        let now = now
        if capture.ticks < ticksAtATime { return helpOut(at: now, .microphone) }
        due = isEarly || now - due > Self.stall ? now + Self.margin + stride : due + stride - Self.creep
        lastDriven = now
        var made = 0
        while capture.ticks >= ticksAtATime, made < Self.catchUp {
            make(ticks: ticksAtATime, at: now)
            made += ticksAtATime
        }
        lastTick = now
    }

    private func waitForPlayback(_ driver: any Playback) {
        follow(driver: driver)
        let wait = driver.nanoseconds(untilRoomFor: ticksAtATime)
        let now = now
        let helpAt = stallDeadline
        if wait > 0, now < helpAt { return sleep(nanoseconds: min(wait, helpAt - now)) }
        if wait > 0 { return helpOut(at: now, speaker?.device === driver ? .speaker : .ringer) }
        lastDriven = now
        make(ticks: ticksAtATime, at: now)
        lastTick = now
    }

    /// When the timer steps in for a card that does not drive.
    private var stallDeadline: Int64 { lastTick + (lastTick > lastDriven ? stride : Self.stall) }

    private func helpOut(at now: Int64, _ role: DeviceRole) {
        guard now >= stallDeadline else { return }
        if now - lastDriven > Self.death { return lose(role, ETIMEDOUT) }
        make(ticks: ticksAtATime, at: now)
        lastTick = now
    }

    private func follow(driver: (any Playback)?) {
        speaker?.device.follows = driver !== speaker?.device
        ringer?.device.follows = driver !== ringer?.device
    }

    /// Nanoseconds between two turns.
    private var stride: Int64 { Int64(ticksAtATime) * Tick.nanoseconds }

    /// A turn makes as many ticks as the shortest packets hold, at most two: waking up costs more than the work.
    private func setTicksAtATime() {
        ticksAtATime = 2
        for index in 0..<streamCount {
            let packet = streams[index]._withUnsafeGuaranteedRef { $0.current.encoder.packetTicks }
            if !packet.isMultiple(of: 2) { ticksAtATime = 1 }
        }
    }

    /// Sleeps until the doorbell, the descriptors or the end of the time.
    private func sleep(nanoseconds: Int64, watching count: Int = 0) {
        polls[0] = pollfd(fd: link.doorbell.number, events: Int16(POLLIN), revents: 0)
        if portero_wait(polls, Int32(count + 1), nanoseconds) == 0 {
            for index in 1..<(count + 1) { polls[index].revents = 0 }
        } else if polls[0].revents != 0 {
            var rings: eventfd_t = 0
            _ = eventfd_read(link.doorbell.number, &rings)
        }
    }

    // MARK: - Commands

    func takeCommands() {
        while let command = link.commands.pop() {
            take(command)
            setTicksAtATime()
        }
    }

    private func take(_ command: Command) {
        switch command {
        case .rate(let hertz): rate = hertz
        case .attachPlayback(let role, let device): attach(role, device.takeRetainedValue())
        case .attachCapture(let device):
            microphone = device.takeRetainedValue()
            lastDriven = now
            due = now
        case .detach(let role): detach(role, lost: 0)
        case .startStream(let stream):
            streams.initializeElement(at: streamCount, to: stream)
            streamCount += 1
        case .updateStream(let stream, let plan):
            let former = stream._withUnsafeGuaranteedRef { $0.adopt(plan.takeRetainedValue()) }
            report(.retiredPlan(.passRetained(former)))
        case .stopStream(let stream): stop(stream)
        case .digit(let stream, let digit, let milliseconds):
            stream._withUnsafeGuaranteedRef { $0.send(digit: digit, milliseconds: milliseconds) }
        case .startTone(let player):
            retireTone(over: false)
            tone = player.takeRetainedValue()
        case .stopTone: retireTone(over: false)
        case .startRing(let player):
            retireRing()
            ring = player.takeRetainedValue()
        case .stopRing: retireRing()
        case .end: end()
        }
    }

    private func attach(_ role: DeviceRole, _ device: OpenPlayback) {
        if role == .ringer { ringer = device } else { speaker = device }
        lastDriven = now
    }

    private func stop(_ stream: Unmanaged<Stream>) {
        for index in 0..<streamCount where streams[index].toOpaque() == stream.toOpaque() {
            stream._withUnsafeGuaranteedRef { $0.sayGoodbye() }
            streamCount -= 1
            streams[index] = streams[streamCount]
            report(.retiredStream(stream))
            return
        }
    }

    func retireTone(over: Bool) {
        guard let player = tone else { return }
        tone = nil
        report(.retiredTone(.passRetained(player), over: over))
    }

    private func retireRing() {
        guard let player = ring else { return }
        ring = nil
        report(.retiredRing(.passRetained(player)))
    }

    /// Takes a device out of use and gives it back to be closed.
    private func detach(_ role: DeviceRole, lost number: Int32) {
        switch role {
        case .speaker:
            guard let device = speaker else { return }
            speaker = nil
            formerXruns += device.device.xruns
            report(.retiredPlayback(role, .passRetained(device), lost: number))
        case .ringer:
            guard let device = ringer else { return }
            ringer = nil
            formerXruns += device.device.xruns
            report(.retiredPlayback(role, .passRetained(device), lost: number))
        case .microphone:
            guard let device = microphone else { return }
            microphone = nil
            formerXruns += device.device.xruns
            report(.retiredCapture(.passRetained(device), lost: number))
        }
    }

    func lose(_ role: DeviceRole, _ number: Int32) { detach(role, lost: number) }

    private func end() {
        retireTone(over: false)
        retireRing()
        while streamCount > 0 { stop(streams[streamCount - 1]) }
        for role in DeviceRole.allCases { detach(role, lost: 0) }
        isOver = true
    }

    func report(_ report: Report) {
        _ = link.reports.push(report)
        link.wakeUp.signal()
    }
}
