package import Primitives

/// Sends keys as telephone events (RFC 4733 §2.5, I4): updates while a key is down, three end packets, a gap before the
/// next one. Asked once per packet time, in place of the audio.
package struct DTMFSender: Sendable {
    package enum Output: Equatable, Sendable {
        /// No key is down: audio goes out.
        case audio
        /// A key is down, but no packet of it is due: nothing goes out.
        case nothing
        /// A packet with this timestamp (of the caller's count) and these four octets.
        case event(marker: Bool, timestamp: UInt32, payload: UInt32)
    }

    /// A queue longer than this is no person's: further keys are refused.
    package static let queueLimit = 64
    /// The shortest key press that is sent (I4).
    package static let shortest: Duration = .milliseconds(100)
    /// The longest: its end has to fit into 16 bits at 48 kHz.
    package static let longest: Duration = .milliseconds(1_300)
    /// End packets of an event.
    private static let endCount = 3

    private let clockRate: Int64
    private let interval: UInt32
    private let gap: UInt32
    private var queue: [(signal: DTMFSignal, duration: UInt16)] = []
    private var current: (signal: DTMFSignal, start: UInt32, duration: UInt16, ends: Int, last: UInt32?)?
    private var freeFrom: UInt32?

    /// `clockRate` of the negotiated events; `interval` between updates, at least the packet time; `gap` between keys.
    package init(clockRate: Int, interval: Duration = .milliseconds(50), gap: Duration = .milliseconds(50)) {
        self.clockRate = Int64(clockRate)
        self.interval = Self.units(interval, Int64(clockRate))
        self.gap = Self.units(gap, Int64(clockRate))
        queue.reserveCapacity(Self.queueLimit)
    }

    /// Queues a key; false if the queue is full. The duration is brought into 100 ms…1.3 s.
    package mutating func send(_ signal: DTMFSignal, duration: Duration = .milliseconds(160)) -> Bool {
        guard queue.count < Self.queueLimit else { return false }
        let limited = min(max(duration, Self.shortest), Self.longest)
        queue.append((signal, UInt16(clamping: Self.units(limited, clockRate))))
        return true
    }

    /// Whether a key is down or waits.
    package var isBusy: Bool { current != nil || !queue.isEmpty }

    /// What goes out at `timestamp`, which counts units of the event's clock from any start and rises by the packet time.
    package mutating func next(at timestamp: UInt32) -> Output {
        if current == nil {
            guard let first = queue.first else { return .audio }
            if let freeFrom, Int32(bitPattern: timestamp &- freeFrom) < 0 { return .audio }
            queue.removeFirst()
            current = (first.signal, timestamp, first.duration, 0, nil)
        }
        guard let key = current else { return .audio }
        let elapsed = timestamp &- key.start
        let isOver = elapsed >= UInt32(key.duration)
        if !isOver, let last = key.last, timestamp &- last < interval { return .nothing }
        current?.last = timestamp
        // An update tells how long the key has been down so far; the first one cannot say nothing.
        let told = isOver ? UInt32(key.duration) : max(elapsed, 1)
        let payload = UInt32(key.signal.event) << 24 | (isOver ? 0x80_0000 : 0) | 10 << 16 | told
        if isOver {
            current?.ends += 1
            if key.ends + 1 == Self.endCount {
                current = nil
                freeFrom = timestamp &+ gap
            }
        }
        return .event(marker: key.last == nil, timestamp: key.start, payload: payload)
    }

    private static func units(_ duration: Duration, _ clockRate: Int64) -> UInt32 {
        UInt32(clamping: duration.nanoseconds / 1_000_000 * clockRate / 1_000)
    }
}
