package import Primitives

/// Tells a press from a hold. Without a hold time a press counts when it begins, with one when it ends before.
package struct PressDetector: Sendable {
    package enum Gesture: String, Equatable, Sendable { case press, hold, release }

    /// nil: the button has no action for holding.
    package var holdTime: Duration?
    private var pressedAt: Instant?
    private var isHeld = false

    package init(holdTime: Duration?) { self.holdTime = holdTime }

    package var isPressed: Bool { pressedAt != nil }

    /// When the press becomes a hold.
    package var deadline: Instant? {
        guard let holdTime, let pressedAt, !isHeld else { return nil }
        return pressedAt + holdTime
    }

    package mutating func change(toPressed pressed: Bool, at time: Instant) -> [Gesture] {
        if pressed {
            guard pressedAt == nil else { return [] }
            pressedAt = time
            isHeld = false
            return holdTime == nil ? [.press] : []
        }
        guard pressedAt != nil else { return [] }
        var gestures = passed(time)
        if holdTime != nil, !isHeld { gestures.append(.press) }
        pressedAt = nil
        return gestures + [.release]
    }

    /// The hold, when its time has come.
    package mutating func passed(_ now: Instant) -> [Gesture] {
        guard let deadline, now >= deadline else { return [] }
        isHeld = true
        return [.hold]
    }
}
