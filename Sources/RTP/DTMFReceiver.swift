package import Primitives

/// Recognises telephone events (RFC 4733, I4). An event is known by source and timestamp and counts once, at its first
/// packet, whichever that is.
package struct DTMFReceiver: Sendable {
    /// What a packet (or the lack of one) meant.
    package struct Outcome: Equatable, Sendable {
        /// A key went down.
        package var began: DTMFSignal?
        /// A key went up, after a time in units of the event's clock.
        package var ended: Ended?

        package struct Ended: Equatable, Sendable {
            package var signal: DTMFSignal
            package var duration: UInt32
            /// The end packets were lost.
            package var byTimeout: Bool
        }
    }

    /// Three updates of 50 ms that did not come.
    package static let timeout: Duration = .milliseconds(150)
    /// Events whose late packets are recognised.
    private static let memory = 8

    private struct Identity: Equatable {
        var source: UInt32 = 0
        var timestamp: UInt32 = 0
        var event: UInt8 = 255
    }

    private var running: (identity: Identity, signal: DTMFSignal, earlier: UInt32, duration: UInt16, heard: Instant)?
    /// Ring of events that were counted.
    private var seen = ContiguousArray<Identity>(repeating: Identity(), count: memory)
    private var oldest = 0
    /// Events that are no keys (tones, 17 and above).
    package private(set) var ignored = 0

    package init() {}

    /// When a running event ends for want of packets.
    package var deadline: Instant? { running.map { $0.heard + Self.timeout } }

    /// Takes the packet that `header` was read from. Of several events in one packet the first counts.
    package mutating func receive(_ octets: [UInt8], _ header: RTPHeader, at now: Instant) -> Outcome {
        var outcome = expire(at: now)
        let start = header.payload.lowerBound
        guard header.payload.count >= 4, header.payload.upperBound <= octets.count else { return outcome }
        let identity = Identity(source: header.ssrc, timestamp: header.timestamp, event: octets[start])
        guard let signal = DTMFSignal(event: identity.event) else {
            ignored += 1
            return outcome
        }
        let isEnd = octets[start + 1] & 0x80 != 0
        let duration = octets.word16(at: start + 2)
        if let running, running.identity != identity, continues(running.identity, identity) {
            self.running = (identity, signal, running.earlier &+ 0xFFFF, duration, now)
            remember(identity)
        } else if let running, running.identity == identity {
            self.running?.duration = max(running.duration, duration)
            self.running?.heard = now
        } else if seen.contains(identity) {
            return outcome
        } else {
            if let ended = end(byTimeout: false) { outcome.ended = ended }
            running = (identity, signal, 0, duration, now)
            remember(identity)
            outcome.began = signal
        }
        if isEnd { outcome.ended = end(byTimeout: false) }
        return outcome
    }

    /// Ends a running event whose packets stopped.
    package mutating func expire(at now: Instant) -> Outcome {
        guard let deadline, now >= deadline else { return Outcome() }
        return Outcome(began: nil, ended: end(byTimeout: true))
    }

    /// An event longer than 65 535 units goes on under a timestamp that is as much later (RFC 4733 §2.5.1.3).
    private func continues(_ former: Identity, _ next: Identity) -> Bool {
        former.source == next.source && former.event == next.event && next.timestamp &- former.timestamp == 0xFFFF
    }

    private mutating func end(byTimeout: Bool) -> Outcome.Ended? {
        guard let running else { return nil }
        self.running = nil
        return Outcome.Ended(
            signal: running.signal, duration: running.earlier &+ UInt32(running.duration), byTimeout: byTimeout)
    }

    private mutating func remember(_ identity: Identity) {
        seen[oldest] = identity
        oldest = (oldest + 1) % Self.memory
    }
}
