/// A speaker that nobody hears.
package final class SilentPlayback: Playback {
    package init() {}
    package var isClocked: Bool { false }
    package var follows = true
    package var xruns: Int { 0 }
    package func nanoseconds(untilRoomFor ticks: Int) -> Int64 { 0 }
    package func play(_ ticks: UnsafeMutableBufferPointer<Int16>) -> DeviceCondition { .working }
}

/// What every microphone without a clock has in common.
package class UnclockedCapture: Capture {
    package init() {}
    package final var isClocked: Bool { false }
    package final var ticks: Int { 0 }
    package final var xruns: Int { 0 }
    package final func descriptors(into polls: UnsafeMutableRawPointer) -> Int { 0 }
    package final func collect(_ polls: UnsafeMutableRawPointer, count: Int) -> DeviceCondition { .working }
    package func read(_ tick: UnsafeMutableBufferPointer<Int16>) { tick.silence() }
}

/// A sine wave as a microphone.
package final class ToneCapture: UnclockedCapture {
    private var oscillator: Oscillator

    /// A quarter of full scale.
    private static let amplitude: Float = 8192

    package init(hertz: Int, rateHertz: Int) {
        oscillator = Oscillator(hertz: Float(hertz), rateHertz: rateHertz, amplitude: Self.amplitude)
    }

    package override func read(_ tick: UnsafeMutableBufferPointer<Int16>) {
        tick.silence()
        oscillator.add(to: tick)
    }
}

/// A sound as a microphone: from its beginning, then silence.
package final class SoundCapture: UnclockedCapture {
    private let sound: Sound
    private var position = 0

    /// - Parameter sound: at the engine's rate.
    package init(_ sound: Sound) { self.sound = sound }

    package override func read(_ tick: UnsafeMutableBufferPointer<Int16>) {
        position += sound.copy(from: position, into: tick)
    }
}
