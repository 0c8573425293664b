internal import API
internal import Audio
internal import Configuration
internal import EventLoop
internal import Media
internal import Primitives
internal import SDP

/// Sound: of calls, of the ringer, of tones.
extension Appliance {
    // MARK: Devices and levels

    func setVolume(_ control: VolumeControl, _ level: VolumeLevel) {
        func changed(_ volume: Int) -> Int {
            switch level {
            case .absolute(let level): min(100, max(0, level))
            case .step(let step): min(100, max(0, volume + step))
            }
        }
        switch control {
        case .speaker:
            sound.speakerVolume = changed(sound.speakerVolume)
            engine.setVolume(speaker: sound.speakerVolume)
        case .microphone:
            sound.microphoneVolume = changed(sound.microphoneVolume)
            engine.setVolume(microphone: sound.microphoneVolume)
        case .ringer: sound.ringerVolume = changed(sound.ringerVolume ?? configuration.ringer.volume)
        }
    }

    /// Another loudspeaker until the last call ends.
    func setSpeaker(_ device: DeviceName) {
        sound.speaker = device.description
        applySound()
    }

    func resetSpeaker() {
        guard sound.speaker != nil else { return }
        sound.speaker = nil
        applySound()
    }

    /// The configuration's devices, with the loudspeaker that was switched to.
    func applySound() {
        var settings = MediaSettings(configuration)
        if let speaker = sound.speaker.flatMap({ DeviceName($0) }) { settings.speaker = speaker }
        engine.apply(settings)
        // Nobody asks any more whether a device is there that is named no more.
        let rings = configuration.accounts.compactMap { $0.ringDevice.flatMap { DeviceName($0.description) } }
        let named = Set(
            ([settings.speaker, settings.microphone, settings.ringer] + rings).map { "audio \($0?.description ?? "")" })
        clear { $0.hasPrefix("audio ") && !named.contains($0) }
    }

    // MARK: Ringer and tones

    func startRinging(_ account: String?) {
        let account = account.flatMap { configuration.account(named: $0) }
        engine.ring(
            Ring(
                sound: account?.ringSound ?? configuration.ringer.sound,
                device: account?.ringDevice.flatMap { DeviceName($0.description) },
                volume: sound.ringerVolume ?? account?.ringVolume ?? configuration.ringer.volume,
                every: configuration.ringer.repeatEvery))
    }

    func stopRinging() { engine.stopRing() }

    func play(toneNamed name: String?) {
        switch name {
        case "ringback": engine.play(.ringback)
        case "busy": engine.play(.busy)
        case "congestion": engine.play(.congestion)
        case "ended": engine.play(.callEnded)
        case "waiting": engine.play(.callWaiting)
        case "warning": engine.play(.autoAnswer)
        default: engine.stopTone()
        }
    }

    // MARK: Calls

    /// Starts or changes a call's sound; nil stops it.
    func setMedia(ofCall number: Int, _ plan: MediaPlan?, byItself: Bool, account: String?, pair: RTPPortPair?) {
        let key = CallKey(number)
        guard var plan else { return engine.stop(key) }
        guard let pair else { return raise("rtp", "call c\(number): no ports at \(plan.local)") }
        let settings = account.flatMap { configuration.account(named: $0) }
        let complexity = settings?.opusComplexity ?? 5
        if settings?.opusFEC == false { plan.opus.forwardErrorCorrection = false }
        let announces = byItself && settings?.autoAnswerTone ?? true
        do throws(AudioError) {
            try engine.start(
                key, plan, ports: pair, options: CallOptions(opusComplexity: complexity, autoAnswered: announces))
        } catch {
            journal.log(.media, .error, "call c\(number): no sound: \(error)", .call("c\(number)"))
        }
    }

    func setMuted(callNumber number: Int, _ muted: Bool) { engine.setMuted(CallKey(number), muted) }

    /// - Returns: whether the call sends digits along with its sound (RFC 4733).
    func sendDigits(callNumber number: Int, _ digits: [UInt8]) -> Bool {
        let signals = digits.compactMap { DTMFSignal(character: $0) }
        return engine.sendDigits(CallKey(number), signals)
    }

    func statistics(callNumber number: Int) -> StreamStatistics? { engine.statistics(CallKey(number)) }

    func lastReceived(callNumber number: Int) -> Instant? { engine.lastReceived(CallKey(number)) }

    // MARK: What the engine tells

    func media(_ event: MediaEvent) {
        switch event {
        case .digit(let call, let signal, let path): received(signal, path, callNumber: call.number)
        case .deviceOpened(let role, let device):
            clear("audio \(device)")
            audioChanged(role, device, "open")
            journal.log(.audio, .info, "\(role.word): \(device) is open")
        case .deviceFailed(let role, let device, let error):
            raise("audio \(device)", "\(role.word): \(error.cause); tried again until it opens")
            audioChanged(role, device, "failed")
        case .deviceLost(let role, let device, let error):
            raise("audio \(device)", "\(role.word): \(error.cause); tried again until it opens")
            audioChanged(role, device, "lost")
        case .soundFailed(let error):
            journal.log(.audio, .warning, "ring sound: \(error); the built-in ring sounds instead")
        case .toneEnded: break
        case .sourceLatched(let call, let source):
            journal.log(.media, .info, "call c\(call.number): sound comes from \(source)", .call("c\(call.number)"))
        }
    }

    private func audioChanged(_ role: DeviceRole, _ device: DeviceName, _ state: String) {
        publish(
            "audio",
            ["device": .string(device.description), "role": .string(role.word), "state": .string(state)])
    }
}

extension DeviceRole {
    fileprivate var word: String {
        switch self {
        case .speaker: "speaker"
        case .microphone: "microphone"
        case .ringer: "ringer"
        }
    }
}

extension MediaSettings {
    init(_ configuration: Configuration) {
        self.init(
            speaker: DeviceName(configuration.audio.speaker.description) ?? .silent,
            microphone: DeviceName(configuration.audio.microphone.description) ?? .silent,
            ringer: configuration.ringer.device.flatMap { DeviceName($0.description) }, rate: configuration.audio.rate,
            period: configuration.audio.period, halfDuplex: configuration.audio.halfDuplex,
            tones: configuration.device.tones.rawValue)
    }
}
