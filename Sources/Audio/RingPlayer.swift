import Primitives

/// Plays a ring sound again and again. Made elsewhere, used by the media thread.
package final class RingPlayer {
    private let sound: Sound
    private let spacing: Int
    private let gain: Gain
    private let scratch: SampleBuffer
    private var position = 0

    /// - Parameters:
    ///   - sound: at the engine's rate.
    ///   - every: from the start of one ring to the start of the next; a longer sound is played to its end.
    package init(_ sound: Sound, gain: Gain, every: Duration) {
        self.sound = sound
        self.gain = gain
        let wanted = Int(clamping: every.nanoseconds / 1_000_000) &* sound.rateHertz / 1000
        spacing = max(sound.samples.count, wanted, 1)
        scratch = SampleBuffer(count: Tick.samples(rateHertz: sound.rateHertz))
    }

    /// Adds the next tick to what is in the buffer.
    package func add(to tick: UnsafeMutableBufferPointer<Int16>) {
        let part = scratch.prefix(tick.count)
        if position < sound.samples.count {
            _ = sound.copy(from: position, into: part)
            gain.apply(to: part)
            mix(part, into: tick)
        }
        position += tick.count
        if position >= spacing { position = 0 }
    }
}
