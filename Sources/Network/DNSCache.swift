import Primitives
import SIP

/// What name servers said, for as long as it counts (T12). Pure: the time is handed in.
struct DNSCache {
    static let floor: Duration = .seconds(5)
    static let ceiling: Duration = .seconds(3600)
    static let negativeCeiling: Duration = .seconds(30)
    /// So long after its end a positive answer may still serve where the resolver is down.
    static let staleLimit: Duration = .seconds(24 * 3600)
    /// So many questions are remembered; the one that ends first makes room.
    static let limit = 512

    private struct Entry {
        let records: [DNSRecord]
        let end: Instant
    }
    private var entries: [DNSQuestion: Entry] = [:]

    /// The records if they still count.
    func fresh(_ question: DNSQuestion, at now: Instant) -> [DNSRecord]? {
        entries[question].flatMap { now < $0.end ? $0.records : nil }
    }

    /// Records whose time is over, better than none; never an answer that there are none.
    func stale(_ question: DNSQuestion, at now: Instant) -> [DNSRecord]? {
        entries[question].flatMap { $0.records.isEmpty || now > $0.end + Self.staleLimit ? nil : $0.records }
    }

    /// - Parameter timeToLive: seconds; nil: not given.
    mutating func store(_ records: [DNSRecord], for question: DNSQuestion, timeToLive: UInt32?, at now: Instant) {
        if entries[question] == nil, entries.count >= Self.limit,
            let first = entries.min(by: { $0.value.end < $1.value.end })
        {
            entries[first.key] = nil
        }
        let ceiling = records.isEmpty ? Self.negativeCeiling : Self.ceiling
        let given = timeToLive.map { Duration.seconds(Int64($0)) } ?? ceiling
        entries[question] = Entry(records: records, end: now + min(max(given, Self.floor), ceiling))
    }

    /// The network is another one: what did not exist may exist now, and the rest is asked again, though it can still
    /// serve as stale.
    mutating func networkChanged(at now: Instant) {
        entries = entries.filter { !$0.value.records.isEmpty }
            .mapValues { Entry(records: $0.records, end: min($0.end, now)) }
    }
}
