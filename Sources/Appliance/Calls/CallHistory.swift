package import Primitives
package import UserAgent

/// The last calls, each with what was decided about it and why (C14): for `portero history` and `portero explain`.
///
/// It is kept in memory alone, so that calls wear out no flash; the journal has them too.
package struct CallHistory: Sendable {
    /// Calls that are remembered, and sentences about one of them.
    package static let limit = 64
    package static let stepLimit = 32
    /// Calls that were refused or dropped before anybody heard of them.
    package static let refusedLimit = 16

    package struct Entry: Equatable, Sendable {
        package var call: CallKey
        package var since: UTCTime
        /// As told last; nil: nothing yet.
        package var status: CallStatus?
        package var group: String?
        package var answeredAt: UTCTime?
        package var endedAt: UTCTime?
        /// What was decided, in order; sentences without their end.
        package var steps: [String] = []
    }

    package struct Refusal: Equatable, Sendable {
        package var at: UTCTime
        package var call: RefusedCall
    }

    /// In the order in which they began.
    package private(set) var entries: [Entry] = []
    package private(set) var refused: [Refusal] = []
    /// Calls that got no answer since the start.
    package private(set) var dropped = 0

    package init() {}

    /// Something was decided about a call.
    package mutating func decided(_ text: String, about call: CallKey, at time: UTCTime) {
        let index = index(of: call, at: time)
        if entries[index].steps.count < Self.stepLimit { entries[index].steps.append(text) }
    }

    package mutating func changed(_ status: CallStatus, group: String?, at time: UTCTime) {
        let index = index(of: status.call, at: time)
        entries[index].status = status
        if let group { entries[index].group = group }
        if status.answeredAt != nil, entries[index].answeredAt == nil { entries[index].answeredAt = time }
        if status.state == .ended { entries[index].endedAt = time }
    }

    /// A call that nobody heard of. One that is dropped again and again takes one place.
    package mutating func refused(_ call: RefusedCall, at time: UTCTime) {
        if call.code == nil { dropped += 1 }
        if let last = refused.last, last.call.code == call.code, last.call.source.address == call.source.address {
            refused.removeLast()
        }
        if refused.count == Self.refusedLimit { refused.removeFirst() }
        refused.append(Refusal(at: time, call: call))
    }

    private mutating func index(of call: CallKey, at time: UTCTime) -> Int {
        if let index = entries.lastIndex(where: { $0.call == call }) { return index }
        if entries.count == Self.limit { entries.removeFirst() }
        entries.append(Entry(call: call, since: time))
        return entries.count - 1
    }
}
