/// Owns samples of fixed number, allocated once and used by one thread.
package final class SampleBuffer {
    /// All the samples.
    package let samples: UnsafeMutableBufferPointer<Int16>

    package init(count: Int) {
        samples = .allocate(capacity: max(1, count))
        samples.initialize(repeating: 0)
    }

    deinit { samples.deallocate() }

    /// The first `count` samples, at most all.
    package func prefix(_ count: Int) -> UnsafeMutableBufferPointer<Int16> {
        UnsafeMutableBufferPointer(rebasing: samples[0..<max(0, min(count, samples.count))])
    }
}

extension UnsafeMutableBufferPointer<Int16> {
    package func silence() { update(repeating: 0) }
}
