import CALSA
import Glibc
import Primitives

/// A speaker or ringer at an ALSA PCM.
///
/// Right after each burst of ticks the card's buffer holds a goal, which is as low as the card and the machine allow: each
/// underrun raises it. When another clock drives the engine, a difference of the clocks shows in the filling and is taken out by
/// bending the rate.
package final class ALSAPlayback: Playback {
    private let device: ALSADevice
    private let resampler: Resampler
    private var bend = RateBend()
    private let converted: SampleBuffer
    private let bent: SampleBuffer
    private let silence: SampleBuffer
    /// Frames of the card in a tick.
    private let tick: Int
    private let rateHertz: Int
    private var isStarted = false
    /// Frames that shall be left when a burst is added.
    private var reserve: Int
    private var skipped = 0
    private var lastFilling = 0
    private var motionless = 0

    package var follows = false

    /// Ticks that are taken at a time.
    package static let burstLimit = 4
    /// The reserve never grows beyond this many ticks.
    private static let reserveTicks = 6
    /// A surplus beyond this many ticks is cut off instead of bent away.
    private static let surplusTicks = 4
    /// Frames written without any movement of the card's pointer that make it lost, in ticks.
    private static let motionlessTicks = 100

    /// - Throws: ``AudioError/device(_:action:number:)``.
    package init(_ name: String, _ format: DeviceFormat) throws(AudioError) {
        let device = try ALSADevice(name, SND_PCM_STREAM_PLAYBACK, format)
        self.device = device
        rateHertz = format.rateHertz
        resampler = try Resampler(from: format.rateHertz, to: device.rateHertz)
        tick = Tick.samples(rateHertz: device.rateHertz)
        let bound = Resampler.outputBound(
            Self.burstLimit * Tick.samples(rateHertz: format.rateHertz), from: format.rateHertz, to: device.rateHertz)
        converted = SampleBuffer(count: bound)
        bent = SampleBuffer(count: bound + bound / 50 + 4)
        silence = SampleBuffer(count: device.bufferFrames)
        // One tick, and what the card may take at once.
        reserve = tick + max(0, device.periodFrames - tick)
    }

    package var isClocked: Bool { true }
    package var xruns: Int { device.xruns + skipped }

    package func nanoseconds(untilRoomFor ticks: Int) -> Int64 {
        if !isStarted { return 0 }
        let available = device.available()
        // An error shows itself again when something is played.
        if available < 0 { return 0 }
        let surplus = device.bufferFrames - available - boundedReserve(ticks * tick)
        return surplus <= 0 ? 0 : Int64(surplus) * 1_000_000_000 / Int64(device.rateHertz)
    }

    package func play(_ ticks: UnsafeMutableBufferPointer<Int16>) -> DeviceCondition {
        let available = device.available()
        if available < 0 {
            if let number = device.recover(from: available) { return .lost(number) }
            isStarted = false
            reserve = min(reserve + tick / 2, Self.reserveTicks * tick)
        }
        let filling = max(0, device.bufferFrames - max(0, available))
        let count = resampler.process(UnsafeBufferPointer(ticks), into: converted.samples).made
        var ready = converted.prefix(count)
        if !isStarted { return start(with: ready) }
        let surplus = filling - boundedReserve(count)
        if watchMotion(filling, adding: count) { return .lost(EIO) }
        if surplus > Self.surplusTicks * tick {
            // Far too much waits already (the driver made up for a stall): this goes unheard.
            skipped += 1
            return .working
        }
        if follows {
            bend.observe(surplus: surplus, tick: tick)
            if bend.isActive { ready = bent.prefix(bend.process(ready, into: bent.samples)) }
        }
        return write(ready)
    }

    /// The reserve, as far as the card's buffer has room for it beside a burst.
    private func boundedReserve(_ burst: Int) -> Int { max(0, min(reserve, device.bufferFrames - burst)) }

    /// Fills the buffer to its goal, the sound last, and starts the card.
    private func start(with ready: UnsafeMutableBufferPointer<Int16>) -> DeviceCondition {
        let quiet = device.write(UnsafeBufferPointer(silence.prefix(boundedReserve(ready.count))))
        if quiet < 0 { return recover(from: quiet) }
        if case .lost(let number) = write(ready) { return .lost(number) }
        let result = snd_pcm_start(device.pcm)
        // Some plug-ins have started by themselves.
        if result < 0, result != -EBADFD { return recover(from: Int(result)) }
        isStarted = true
        motionless = 0
        bend.restart()
        return .working
    }

    private func write(_ samples: UnsafeMutableBufferPointer<Int16>) -> DeviceCondition {
        let written = device.write(UnsafeBufferPointer(samples))
        return written < 0 ? recover(from: written) : .working
    }

    private func recover(from error: Int) -> DeviceCondition {
        isStarted = false
        return device.recover(from: error).map { .lost($0) } ?? .working
    }

    /// Whether the card takes nothing any more.
    private func watchMotion(_ filling: Int, adding count: Int) -> Bool {
        motionless = filling < lastFilling ? 0 : motionless + count
        lastFilling = filling + count
        return motionless > Self.motionlessTicks * tick
    }
}
