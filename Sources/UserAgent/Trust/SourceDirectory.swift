import Primitives
import SIP

/// Addresses of names that say who may call: hosts of `accept-from`, and servers of accounts that do not register.
///
/// Answers stay until better ones come: a resolver that is down changes nothing.
struct SourceDirectory {
    /// Names are looked up again after this time.
    static let refresh = Duration.seconds(600)
    /// After a look-up without an answer.
    static let retry = Duration.seconds(30)

    private struct Entry {
        var locator: Locator?
        var addresses: Set<IPAddress> = []
        var lookups: [LookupID: DNSQuestion] = [:]
        var due: Instant?
    }
    private var entries: [Locator.Destination: Entry] = [:]

    var deadline: Instant? { entries.values.lazy.compactMap(\.due).min() }

    /// The addresses known for a destination.
    func addresses(of destination: Locator.Destination) -> Set<IPAddress> {
        if let address = IPAddress(destination.host) { return [address] }
        return entries[destination]?.addresses ?? []
    }

    /// What is to be known from now on.
    mutating func want(_ destinations: Set<Locator.Destination>, at now: Instant) {
        let names = destinations.filter { IPAddress($0.host) == nil }
        entries = entries.filter { names.contains($0.key) }
        for name in names where entries[name] == nil { entries[name] = Entry(due: now) }
    }

    /// The resolver or the network is another one: asks again.
    mutating func expire(at now: Instant) {
        for name in entries.keys {
            entries[name]?.locator = nil
            entries[name]?.lookups = [:]
            entries[name]?.due = now
        }
    }

    mutating func deadlineReached(at now: Instant, usesIPv6: Bool, _ wire: inout Wire) {
        for (name, entry) in entries where entry.due.map({ $0 <= now }) ?? false {
            // Due again if no answer comes.
            entries[name]?.due = now + Self.retry
            entries[name]?.lookups = [:]
            advance(name, Locator(name, ipv6: usesIPv6), at: now, &wire)
        }
    }

    /// Whether the look-up was one of ours.
    mutating func lookedUp(_ lookup: LookupID, _ answer: DNSAnswer, at now: Instant, _ wire: inout Wire) -> Bool {
        guard let (name, entry) = entries.first(where: { $0.value.lookups[lookup] != nil }),
            let question = entry.lookups[lookup]
        else { return false }
        entries[name]?.lookups[lookup] = nil
        guard var locator = entry.locator else { return true }
        locator.answered(question, answer, random: &wire.random)
        advance(name, locator, at: now, &wire)
        return true
    }

    private mutating func advance(
        _ name: Locator.Destination, _ locator: Locator, at now: Instant, _ wire: inout Wire
    ) {
        entries[name]?.locator = locator
        switch locator.outcome {
        case .success(let targets):
            entries[name]?.addresses = Set(targets.map(\.address.address))
            entries[name]?.due = now + Self.refresh
        case .failure: entries[name]?.due = now + Self.retry
        case nil:
            let asked = Set(entries[name]?.lookups.values.map { $0 } ?? [])
            for question in locator.questions.subtracting(asked) {
                let lookup = LookupID(wire.nextNumber())
                entries[name]?.lookups[lookup] = question
                wire.out.append(.lookUp(lookup, question))
            }
        }
    }
}
