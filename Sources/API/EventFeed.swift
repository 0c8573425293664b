/// What one follower of the events has still to be sent. A follower that is too slow loses the newest and is told how
/// many; nobody waits for it.
package struct EventFeed: Sendable {
    /// Octets that one follower may have waiting.
    package static let limit = 64 * 1024

    private var waiting: [UInt8] = []
    private var sent = 0
    private var missed = 0

    package init() {}

    package var isEmpty: Bool { sent == waiting.count && missed == 0 }

    /// Takes an event (one line of JSON) if there is room. `missedLine` makes the line that tells of a gap.
    package mutating func append(_ line: String, missedLine: (Int) -> String) {
        let text = Self.framed(line)
        if missed > 0 {
            let notice = Self.framed(missedLine(missed))
            guard waiting.count - sent + notice.count + text.count <= Self.limit else {
                missed += 1
                return
            }
            waiting += notice
            missed = 0
        }
        guard waiting.count - sent + text.count <= Self.limit else {
            missed += 1
            return
        }
        waiting += text
    }

    /// Lets the follower hear something, a comment, if nothing else waits.
    package mutating func beat() {
        if isEmpty { waiting += Array(": \n\n".utf8) }
    }

    /// Up to `count` octets of what waits. When all has gone and events were missed, the notice follows at once.
    package mutating func take(upTo count: Int, missedLine: (Int) -> String) -> ArraySlice<UInt8> {
        if sent == waiting.count, missed > 0 {
            waiting = Self.framed(missedLine(missed))
            sent = 0
            missed = 0
        }
        let part = waiting[sent...].prefix(max(0, count))
        sent = part.endIndex
        if sent == waiting.count || sent > Self.limit {
            waiting.removeFirst(sent)
            sent = 0
        }
        return part
    }

    /// One server-sent event (WHATWG HTML §9.2).
    private static func framed(_ line: String) -> [UInt8] { Array("data: \(line)\n\n".utf8) }
}
