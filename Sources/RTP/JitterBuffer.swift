package import Primitives

/// Evens out the arrival of packets (MED2): holds them back 20…200 ms, as much as the network needs, puts them into
/// order, and says where to conceal a loss.
///
/// For the media thread: all storage is there after `init`, neither `insert` nor `pull` allocates. `pull` is called
/// whenever the player runs out of decoded audio; one call gives the audio of one packet.
package struct JitterBuffer: Sendable {
    /// What a packet holds; decided by the caller from the payload type.
    package enum Content: Hashable, Sendable {
        case audio
        /// RFC 3389: after it silence is expected, not lost audio.
        case comfortNoise
        /// A telephone event or unknown type: it takes a sequence number, but no time.
        case other
    }

    package enum Insertion: Hashable, Sendable {
        case buffered, duplicate, oversized
        /// Its time is over.
        case late
        /// A far jump or another source: dropped, believed if the next packet follows it.
        case doubted
        /// The second packet after a jump or a change of source: all before it is forgotten.
        case restarted
    }

    package enum Frame: Equatable, Sendable {
        /// A payload of `count` octets is in the caller's buffer.
        case packet(payloadType: UInt8, count: Int, content: Content)
        /// Audio for one packet is missing. If `following` is not 0 the caller's buffer holds that many octets of the
        /// packet after it, which may carry a copy of the lost one (Opus in-band error correction).
        case conceal(following: Int)
        /// Nothing is due: the sender is silent, or the buffer fills.
        case silence
    }

    /// Octets of the longest payload that is kept; the caller's buffer in `pull` has at least as many.
    package static let longestPayload = 1_472
    package static let shortestDelay: Duration = .milliseconds(20)
    package static let longestDelay: Duration = .milliseconds(200)
    /// Packets in the ring.
    static let capacity = 64
    /// Frames that are concealed in a row; then silence is more pleasant.
    static let concealmentLimit = 5

    /// Counts since the start, for the status.
    package struct Counters: Equatable, Sendable {
        /// Packets that never came, or too late.
        package var lost = 0
        package var late = 0
        package var duplicates = 0
        /// Frames concealed, for lost packets and for an empty buffer.
        package var concealed = 0
        /// Packets left out to shorten the delay.
        package var skipped = 0
        /// Changes of source and jumps of the sequence.
        package var restarts = 0

        package init() {}
    }

    struct Slot {
        var number: Int64 = -1
        var timestamp: Int64 = 0
        var arrival: Int64 = 0
        var count = 0
        var payloadType: UInt8 = 0
        var content = Content.other
    }

    package private(set) var counters = Counters()
    private let clockRate: Int64
    private var storage = ContiguousArray<UInt8>(repeating: 0, count: capacity * longestPayload)
    private var slots = ContiguousArray<Slot>(repeating: Slot(), count: capacity)
    private var tracker = SequenceTracker()
    private var estimator = DelayEstimator()
    /// The last packet that was played or given up; later numbers are wanted.
    private var floor: Int64 = -1
    private var isPlaying = false
    private var newestTimestamp: Int64 = 0
    private var newestAudio: (number: Int64, timestamp: Int64) = (-2, 0)
    /// RTP units of a packet: of two packets in a row with the same step.
    private var packetUnits: Int64
    private var lastStep: Int64 = 0
    /// Where the audio played so far ends.
    private var playedUpTo: Int64?
    /// How long after the fastest possible moment the last packet was played.
    private var level: Int64 = 0
    private var tooLongSince: Int64?
    private var concealedInRow = 0
    /// Frames concealed while the buffer was empty: they stand for the packets that were then missing.
    private var stretched = 0
    private var expectsSilence = false

    /// `clockRate`: units of the RTP timestamp in a second.
    package init(clockRate: Int) {
        self.clockRate = Int64(max(clockRate, 1_000))
        packetUnits = self.clockRate / 50
    }

    /// How long packets are held back at present: the wish of the estimate.
    package var target: Duration { .nanoseconds(targetDelay) }

    /// How long after the fastest possible moment the last packet was played.
    package var delay: Duration { .nanoseconds(level) }

    private var targetDelay: Int64 {
        min(max(estimator.spread, Self.shortestDelay.nanoseconds), Self.longestDelay.nanoseconds)
    }

    private func nanoseconds(_ units: Int64) -> Int64 {
        units / clockRate * 1_000_000_000 + units % clockRate * 1_000_000_000 / clockRate
    }

    // MARK: In

    /// Takes a packet that arrived at `now`; `octets` is the datagram that `header` was read from.
    package mutating func insert(
        _ octets: [UInt8], _ header: RTPHeader, content: Content = .audio, at now: Instant
    ) -> Insertion {
        guard header.payload.count <= Self.longestPayload, header.payload.upperBound <= octets.count else {
            return .oversized
        }
        let number: Int64
        var result = Insertion.buffered
        switch tracker.place(header) {
        case .doubted: return .doubted
        case .placed(let placed): number = placed
        case .first(let first):
            number = first
            if slots.contains(where: { $0.number >= 0 }) || playedUpTo != nil {
                counters.restarts += 1
                result = .restarted
            }
            restart(at: first, header.timestamp)
        }
        let step = Int64(Int32(bitPattern: header.timestamp &- UInt32(truncatingIfNeeded: newestTimestamp)))
        let timestamp = newestTimestamp + step
        if number == tracker.highest { newestTimestamp = timestamp }
        if content != .other { measure(number, timestamp, isAudio: content == .audio, at: now.nanoseconds) }
        if number <= floor {
            counters.late += 1
            return .late
        }
        if number - floor > Int64(Self.capacity) { floor = number - Int64(Self.capacity) }
        let index = Int(number % Int64(Self.capacity))
        if slots[index].number == number {
            counters.duplicates += 1
            return .duplicate
        }
        let count = header.payload.count
        slots[index] = Slot(
            number: number, timestamp: timestamp, arrival: now.nanoseconds, count: count,
            payloadType: header.payloadType, content: count == 0 ? .other : content)
        let start = index * Self.longestPayload
        for offset in 0..<count { storage[start + offset] = octets[header.payload.lowerBound + offset] }
        return result
    }

    private mutating func restart(at number: Int64, _ timestamp: UInt32) {
        for index in slots.indices { slots[index].number = -1 }
        // A reordered packet before the first one is still welcome.
        floor = number - Int64(Self.capacity) / 2
        newestTimestamp = Int64(timestamp)
        newestAudio.number = -2
        estimator.forgetBase()
        isPlaying = false
        playedUpTo = nil
        stopConcealing()
    }

    /// Learns the delay, and how much audio a packet holds.
    private mutating func measure(_ number: Int64, _ timestamp: Int64, isAudio: Bool, at now: Int64) {
        let transit = now - nanoseconds(timestamp)
        if let base = estimator.base, abs(transit - base) > 2_000_000_000 { estimator.forgetBase() }
        estimator.note(transit: transit, at: now)
        guard isAudio, number > newestAudio.number else { return }
        let step = timestamp - newestAudio.timestamp
        if number == newestAudio.number + 1, step > 0, step <= clockRate / 8 {
            if step == lastStep { packetUnits = step }
            lastStep = step
        }
        newestAudio = (number, timestamp)
    }

    // MARK: Out

    /// The audio of the next packet at `now`. `isQuiet`: what is played at present is so soft that leaving out or
    /// repeating a packet is not heard; then the delay is adapted at once. `frame` has `longestPayload` octets.
    package mutating func pull(at now: Instant, isQuiet: Bool = false, into frame: inout [UInt8]) -> Frame {
        guard frame.count >= Self.longestPayload else { return .silence }
        let now = now.nanoseconds
        // Each turn moves `floor` on or returns, so there are at most as many as the ring has places.
        for _ in 0...(2 * Self.capacity) {
            if !isPlaying, !start(at: now) { return .silence }
            let number = floor + 1
            let slot = slots[Int(number % Int64(Self.capacity))]
            guard slot.number == number else {
                if let frame = gap(at: number, into: &frame) { return frame }
                continue
            }
            if slot.content == .other {
                floor = number
                expectsSilence = true
                continue
            }
            if isEarly(slot, at: now) { return .silence }
            let packet = nanoseconds(packetUnits)
            let wait = now - nanoseconds(slot.timestamp) - (estimator.base ?? 0)
            if shouldSkip(slot, wait: wait, packet: packet, isQuiet: isQuiet, at: now) {
                counters.skipped += 1
                floor = number
                playedUpTo = slot.timestamp + packetUnits
                continue
            }
            if isQuiet, slot.content == .audio, wait + packet <= targetDelay, concealedInRow == 0 {
                concealedInRow = 1
                counters.concealed += 1
                return .conceal(following: 0)
            }
            level = min(max(wait, 0), 10_000_000_000)
            floor = number
            playedUpTo = slot.timestamp + packetUnits
            stopConcealing()
            expectsSilence = slot.content == .comfortNoise
            copy(slot, into: &frame)
            return .packet(payloadType: slot.payloadType, count: slot.count, content: slot.content)
        }
        return .silence
    }

    /// Begins a talk spurt when its first packet has been held back long enough.
    private mutating func start(at now: Int64) -> Bool {
        while let first = occupied(from: floor + 1) {
            let slot = slots[Int(first % Int64(Self.capacity))]
            if slot.content == .other {
                floor = first
                continue
            }
            let due = min(
                (estimator.base ?? slot.arrival) + nanoseconds(slot.timestamp) + targetDelay,
                slot.arrival + Self.longestDelay.nanoseconds)
            if now < due { return false }
            if now - due > 2 * nanoseconds(packetUnits), occupied(from: first + 1) != nil {
                counters.skipped += 1  // After a stall of the network: begin with what is fresh.
                floor = first
                continue
            }
            floor = first - 1
            playedUpTo = nil
            isPlaying = true
            stopConcealing()
            return true
        }
        return false
    }

    /// A packet is not there: nil if the next turn shall go on without it.
    private mutating func gap(at number: Int64, into frame: inout [UInt8]) -> Frame? {
        guard let following = occupied(from: number + 1) else {
            if expectsSilence || concealedInRow >= Self.concealmentLimit {
                isPlaying = false
                return .silence
            }
            concealedInRow += 1
            stretched += 1
            counters.concealed += 1
            return .conceal(following: 0)
        }
        counters.lost += 1
        floor = number
        playedUpTo = playedUpTo.map { $0 + packetUnits }
        if stretched > 0 {
            stretched -= 1
            return nil
        }
        if concealedInRow >= Self.concealmentLimit {
            counters.lost += Int(following - number - 1)
            floor = following - 1
            isPlaying = false
            return nil
        }
        concealedInRow += 1
        counters.concealed += 1
        let next = slots[Int(following % Int64(Self.capacity))]
        guard following == number + 1, next.content == .audio else { return .conceal(following: 0) }
        copy(next, into: &frame)
        return .conceal(following: next.count)
    }

    /// The sender was silent before this packet, and the silence is not over (RFC 3551 §4.1: the timestamp says it).
    private func isEarly(_ slot: Slot, at now: Int64) -> Bool {
        guard let playedUpTo, slot.timestamp > playedUpTo + packetUnits / 2, let base = estimator.base else {
            return false
        }
        let due = min(
            base + nanoseconds(slot.timestamp) + max(level, targetDelay),
            slot.arrival + Self.longestDelay.nanoseconds)
        return now + nanoseconds(packetUnits) / 2 < due
    }

    /// Whether to leave a packet out because the delay is longer than needed.
    private mutating func shouldSkip(_ slot: Slot, wait: Int64, packet: Int64, isQuiet: Bool, at now: Int64) -> Bool {
        let following = slots[Int((slot.number + 1) % Int64(Self.capacity))]
        guard wait - targetDelay >= packet, slot.content == .audio, following.number == slot.number + 1 else {
            tooLongSince = nil
            return false
        }
        let since = tooLongSince ?? now
        tooLongSince = since
        guard isQuiet || now - since >= 1_000_000_000 || wait > Self.longestDelay.nanoseconds + packet else {
            return false
        }
        tooLongSince = now
        return true
    }

    /// The first packet that is there, from a number on.
    private func occupied(from start: Int64) -> Int64? {
        var number = start
        while number <= tracker.highest, number < start + Int64(Self.capacity) {
            if slots[Int(number % Int64(Self.capacity))].number == number { return number }
            number += 1
        }
        return nil
    }

    private mutating func stopConcealing() {
        concealedInRow = 0
        stretched = 0
        expectsSilence = false
    }

    private func copy(_ slot: Slot, into frame: inout [UInt8]) {
        let start = Int(slot.number % Int64(Self.capacity)) * Self.longestPayload
        for offset in 0..<slot.count { frame[offset] = storage[start + offset] }
    }
}
