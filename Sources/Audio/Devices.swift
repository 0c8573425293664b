/// A device's condition as its user sees it.
package enum DeviceCondition: Equatable, Sendable {
    case working
    /// It is gone or does not recover; the kernel's error number. It shall be closed and opened again later.
    case lost(Int32)
}

/// Where sound goes to: a loudspeaker, a ringer, a recording. Used by the media thread alone; opened and closed elsewhere.
package protocol Playback: AnyObject {
    /// It has a sample clock of its own, so it can drive the ticks; otherwise it takes them as they come.
    var isClocked: Bool { get }

    /// Plays a few ticks at the engine's rate. It never waits.
    func play(_ ticks: UnsafeMutableBufferPointer<Int16>) -> DeviceCondition

    /// Nanoseconds until the device wants so many ticks; zero or less: now. For a device with a clock.
    func nanoseconds(untilRoomFor ticks: Int) -> Int64

    /// Whether another device drives the ticks: this one then follows by bending its rate a little.
    var follows: Bool { get set }

    /// Underruns, and ticks left out because the device had far too many.
    var xruns: Int { get }
}

/// Where sound comes from. Used by the media thread alone; opened and closed elsewhere.
package protocol Capture: AnyObject {
    /// It has a sample clock of its own and drives the ticks.
    var isClocked: Bool { get }

    /// Fills in what to wait for: `struct pollfd`s, at most ``Descriptors/limit``.
    /// - Returns: how many.
    func descriptors(into polls: UnsafeMutableRawPointer) -> Int

    /// Takes what the device holds, after a wait on its `count` descriptors (0: there was none).
    func collect(_ polls: UnsafeMutableRawPointer, count: Int) -> DeviceCondition

    /// Whole ticks that are there. For a device with a clock.
    var ticks: Int { get }

    /// The next tick at the engine's rate; silence for what is missing.
    func read(_ tick: UnsafeMutableBufferPointer<Int16>)

    /// Overruns.
    var xruns: Int { get }
}

/// The descriptors of a device that the media thread waits for.
package enum Descriptors {
    /// Descriptors that one device may want watched.
    package static let limit = 8
}
