/// Plays a tone plan tick by tick. Made elsewhere, used by the media thread.
package final class TonePlayer {
    private struct Burst {
        var first: Oscillator
        var second: Oscillator
        var samples: Int
    }

    private let bursts: UnsafeMutableBufferPointer<Burst>
    private let scratch: SampleBuffer
    private let fade: Int
    private var roundsLeft: Int
    private var index = 0
    private var position = 0

    /// - Parameter rateHertz: the engine's rate.
    package init(_ plan: TonePlan, rateHertz: Int) {
        bursts = .allocate(capacity: plan.segments.count)
        for (index, segment) in plan.segments.enumerated() {
            let make = { Oscillator(hertz: $0, rateHertz: rateHertz, amplitude: plan.amplitude) }
            bursts.initializeElement(
                at: index,
                to: Burst(
                    first: make(segment.first), second: make(segment.second),
                    samples: max(1, segment.milliseconds * rateHertz / 1000)))
        }
        roundsLeft = plan.rounds ?? .max
        fade = max(1, rateHertz / 250)
        scratch = SampleBuffer(count: Tick.samples(rateHertz: rateHertz))
    }

    deinit { bursts.deallocate() }

    /// Adds the next tick to what is in the buffer.
    /// - Returns: false once the plan is over.
    package func add(to tick: UnsafeMutableBufferPointer<Int16>) -> Bool {
        var done = 0
        while done < tick.count {
            if bursts.isEmpty || roundsLeft <= 0 { return false }
            let length = bursts[index].samples
            let count = min(tick.count - done, length - position, scratch.samples.count)
            let part = scratch.prefix(count)
            part.silence()
            bursts[index].first.add(to: part)
            bursts[index].second.add(to: part)
            shape(part, of: length)
            mix(part, into: UnsafeMutableBufferPointer(rebasing: tick[done...]))
            done += count
            position += count
            if position >= length { advance() }
        }
        return roundsLeft > 0
    }

    private func advance() {
        position = 0
        index += 1
        if index == bursts.count {
            index = 0
            if roundsLeft != .max { roundsLeft -= 1 }
        }
        bursts[index].first.restart()
        bursts[index].second.restart()
    }

    /// Fades a burst in and out over four milliseconds, so that it does not click.
    private func shape(_ part: UnsafeMutableBufferPointer<Int16>, of length: Int) {
        if position >= fade, position + part.count <= length - fade { return }
        for offset in part.indices {
            let edge = min(position + offset, length - 1 - (position + offset))
            if edge < fade { part[offset] = Int16(Int32(part[offset]) * Int32(max(0, edge)) / Int32(fade)) }
        }
    }
}
