package import Audio
package import EventLoop
import Glibc
package import Primitives
package import SDP
import Synchronization

/// The sound of all calls: owned by the loop, it commands one media thread.
///
/// Every call here returns at once; devices are opened and sounds are loaded elsewhere. While there is no call, tone or ring,
/// no device is open and the media thread sleeps.
package final class MediaEngine {
    /// What happened: called on the loop's thread, never from inside a call of this class.
    package var handler: (MediaEvent) -> Void = { _ in }
    package internal(set) var settings: MediaSettings

    let loop: EventLoop
    let link: MediaLink
    let helper: HelperThread
    let door = MediaDoor()
    private let wakeUp: WakeUpWatch
    let timer: LoopTimer

    var slots: [DeviceRole: DeviceSlot] = [.speaker: DeviceSlot(), .microphone: DeviceSlot(), .ringer: DeviceSlot()]
    /// The engine's sample rate, Hz.
    var rate = MediaEngine.restingRate
    var calls: [CallKey: Call] = [:]
    /// Tones given to the thread and not yet returned, the sounding one last.
    var tones: [CallTone] = []
    var tone: CallTone?
    var ringing: Ringing?
    /// The number of the last ring.
    var lastRing = 0
    /// Waits for the end of a check of the devices.
    var checked: (() -> Void)?
    /// Recordings that this engine has begun: they go on behind their end when they are opened again.
    var begunRecordings: Set<String> = []
    private var hasEnded = false
    private var lastBeat: (count: UInt64, at: Instant) = (0, .zero)

    /// Sample rate while only tones and rings sound, Hz.
    static let restingRate = 16_000

    /// Starts the media thread; it sleeps until there is something to do.
    package init(loop: EventLoop, settings: MediaSettings) throws(SystemError) {
        self.loop = loop
        self.settings = settings
        helper = try HelperThread(on: loop)
        let door = door
        wakeUp = try loop.wakeUp { door.engine?.takeReports() }
        let link = try MediaLink(wakeUp: wakeUp.wakeUp)
        self.link = link
        timer = try loop.timer { door.engine?.reconcile() }
        link.halfDuplex.store(settings.halfDuplex, ordering: .relaxed)
        try Thread.start("portero-media") {
            if let thread = MediaThread(link) { thread.run() } else { _ = link.reports.push(.ended) }
        }
        post(.rate(rate))
        door.engine = self
    }

    deinit { shutDown() }

    /// Ends every sound and the media thread, and closes the devices. Waits for the thread, at most half a second.
    package func shutDown() {
        if hasEnded { return }
        hasEnded = true
        post(.end)
        for _ in 0..<500 {
            while let report = link.reports.pop() {
                if case .ended = report { return }
                free(report)
            }
            usleep(1000)
        }
    }

    func post(_ command: Command) {
        if link.commands.push(command) { link.ring() }
    }

    // MARK: - Calls

    /// Whether one more call can have sound.
    package var hasRoom: Bool { calls.count < MediaThread.streamLimit }

    /// Gives a call its sound. A call that has it already goes on by the plan.
    /// - Throws: ``AudioError/library(_:)`` if there is no memory for its codecs, or no room for one more call.
    package func start(
        _ key: CallKey, _ plan: MediaPlan, ports: RTPPortPair, options: CallOptions = CallOptions()
    ) throws(AudioError) {
        if calls[key] != nil { return try update(key, plan, ports: ports) }
        guard hasRoom else { throw .library("no more than \(MediaThread.streamLimit) calls at a time") }
        if calls.isEmpty { change(rate: plan.codec.sampleRate) }
        let counters = StreamCounters()
        let current = try StreamPlan(plan, ports: ports, options: options, rateHertz: rate)
        let stream = Stream(
            key, current, counters, link, rateHertz: rate, mutedTicks: options.autoAnswered ? Self.autoAnswerSilence : 0
        )
        let reference = Unmanaged.passRetained(stream)
        calls[key] = Call(stream: reference, plan: plan, ports: ports, options: options, counters: counters)
        post(.startStream(reference))
        if options.autoAnswered { play(.autoAnswer) }
        reconcile()
    }

    /// Ticks for which the microphone of an auto-answered call stays shut (I2).
    private static let autoAnswerSilence = 50

    /// Goes on by another plan, with other sockets if they are given. An equal plan changes nothing.
    package func update(_ key: CallKey, _ plan: MediaPlan, ports: RTPPortPair? = nil) throws(AudioError) {
        guard var call = calls[key] else { return }
        if plan == call.plan, ports == nil || ports === call.ports { return }
        call.plan = plan
        call.ports = ports ?? call.ports
        let next = try StreamPlan(plan, ports: call.ports, options: call.options, rateHertz: rate)
        calls[key] = call
        post(.updateStream(call.stream, .passRetained(next)))
        reconcile()
    }

    /// Ends a call's sound; its sockets are closed soon after.
    package func stop(_ key: CallKey) {
        guard let call = calls.removeValue(forKey: key) else { return }
        post(.stopStream(call.stream))
        reconcile()
    }

    /// Sends silence instead of the microphone, or the microphone again.
    package func setMuted(_ key: CallKey, _ muted: Bool) {
        calls[key]?.counters.isMuted.store(muted, ordering: .relaxed)
    }

    /// Sends keys one after the other; they wait in the call until the ones before are out, at most ``DigitSending/limit``.
    /// - Parameter inBand: as tones in the voice if telephone-event was not negotiated.
    /// - Returns: false if the call cannot send them: there is no sound, or neither way is open.
    @discardableResult
    package func sendDigits(
        _ key: CallKey, _ digits: [DTMFSignal], inBand: Bool = false, length: Duration = .milliseconds(160)
    ) -> Bool {
        guard let call = calls[key], call.plan.telephoneEvent != nil || inBand else { return false }
        let milliseconds = Int(clamping: length.nanoseconds / 1_000_000)
        for digit in digits {
            post(.digit(call.stream, digit.event, milliseconds: min(1300, max(100, milliseconds))))
        }
        return true
    }

    /// Nil for a call without sound.
    package func statistics(_ key: CallKey) -> StreamStatistics? {
        calls[key].map { $0.counters.statistics(codec: $0.plan.codec) }
    }

    /// When RTP or RTCP last came from the call's peer: the media watchdog's input (MED3). Nil: never, or no such call.
    package func lastReceived(_ key: CallKey) -> Instant? { calls[key]?.counters.lastInstant }

    // MARK: - Levels, counts, health

    /// Volumes of 0…100; of the ringer each ring has its own.
    package func setVolume(speaker: Int? = nil, microphone: Int? = nil) {
        if let speaker { link.speakerGain.store(Gain(volume: speaker).factor, ordering: .relaxed) }
        if let microphone { link.microphoneGain.store(Gain(volume: microphone).factor, ordering: .relaxed) }
    }

    /// What the speaker played and the microphone heard in the last tenth of a second, dB relative to a full-scale sine wave.
    package var levels: (speaker: Double, microphone: Double) {
        (
            decibels(power: Double(link.speakerPower.load(ordering: .relaxed))),
            decibels(power: Double(link.microphonePower.load(ordering: .relaxed)))
        )
    }

    /// Overruns and underruns of all devices since the start.
    package var xruns: Int { link.xruns.load(ordering: .relaxed) }

    /// Whether the media thread has its real-time policy; false also before it started.
    package var isRealTime: Bool { link.isRealTime.load(ordering: .relaxed) }

    /// Turns of the media thread since the start; they stand still at rest.
    package var turns: UInt64 { link.heartbeat.load(ordering: .relaxed) }

    /// Whether all devices are closed and the media thread sleeps.
    package var isResting: Bool {
        !link.isBusy.load(ordering: .relaxed) && slots.values.allSatisfy(\.isClosed)
    }

    /// Whether the media thread lives: false if it has work and made no turn for two seconds. To be asked at least once a second
    /// by who feeds the watchdog.
    package func isAlive(at now: Instant) -> Bool {
        let count = link.heartbeat.load(ordering: .relaxed)
        if !link.isBusy.load(ordering: .relaxed) || count != lastBeat.count {
            lastBeat = (count, now)
            return true
        }
        return now - lastBeat.at < .seconds(2)
    }

    /// A call as the loop knows it.
    struct Call {
        var stream: Unmanaged<Stream>
        var plan: MediaPlan
        var ports: RTPPortPair
        var options: CallOptions
        var counters: StreamCounters
    }
}

/// The way from the loop's sources to the engine, which owns them.
final class MediaDoor {
    weak var engine: MediaEngine?
}
