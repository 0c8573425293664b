import EventLoop
import Primitives

extension EventLoop {
    /// Turns until the condition holds; false after a generous time.
    func turn(until condition: () -> Bool, within limit: Duration = .seconds(20)) throws -> Bool {
        let end = now + limit
        while !condition() {
            if now >= end { return false }
            try turn(atMost: .milliseconds(50))
        }
        return true
    }
}
