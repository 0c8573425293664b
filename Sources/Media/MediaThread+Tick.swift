import Audio
import Primitives

extension MediaThread {
    /// Ten milliseconds of sound: what came from the calls is played, what the microphone heard is sent.
    func tick(at now: Instant) {
        let count = Tick.samples(rateHertz: rate)
        let heard = heard.prefix(count)
        let played = played.prefix(count)

        hear(into: heard)
        played.silence()
        for index in 0..<streamCount {
            streams[index]._withUnsafeGuaranteedRef { stream in
                stream.receive(at: now, datagrams)
                stream.decode(at: now)
                mix(stream.output, into: played)
            }
        }
        // The gate looks at what the far side says before it looks at what the microphone hears of it.
        if link.halfDuplex.load(ordering: .relaxed) { gate.duck(heard, against: played) }
        for index in 0..<streamCount {
            streams[index]._withUnsafeGuaranteedRef { stream in
                stream.send(heard, others: streamCount > 1 ? played : nil, at: now)
            }
        }
        if let tone, !tone.add(to: played) { retireTone(over: true) }
        playRing(with: played)
        play(played)
        measure(heard, played)
    }

    private func hear(into tick: UnsafeMutableBufferPointer<Int16>) {
        guard let device = microphone?.device else { return tick.silence() }
        device.read(tick)
        Gain(factor: link.microphoneGain.load(ordering: .relaxed)).apply(to: tick)
    }

    /// The ring goes to the ringer, or, if the speaker is the ringer, to the speaker.
    private func playRing(with played: UnsafeMutableBufferPointer<Int16>) {
        guard let device = ringer?.device else {
            ring?.add(to: played)
            return
        }
        let rung = rung.prefix(played.count)
        rung.silence()
        ring?.add(to: rung)
        if case .lost(let number) = device.play(rung) { lose(.ringer, number) }
    }

    private func play(_ tick: UnsafeMutableBufferPointer<Int16>) {
        guard let device = speaker?.device else { return }
        Gain(factor: link.speakerGain.load(ordering: .relaxed)).apply(to: tick)
        if case .lost(let number) = device.play(tick) { lose(.speaker, number) }
    }

    private func measure(_ heard: UnsafeMutableBufferPointer<Int16>, _ played: UnsafeMutableBufferPointer<Int16>) {
        if meter.add(heard: heard, played: played) {
            link.microphonePower.store(UInt32(meter.heardPower), ordering: .relaxed)
            link.speakerPower.store(UInt32(meter.playedPower), ordering: .relaxed)
            countXruns()
        }
    }

    private func countXruns() {
        let open =
            (speaker?.device.xruns ?? 0) + (ringer?.device.xruns ?? 0) + (microphone?.device.xruns ?? 0)
        link.xruns.store(formerXruns + open, ordering: .relaxed)
    }
}
