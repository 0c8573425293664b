import CSpeexDSP

/// Changes the sample rate of a mono stream. Used by one thread; it allocates only when made.
package final class Resampler {
    private let state: OpaquePointer?
    package let from: Int
    package let to: Int

    /// speexdsp's quality: 4 is inaudible for speech and half the cost of 10.
    private static let quality: Int32 = 4

    /// - Parameters:
    ///   - from, to: rates in Hz, 1…384 000; equal rates copy.
    ///   - isAligned: leave the filter's delay out at the beginning: for whole sounds. A live stream is better off with the delay
    ///     (a few milliseconds) than with ticks that come short by it.
    package init(from: Int, to: Int, isAligned: Bool = false) throws(AudioError) {
        self.from = from
        self.to = to
        if from == to {
            state = nil
            return
        }
        guard (1...384_000).contains(from), (1...384_000).contains(to),
            let state = speex_resampler_init(1, UInt32(from), UInt32(to), Self.quality, nil)
        else { throw .library("no resampler from \(from) Hz to \(to) Hz") }
        if isAligned { speex_resampler_skip_zeros(state) }
        self.state = state
    }

    deinit { if let state { speex_resampler_destroy(state) } }

    /// The most samples that come out of `count` samples.
    package static func outputBound(_ count: Int, from: Int, to: Int) -> Int { count * to / max(1, from) + 2 }

    /// Converts as much as both sides hold.
    /// - Returns: samples used of `input` and made in `output`.
    @discardableResult
    package func process(
        _ input: UnsafeBufferPointer<Int16>, into output: UnsafeMutableBufferPointer<Int16>
    ) -> (used: Int, made: Int) {
        guard let source = input.baseAddress, let target = output.baseAddress else { return (0, 0) }
        guard let state else {
            let count = min(input.count, output.count)
            target.update(from: source, count: count)
            return (count, count)
        }
        var used = spx_uint32_t(truncatingIfNeeded: input.count)
        var made = spx_uint32_t(truncatingIfNeeded: output.count)
        speex_resampler_process_int(state, 0, source, &used, target, &made)
        return (Int(used), Int(made))
    }
}
