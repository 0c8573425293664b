package import Primitives

/// What is wrong now, each with what happens about it: the status's `faults`, and the reason for the fault LED.
package struct FaultBoard: Sendable {
    package struct Fault: Equatable, Sendable {
        /// The operator's thing: `audio hw:1,0`, `button bell`, `configuration`.
        package var what: String
        package var message: String
        package var since: UTCTime
    }

    /// In the order in which they arose.
    package private(set) var faults: [Fault] = []

    package init() {}

    /// - Returns: whether it is news: a fault that stands with the same words is not.
    package mutating func raise(_ what: String, _ message: String, at time: UTCTime) -> Bool {
        if let index = faults.firstIndex(where: { $0.what == what }) {
            if faults[index].message == message { return false }
            faults[index].message = message
        } else {
            faults.append(Fault(what: what, message: message, since: time))
        }
        return true
    }

    /// The things that are wrong now.
    package var things: [String] { faults.map(\.what) }

    /// - Returns: the fault that stood, if any.
    package mutating func clear(_ what: String) -> Fault? {
        faults.firstIndex { $0.what == what }.map { faults.remove(at: $0) }
    }
}
