import Primitives

/// How many requests a source may send (SEC5). Sources that no account knows share a small budget, each of them a
/// smaller one, so that a flood leaves the registered flows their service.
struct RateLimits {
    static let unknownSource = TokenBucket.Size(perSecond: 10, burst: 20)
    static let unknownInAll = TokenBucket.Size(perSecond: 50, burst: 100)
    static let known = TokenBucket.Size(perSecond: 1000, burst: 1000)
    /// Calls of a source that no account knows (D16).
    static let calls = TokenBucket.Size(perSecond: 5, burst: 1)
    /// What a malformed message costs.
    static let malformedCost = 5
    /// Sources remembered; a full table forgets those that have their whole budget again, else serves no newcomer.
    static let sourceLimit = 4096

    private var sources: [IPAddress: TokenBucket] = [:]
    private var inAll = TokenBucket(unknownInAll)
    private var callers: [IPAddress: TokenBucket] = [:]
    private var knownSources: [IPAddress: TokenBucket] = [:]

    /// Whether a message from this address is looked at. For IPv6 the /64 counts.
    mutating func admits(_ address: IPAddress, isKnown: Bool, at now: Instant) -> Bool {
        let source = Self.network(of: address)
        if isKnown {
            if knownSources.count >= Self.sourceLimit, knownSources[source] == nil { knownSources = [:] }
            return knownSources[source, default: TokenBucket(Self.known)].take(1, at: now)
        }
        guard makeRoom(for: source, at: now) else { return false }
        guard sources[source, default: TokenBucket(Self.unknownSource)].take(1, at: now) else { return false }
        return inAll.take(1, at: now)
    }

    /// Whether a call from this unknown address is looked at.
    mutating func admitsCall(_ address: IPAddress, at now: Instant) -> Bool {
        let source = Self.network(of: address)
        if callers.count >= Self.sourceLimit, callers[source] == nil {
            callers = callers.filter { !$0.value.isFull(at: now) }
            guard callers.count < Self.sourceLimit else { return false }
        }
        return callers[source, default: TokenBucket(Self.calls)].take(1, at: now)
    }

    /// The message turned out to be malformed: charges the rest of its cost.
    mutating func chargeMalformed(_ address: IPAddress, isKnown: Bool, at now: Instant) {
        guard !isKnown else { return }
        sources[Self.network(of: address)]?.charge(Self.malformedCost - 1, at: now)
        inAll.charge(Self.malformedCost - 1, at: now)
    }

    private mutating func makeRoom(for source: IPAddress, at now: Instant) -> Bool {
        if sources[source] != nil || sources.count < Self.sourceLimit { return true }
        sources = sources.filter { !$0.value.isFull(at: now) }
        return sources.count < Self.sourceLimit
    }

    private static func network(of address: IPAddress) -> IPAddress {
        if case .v6(let high, _, let zone) = address { .v6(high: high, low: 0, zone: zone) } else { address }
    }
}

/// A budget that refills steadily up to a burst.
struct TokenBucket {
    struct Size {
        var perSecond: Int
        var burst: Int
    }
    private let size: Size
    /// In billionths of a token, so that nanoseconds refill it exactly.
    private var level: Int
    private var filledAt = Instant.zero

    init(_ size: Size) {
        self.size = size
        level = size.burst * 1_000_000_000
    }

    /// Takes tokens if there are so many.
    mutating func take(_ tokens: Int, at now: Instant) -> Bool {
        refill(at: now)
        guard level >= tokens * 1_000_000_000 else { return false }
        level -= tokens * 1_000_000_000
        return true
    }

    /// Takes tokens, or what is left.
    mutating func charge(_ tokens: Int, at now: Instant) {
        refill(at: now)
        level = max(0, level - tokens * 1_000_000_000)
    }

    func isFull(at now: Instant) -> Bool {
        var copy = self
        copy.refill(at: now)
        return copy.level == size.burst * 1_000_000_000
    }

    private mutating func refill(at now: Instant) {
        let full = size.burst * 1_000_000_000
        let elapsed = max(0, (now - filledAt).nanoseconds)
        filledAt = now
        let (gain, overflow) = Int(elapsed).multipliedReportingOverflow(by: size.perSecond)
        level = overflow || gain >= full - level ? full : level + gain
    }
}
