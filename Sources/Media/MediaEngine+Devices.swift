import Audio
import Primitives

/// What a device is opened for; another value means that it is opened anew.
struct DeviceUse: Hashable, Sendable {
    var name: DeviceName
    /// The engine's rate, Hz.
    var rate: Int
    var cardRate: Int?
    var period: Duration
}

/// How one of the three devices stands.
struct DeviceSlot {
    enum State {
        case closed
        case opening(DeviceUse)
        case open(DeviceUse)
        /// Taken from the media thread, not yet back.
        case closing(DeviceUse)
        /// It could not be opened, or was lost: the next attempt.
        case waiting(until: Instant)
    }

    var state = State.closed
    /// The failure that was told last; nil once the device was open since.
    var told: AudioError?
    /// Attempts since a device was found busy.
    var busyAttempts = 0
    /// It is to be opened though nothing needs it, to see whether it is there.
    var isChecked = false

    var isClosed: Bool { if case .closed = state { true } else { false } }
    var isClosing: Bool { if case .closing = state { true } else { false } }
}

extension MediaEngine {
    /// A lost or missing device is tried again after this, as long as it is needed.
    static let retry: Duration = .seconds(1)
    /// A device that another program holds may be free in a moment: so soon at first.
    static let busyRetry: Duration = .milliseconds(50)
    static let busyAttempts = 20

    /// Switches devices while calls go on; what has not changed stays open.
    package func apply(_ settings: MediaSettings) {
        take(settings)
        link.halfDuplex.store(settings.halfDuplex, ordering: .relaxed)
        reconcile()
    }

    /// Where it rings; nil while it does not.
    private var ringerName: DeviceName? {
        ringing.map { $0.ring.device ?? settings.ringer ?? settings.speaker }
    }

    /// The devices that calls, tone and ring need now.
    func wanted(_ role: DeviceRole) -> DeviceUse? {
        let ringer = ringerName
        switch role {
        case .speaker:
            guard !calls.isEmpty || tone != nil || ringer == settings.speaker else { return nil }
            return use(settings.speaker)
        case .microphone:
            return calls.values.contains { $0.plan.sends } ? use(settings.microphone) : nil
        case .ringer:
            guard let ringer, ringer != settings.speaker else { return nil }
            return use(ringer)
        }
    }

    func use(_ name: DeviceName) -> DeviceUse {
        DeviceUse(name: name, rate: rate, cardRate: settings.rate, period: settings.period)
    }

    /// Opens what is needed and closes what is not. Closing goes first: one card may serve two devices.
    func reconcile() {
        let now = loop.now
        link.ringsOnSpeaker.store(ringerName == settings.speaker, ordering: .relaxed)
        for role in DeviceRole.allCases {
            guard let slot = slots[role] else { continue }
            switch slot.state {
            case .open(let use) where use != wanted(role): detach(role)
            case .waiting where due(role) == nil: slots[role]?.state = .closed
            default: break
            }
        }
        if !slots.values.contains(where: \.isClosing) {
            for role in DeviceRole.allCases {
                guard let use = due(role) else { continue }
                switch slots[role]?.state {
                case .closed: open(role, use)
                case .waiting(let until) where until <= now: open(role, use)
                // A card that is looked for now and then is needed at once.
                case .waiting(let until) where wanted(role) != nil && until > now + Self.retry: open(role, use)
                default: break
                }
            }
        }
        timer.set(
            deadline: slots.values.compactMap { if case .waiting(let until) = $0.state { until } else { nil } }.earliest
        )
    }

    func detach(_ role: DeviceRole) {
        guard case .open(let use) = slots[role]?.state else { return }
        slots[role]?.state = .closing(use)
        post(.detach(role))
    }

    private func open(_ role: DeviceRole, _ use: DeviceUse) {
        slots[role]?.state = .opening(use)
        let appending: Bool
        if role != .microphone, case .wav(let path) = use.name {
            appending = !begunRecordings.insert(path).inserted
        } else {
            appending = false
        }
        let door = door
        helper.run {
            Result<OpenDevice, AudioError> { () throws(AudioError) in
                try role == .microphone
                    ? .capture(.init(OpenCapture(openCapture(use.name, use.format))))
                    : .playback(.init(OpenPlayback(openPlayback(use.name, use.format, appending: appending))))
            }
        } then: { result in
            if let engine = door.engine {
                engine.opened(role, use, result)
            } else if case .success(let device) = result {
                device.close()
            }
        }
    }

