package import Audio
import Primitives

extension MediaEngine {
    /// An incoming call's ring and its number among all rings.
    struct Ringing {
        var ring: Ring
        var number: Int
    }

    /// Plays a tone on the speaker, in the settings' country, instead of one that sounds already.
    package func play(_ tone: CallTone) {
        self.tone = tone
        postTone()
        reconcile()
    }

    /// Ends the tone at once.
    package func stopTone() {
        if tone == nil { return }
        tone = nil
        post(.stopTone)
        reconcile()
    }

    func postTone() {
        guard let tone else { return }
        tones.append(tone)
        post(.startTone(.passRetained(TonePlayer(tone.plan(country: settings.tones), rateHertz: rate))))
    }

    /// Rings until ``stopRing()``, instead of a ring that sounds already. The sound is loaded first.
    package func ring(_ ring: Ring) {
        lastRing += 1
        ringing = Ringing(ring: ring, number: lastRing)
        loadRing()
        reconcile()
    }

    /// Ends the ring at once and closes its device; a device that is opened after this call is opened after that.
    package func stopRing() {
        if ringing == nil { return }
        ringing = nil
        post(.stopRing)
        reconcile()
    }

    func loadRing() {
        guard let ringing else { return }
        let rate = rate
        let path = ringing.ring.sound
        let door = door
        helper.run {
            Result<Sound, AudioError> { () throws(AudioError) in
                try (path.map { path throws(AudioError) in try Sound.load(path: path) } ?? .builtInRing)
                    .resampled(to: rate)
            }
        } then: { result in
            door.engine?.begin(ringing, result, rate: rate)
        }
    }

    private func begin(_ begun: Ringing, _ result: Result<Sound, AudioError>, rate: Int) {
        guard let ringing, ringing.number == begun.number, rate == self.rate else { return }
        switch result {
        case .success(let sound):
            let player = RingPlayer(sound, gain: Gain(volume: ringing.ring.volume), every: ringing.ring.every)
            post(.startRing(.passRetained(player)))
        case .failure(let error):
            self.ringing?.ring.sound = nil
            loadRing()
            handler(.soundFailed(error))
        }
    }

    /// Changes the sample rate of all that sounds. Only while there is no call.
    func change(rate: Int) {
        if rate == self.rate { return }
        for role in DeviceRole.allCases { detach(role) }
        post(.stopTone)
        post(.stopRing)
        self.rate = rate
        post(.rate(rate))
        postTone()
        loadRing()
    }
}
