internal import EventLoop
internal import Intercom
internal import Primitives
internal import SDP
internal import UserAgent

/// Joins calls and their sound.
extension Appliance {
    func setMedia(of call: CallKey, _ plan: MediaPlan?) {
        let record = callRecords[call]
        let pair = plan.flatMap { pairs.pair(of: call, at: $0.local) }
        setMedia(
            ofCall: call.number, plan, byItself: record?.answersByItself ?? false,
            account: record?.account,
            pair: pair)
        if let pair { pairs.keepOnly(pair, of: call) }
        let expects = plan.map { $0.receives && !$0.heldByPeer } ?? false
        callRecords[call]?.expectsMediaSince = expects ? loop.now : nil
        armMediaWatch()
        guard plan != nil, let digits = record?.waitingDigits, !digits.isEmpty else { return }
        callRecords[call]?.waitingDigits = []
        send(digits, in: call)
    }

    func setMuted(_ call: CallKey, _ muted: Bool) { setMuted(callNumber: call.number, muted) }

    func play(_ tone: CallTone?) { play(toneNamed: tone?.rawValue) }

    /// Digits to the far side by the way that the account and the negotiation say; they wait for media.
    func send(_ digits: [UInt8], in call: CallKey) {
        guard let status = callRecords[call]?.status else { return }
        guard status.answeredAt != nil else {
            callRecords[call]?.waitingDigits += digits
            return
        }
        let mode = configuration.account(named: status.account)?.dtmf ?? .auto
        if mode != .info, sendDigits(callNumber: call.number, digits) { return }
        guard mode != .rfc4733 else {
            return journal.log(
                .media, .warning, "call \(call): the far side takes no RFC 4733 digits", .call(call.description))
        }
        for digit in digits { take(.agent(.sendDigit(call, digit))) }
    }

    /// A key of the far side; the same press by two ways counts once (I3).
    func received(_ signal: DTMFSignal, _ path: DTMFPath, callNumber number: Int) {
        let call = CallKey(number)
        guard let digit = signal.character,
            callRecords[call]?.digits.accept(signal, by: path, at: loop.now) == true
        else { return }
        take(.intercom(.digit(call, digit: digit, by: path == .info ? .info : .rfc4733)))
    }

    // MARK: The media watchdog (MED3)

    /// While a call expects media, a look a second; otherwise none.
    func armMediaWatch() {
        let expects = callRecords.values.contains { $0.expectsMediaSince != nil }
        if !expects || configuration.call.mediaTimeout == .zero {
            mediaTimer?.set(deadline: nil)
        } else if mediaTimer?.deadline == nil {
            mediaTimer?.set(deadline: loop.now + .seconds(1))
        }
    }

    func watchMedia() {
        let now = loop.now
        for (call, record) in callRecords {
            guard let since = record.expectsMediaSince else { continue }
            let last = max(since, lastReceived(callNumber: call.number) ?? since)
            if now - last > configuration.call.mediaTimeout {
                callRecords[call]?.expectsMediaSince = nil
                journal.log(
                    .media, .warning,
                    "call \(call): no RTP and no RTCP for \(Int((now - last).inSeconds)) s, hanging up",
                    .call(call.description))
                take(.agent(.hangUp(call, .mediaTimeout)))
            }
        }
        armMediaWatch()
    }
}
