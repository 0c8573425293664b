import CALSA
import Primitives

/// A speaker or ringer at an ALSA PCM.
///
/// It keeps the card's buffer filled to a goal that is as low as the card and the machine allow: each underrun raises it. When
/// another clock drives the engine, a difference of the clocks shows in the filling and is taken out by bending the rate.
package final class ALSAPlayback: Playback {
    private let device: ALSADevice
    private let resampler: Resampler
    private var bend: RateBend
    private let converted: SampleBuffer
    private let bent: SampleBuffer
    private let tick: Int
    private var isStarted = false
    /// Frames that the buffer shall hold right after a tick was written.
    private var goal: Int
    private var skipped = 0
    private var filling = 0
    private var lastFilling = 0
    private var motionlessTicks = 0

    package var follows = false

    /// The goal never grows beyond this many ticks.
    private static let goalTicks = 8
    /// Ticks without any movement of the card's pointer that make it lost.
    private static let motionlessLimit = 100

    /// - Throws: ``AudioError/device(_:action:number:)``.
    package init(_ name: String, _ format: DeviceFormat) throws(AudioError) {
        let device = try ALSADevice(name, SND_PCM_STREAM_PLAYBACK, format)
        self.device = device
        resampler = try Resampler(from: format.rateHertz, to: device.rateHertz)
        tick = Tick.samples(rateHertz: device.rateHertz)
        let bound = Resampler.outputBound(
            Tick.samples(rateHertz: format.rateHertz), from: format.rateHertz, to: device.rateHertz)
        converted = SampleBuffer(count: bound)
        bent = SampleBuffer(count: bound + bound / 50 + 4)
        bend = RateBend()
        // Two ticks, and what the card may take at once.
        goal = min(device.bufferFrames - tick, 2 * tick + max(0, device.periodFrames - tick))
    }

    package var isClocked: Bool { true }
    package var xruns: Int { device.xruns + skipped }

    package var delayNanoseconds: Int64 { Int64(filling) * 1_000_000_000 / Int64(device.rateHertz) }

    package func nanosecondsToNextTick() -> Int64 {
        if !isStarted { return 0 }
        let available = device.available()
        // An error shows itself again when the tick is played.
        if available < 0 { return 0 }
        let surplus = device.bufferFrames - available - (goal - tick)
        return surplus <= 0 ? 0 : Int64(surplus) * 1_000_000_000 / Int64(device.rateHertz)
    }

    package func play(_ samples: UnsafeMutableBufferPointer<Int16>) -> DeviceCondition {
        let available = device.available()
        if available < 0 {
            if let number = device.recover(from: available) { return .lost(number) }
            isStarted = false
            goal = min(goal + tick / 2, Self.goalTicks * tick, device.bufferFrames - tick)
        }
        filling = isStarted ? device.bufferFrames - max(0, available) : filling(available)
        if isStarted, let number = watchMotion() { return .lost(number) }
        let count = resampler.process(UnsafeBufferPointer(samples), into: converted.samples).made
        var ready = converted.prefix(count)
        if follows, isStarted {
            bend.observe(surplus: filling + tick - goal, tick: tick)
            if bend.isActive { ready = bent.prefix(bend.process(ready, into: bent.samples)) }
        }
        if isStarted, filling + ready.count > goal + 4 * tick {
            // Far too much waits already (the driver made up for a stall): this tick goes unheard.
            skipped += 1
            return .working
        }
        return write(ready)
    }

    private func filling(_ available: Int) -> Int { available < 0 ? 0 : max(0, device.bufferFrames - available) }

    private func write(_ samples: UnsafeMutableBufferPointer<Int16>) -> DeviceCondition {
        let written = device.write(UnsafeBufferPointer(samples))
        if written < 0 {
            isStarted = false
            return device.recover(from: written).map { .lost($0) } ?? .working
        }
        filling += written
        if !isStarted, filling >= goal {
            let result = snd_pcm_start(device.pcm)
            if result < 0, result != -EBADFD {
                return device.recover(from: Int(result)).map { .lost($0) } ?? .working
            }
            isStarted = true
            motionlessTicks = 0
        }
        return .working
    }

    /// - Returns: an error number if the card takes nothing any more.
    private func watchMotion() -> Int32? {
        motionlessTicks = filling < lastFilling + tick / 2 ? 0 : motionlessTicks + 1
        lastFilling = filling
        return motionlessTicks > Self.motionlessLimit ? 5 : nil
    }
}
