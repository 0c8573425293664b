import CALSA
import Glibc
import Primitives

/// A microphone at an ALSA PCM. Its clock drives the engine.
package final class ALSACapture: Capture {
    private let device: ALSADevice
    private let resampler: Resampler
    private let raw: SampleBuffer
    private let converted: SampleBuffer
    private let queue: SampleQueue
    private let tick: Int
    private var isStarted = false

    /// Ticks that may wait; what is older is left out (after a stall, when the timer made ticks without us).
    private static let backlog = 8

    /// - Throws: ``AudioError/device(_:action:number:)``.
    package init(_ name: String, _ format: DeviceFormat) throws(AudioError) {
        let device = try ALSADevice(name, SND_PCM_STREAM_CAPTURE, format)
        self.device = device
        resampler = try Resampler(from: device.rateHertz, to: format.rateHertz)
        raw = SampleBuffer(count: device.bufferFrames)
        converted = SampleBuffer(
            count: Resampler.outputBound(device.bufferFrames, from: device.rateHertz, to: format.rateHertz))
        tick = Tick.samples(rateHertz: format.rateHertz)
        queue = SampleQueue(capacity: max(2 * tick * Self.backlog, 2 * converted.samples.count))
    }

    package var isClocked: Bool { true }
    package var xruns: Int { device.xruns }
    package var ticks: Int { queue.count / tick }

    package func descriptors(into polls: UnsafeMutableRawPointer) -> Int {
        // A failure shows itself again when frames are collected.
        if !isStarted { _ = start() }
        let polls = polls.assumingMemoryBound(to: pollfd.self)
        return max(0, Int(snd_pcm_poll_descriptors(device.pcm, polls, UInt32(Descriptors.limit))))
    }

    package func collect(_ polls: UnsafeMutableRawPointer, count: Int) -> DeviceCondition {
        if !isStarted { return start() }
        if count > 0 {
            // Some plug-ins count their timer's ticks here; the answer itself is not needed.
            var events: UInt16 = 0
            let polls = polls.assumingMemoryBound(to: pollfd.self)
            let result = snd_pcm_poll_descriptors_revents(device.pcm, polls, UInt32(count), &events)
            if result == -ENODEV { return .lost(ENODEV) }
        }
        let available = device.available()
        if available < 0 { return recover(from: available) }
        var left = available
        while left > 0 {
            let read = device.read(into: raw.prefix(left))
            if read < 0 { return recover(from: read) }
            if read == 0 { break }
            left -= read
            let made = resampler.process(UnsafeBufferPointer(raw.prefix(read)), into: converted.samples).made
            queue.push(UnsafeBufferPointer(converted.prefix(made)))
        }
        if queue.count > Self.backlog * tick { queue.drop(queue.count - 2 * tick) }
        return .working
    }

    package func read(_ tick: UnsafeMutableBufferPointer<Int16>) {
        let count = queue.pop(into: tick)
        for index in count..<tick.count { tick[index] = 0 }
    }

    private func recover(from error: Int) -> DeviceCondition {
        if let number = device.recover(from: error) { return .lost(number) }
        return start()
    }

    private func start() -> DeviceCondition {
        let result = snd_pcm_start(device.pcm)
        isStarted = result == 0
        if result == 0 || result == -EBADFD { return .working }
        return device.recover(from: Int(result)).map { .lost($0) } ?? .working
    }
}
