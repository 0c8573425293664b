import Audio
import Primitives

extension MediaThread {
    /// Makes one or two ticks: what has come from the calls is played, what the microphone heard is sent.
    func make(ticks: Int, at nanoseconds: Int64) {
        let now = Instant(nanoseconds: nanoseconds)
        let count = Tick.samples(rateHertz: rate)
        let played = played.prefix(ticks * count)
        let rung = rung.prefix(ticks * count)
        for index in 0..<streamCount {
            streams[index]._withUnsafeGuaranteedRef { $0.receive(at: now, datagrams) }
        }
        for index in 0..<ticks {
            let part = (index * count)..<((index + 1) * count)
            tick(
                UnsafeMutableBufferPointer(rebasing: played[part]), UnsafeMutableBufferPointer(rebasing: rung[part]),
                at: now)
        }
        if let device = ringer?.device, case .lost(let number) = device.play(rung) { lose(.ringer, number) }
        if let device = speaker?.device, case .lost(let number) = device.play(played) { lose(.speaker, number) }
    }

    /// Ten milliseconds of sound.
    private func tick(
        _ played: UnsafeMutableBufferPointer<Int16>, _ rung: UnsafeMutableBufferPointer<Int16>, at now: Instant
    ) {
        let heard = heard.prefix(played.count)
        hear(into: heard)
        played.silence()
        for index in 0..<streamCount {
            streams[index]._withUnsafeGuaranteedRef { stream in
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
        rung.silence()
        ring?.add(to: link.ringsOnSpeaker.load(ordering: .relaxed) ? played : rung)
        Gain(factor: link.speakerGain.load(ordering: .relaxed)).apply(to: played)
        if meter.add(heard: heard, played: played) {
            link.microphonePower.store(UInt32(meter.heardPower), ordering: .relaxed)
            link.speakerPower.store(UInt32(meter.playedPower), ordering: .relaxed)
            countXruns()
        }
    }

    private func hear(into tick: UnsafeMutableBufferPointer<Int16>) {
        guard let device = microphone?.device else { return tick.silence() }
        device.read(tick)
        Gain(factor: link.microphoneGain.load(ordering: .relaxed)).apply(to: tick)
    }

    private func countXruns() {
        let open =
            (speaker?.device.xruns ?? 0) + (ringer?.device.xruns ?? 0) + (microphone?.device.xruns ?? 0)
        link.xruns.store(formerXruns + open, ordering: .relaxed)
    }
}
