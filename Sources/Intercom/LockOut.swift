package import Primitives

/// Counts wrong door codes and shuts the codes off for a while (I5): five in ten minutes of one caller, or twenty in
/// an hour in all, are 15 minutes, doubled at each further time up to four hours.
package struct LockOut: Equatable, Sendable {
    static let perCaller = (count: 5, window: Duration.seconds(600))
    static let perDevice = (count: 20, window: Duration.seconds(3600))
    static let first = Duration.seconds(900)
    static let longest = Duration.seconds(4 * 3600)
    /// Without a wrong code for so long the doubling begins anew.
    static let forgotten = Duration.seconds(24 * 3600)
    /// Wrong codes remembered: enough for the device's hour, whoever they come from.
    private static let limit = 64

    /// A wrong code: whose, and when.
    package struct Attempt: Equatable, Sendable {
        package var caller: String
        package var at: Instant
    }

    package private(set) var attempts: [Attempt] = []
    /// Codes count for nothing until then.
    package private(set) var until: Instant?
    /// How often it came to that: the exponent of the doubling.
    package private(set) var times = 0

    package init() {}

    package func isLocked(at now: Instant) -> Bool { until.map { now < $0 } ?? false }

    /// A wrong code.
    /// - Returns: for how long codes are now shut off; nil: they are not.
    package mutating func wrongCode(of caller: String, at now: Instant) -> Duration? {
        if let last = [attempts.last?.at, until].compactMap({ $0 }).max(), now - last > Self.forgotten { times = 0 }
        attempts.append(Attempt(caller: caller, at: now))
        attempts.removeAll { now - $0.at > Self.perDevice.window }
        if attempts.count > Self.limit { attempts.removeFirst(attempts.count - Self.limit) }
        let own = attempts.filter { $0.caller == caller && now - $0.at <= Self.perCaller.window }.count
        guard own >= Self.perCaller.count || attempts.count >= Self.perDevice.count else { return nil }
        let time = min(Self.longest, Self.first * (1 << min(times, 8)))
        times += 1
        until = now + time
        // What led here has been paid for, or one more wrong code would lock again at once.
        attempts = []
        return time
    }

    // MARK: Over a restart

    /// What is kept, on the wall clock.
    package struct Record: Equatable, Sendable {
        package struct Attempt: Equatable, Sendable {
            package var caller: String
            /// Milliseconds before `savedAt`.
            package var age: Int64
            package init(caller: String, age: Int64) {
                self.caller = caller
                self.age = age
            }
        }
        package var savedAt: UTCTime
        /// Until when codes were shut off the last time, milliseconds after `savedAt`, negative before it; 0: never.
        package var remaining: Int64
        package var times: Int
        package var attempts: [Attempt]

        package init(savedAt: UTCTime, remaining: Int64, times: Int, attempts: [Attempt]) {
            self.savedAt = savedAt
            self.remaining = remaining
            self.times = times
            self.attempts = attempts
        }
    }

    package func record(at now: Instant, wall: UTCTime) -> Record {
        Record(
            savedAt: wall, remaining: until.map { ($0 - now).nanoseconds / 1_000_000 } ?? 0, times: times,
            attempts: attempts.map {
                Record.Attempt(caller: $0.caller, age: max(0, (now - $0.at).nanoseconds / 1_000_000))
            })
    }

    /// Goes on where the record ended. Where the clock is behind it, as on a board without a battery, no time is
    /// taken to have passed: a power cut never shortens a lock-out.
    package init(_ record: Record, at now: Instant, wall: UTCTime) {
        let limit = Self.longest.nanoseconds / 1_000_000
        let memory = 2 * Self.forgotten.nanoseconds / 1_000_000
        let (difference, overflow) = wall.milliseconds.subtractingReportingOverflow(record.savedAt.milliseconds)
        let passed = overflow ? 0 : min(max(0, difference), memory)
        times = min(max(0, record.times), 16)
        if record.remaining != 0 {
            until = now + .milliseconds(min(max(-memory, record.remaining), limit) - passed)
        }
        for attempt in record.attempts.suffix(Self.limit) {
            let age = min(max(0, attempt.age), limit) + min(passed, limit)
            attempts.append(Attempt(caller: attempt.caller, at: now - .milliseconds(age)))
        }
    }
}
