internal import Configuration
internal import Primitives

/// Whether a door is open, and whether it may be.
package enum DoorState: String, Equatable, Sendable {
    case closed, open
    case heldOpen = "held-open"
    /// Opened unbidden.
    case forced
}

/// What the contact of a door tells.
struct DoorSensor: Sendable {
    /// So long after its relay went to rest a door may still be opened.
    static let grace = Duration.seconds(3)

    var contact: Contact
    /// Zero: never.
    var heldOpenAfter: Duration
    /// Nil until the contact has told.
    private(set) var state: DoorState?
    /// Since when the door is open without its relay keeping it so.
    private var openSince: Instant?

    init(_ contact: Contact, heldOpenAfter: Duration) {
        self.contact = contact
        self.heldOpenAfter = heldOpenAfter
    }

    var deadline: Instant? {
        let held = state == .open && heldOpenAfter > .zero ? openSince.map { $0 + heldOpenAfter } : nil
        return earliest(contact.deadline, held)
    }

    /// The line was taken: an open door has not been forced for all that is known.
    mutating func opened(high: Bool, at now: Instant) {
        contact.opened(high: high)
        guard contact.isOn == true else { return (state, openSince) = (.closed, nil) }
        if state == nil || state == .closed { (state, openSince) = (.open, now) }
    }

    /// - Parameter mayOpen: whether the door may be opened at that time.
    /// - Returns: the states that it came to, in order.
    mutating func changed(
        _ changes: [(isOn: Bool, at: Instant)], mayOpen: (Instant) -> Bool
    ) -> [DoorState] {
        changes.map { change in
            let new: DoorState = change.isOn ? (mayOpen(change.at) ? .open : .forced) : .closed
            state = new
            openSince = change.isOn ? change.at : nil
            return new
        }
    }

    /// While the relay is energised the door is kept open on purpose; afterwards it may stay so for its time.
    mutating func relay(isOn: Bool, at now: Instant) {
        guard state == .open else { return }
        openSince = isOn ? nil : now
    }

    /// - Returns: whether the door is held open since now.
    mutating func passed(_ now: Instant) -> Bool {
        guard state == .open, heldOpenAfter > .zero, let openSince, now >= openSince + heldOpenAfter else {
            return false
        }
        state = .heldOpen
        return true
    }
}