    private func opened(_ role: DeviceRole, _ use: DeviceUse, _ result: Result<OpenDevice, AudioError>) {
        switch result {
        case .success(let device):
            slots[role]?.busyAttempts = 0
            slots[role]?.told = nil
            let wasChecked = slots[role]?.isChecked == true
            slots[role]?.isChecked = false
            guard wanted(role) == use else {
                slots[role]?.state = .closed
                helper.run(device.close) { _ in }
                reconcile()
                if wasChecked { handler(.deviceOpened(role, use.name)) }
                return endCheck()
            }
            slots[role]?.state = .open(use)
            switch device {
            case .playback(let device): post(.attachPlayback(role, device.reference))
            case .capture(let device): post(.attachCapture(device.reference))
            }
            handler(.deviceOpened(role, use.name))
        case .failure(let error): failed(role, use, error)
        }
        endCheck()
    }

    private func failed(_ role: DeviceRole, _ use: DeviceUse, _ error: AudioError) {
        guard due(role)?.name == use.name else {
            slots[role]?.state = .closed
            return reconcile()
        }
        let isNeeded = wanted(role) != nil
        var slot = slots[role] ?? DeviceSlot()
        let isSoon = isNeeded && error.isBusy && slot.busyAttempts < Self.busyAttempts
        slot.busyAttempts = isSoon ? slot.busyAttempts + 1 : slot.busyAttempts
        slot.isChecked = cardToCheck(role)?.name == use.name
        slot.state = .waiting(until: loop.now + (isSoon ? Self.busyRetry : isNeeded ? Self.retry : Self.checkRetry))
        let isNews = !isSoon && slot.told != error
        if isNews { slot.told = error }
        slots[role] = slot
        reconcile()
        if isNews { handler(.deviceFailed(role, use.name, error)) }
    }

    // MARK: - Reports

    func takeReports() {
        while let report = link.reports.pop() { take(report) }
    }

    private func take(_ report: Report) {
        switch report {
        case .digit(let key, let event, let inBand):
            guard let signal = DTMFSignal(event: event) else { return }
            handler(.digit(CallKey(key), signal, by: inBand ? .inBand : .rtp))
        case .latched(let key, let source): handler(.sourceLatched(CallKey(key), SocketAddress(source)))
        case .retiredTone(let player, let over):
            player.release()
            let ended = tones.isEmpty ? nil : tones.removeFirst()
            if over, tones.isEmpty, let ended, ended == tone {
                tone = nil
                reconcile()
                handler(.toneEnded(ended))
            }
        case .retiredPlayback(let role, let device, let lost): closed(role, .playback(.init(device)), lost: lost)
        case .retiredCapture(let device, let lost): closed(.microphone, .capture(.init(device)), lost: lost)
        default: free(report)
        }
    }

    /// Frees what a report brings back and nobody asks about.
    func free(_ report: Report) {
        switch report {
        case .retiredPlayback(_, let device, _): device.release()
        case .retiredCapture(let device, _): device.release()
        case .retiredStream(let stream): stream.release()
        case .retiredPlan(let plan): plan.release()
        case .retiredTone(let player, _): player.release()
        case .retiredRing(let player): player.release()
        case .digit, .latched, .ended: break
        }
    }

    private func closed(_ role: DeviceRole, _ device: OpenDevice, lost number: Int32) {
        // The helper works in order: what is opened after this is opened after the device is closed.
        helper.run(device.close) { _ in }
        let use: DeviceUse? =
            switch slots[role]?.state {
            case .open(let use), .closing(let use): use
            default: nil
            }
        if number == 0 {
            slots[role]?.state = .closed
            return reconcile()
        }
        slots[role]?.state = .waiting(until: loop.now + Self.retry)
        slots[role]?.isChecked = use != nil && cardToCheck(role)?.name == use?.name
        reconcile()
        guard let use else { return }
        let error = AudioError.device(use.name.description, action: "use", number: number)
        slots[role]?.told = error
        handler(.deviceLost(role, use.name, error))
    }
}
