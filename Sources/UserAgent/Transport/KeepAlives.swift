import Primitives
import SIP

/// Keeps the mappings of translators alive along UDP flows (R6): one double CRLF a flow, however many accounts use it.
///
/// Each flow has a window in which its next one may go; at a wake-up all whose window is open go together, so that
/// many accounts cost few wake-ups.
struct KeepAlives {
    private struct Entry {
        var interval: Duration
        var opens: Instant
        var due: Instant
    }
    private var entries: [Flow: Entry] = [:]

    /// When `due` has something; nil: no flow is kept.
    var deadline: Instant? { entries.values.lazy.map(\.due).min() }

    /// The flows to keep, each with the shortest interval that an account wants. Those already known go on in step.
    mutating func keep(_ wanted: [Flow: Duration], at now: Instant, random: inout Randomness) {
        entries = entries.filter { wanted[$0.key] != nil }
        for (flow, interval) in wanted where entries[flow]?.interval != interval {
            entries[flow] = Self.entry(interval, at: now, random: &random)
        }
    }

    /// The flows along which a keep-alive goes now.
    mutating func takeDue(at now: Instant, random: inout Randomness) -> [Flow] {
        guard let deadline, now >= deadline else { return [] }
        let open = entries.filter { $0.value.opens <= now }.map(\.key)
        for flow in open {
            if let interval = entries[flow]?.interval {
                entries[flow] = Self.entry(interval, at: now, random: &random)
            }
        }
        return open
    }

    /// The next one goes 80–120 % of the interval after the last.
    private static func entry(_ interval: Duration, at now: Instant, random: inout Randomness) -> Entry {
        Entry(
            interval: interval, opens: now + interval * 8 / 10,
            due: now + random.duration(in: (interval * 9 / 10)...(interval * 12 / 10)))
    }
}
