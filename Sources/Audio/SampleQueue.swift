/// Samples in mono, first in, first out, in storage of fixed size. Used by one thread.
package final class SampleQueue {
    private let storage: UnsafeMutablePointer<Int16>
    private let mask: Int
    private var head = 0
    /// Samples waiting.
    package private(set) var count = 0

    /// - Parameter capacity: at least so many samples fit.
    package init(capacity: Int) {
        var size = 64
        while size < capacity { size *= 2 }
        storage = .allocate(capacity: size)
        storage.initialize(repeating: 0, count: size)
        mask = size - 1
    }

    deinit { storage.deallocate() }

    /// Samples that still fit.
    package var room: Int { mask + 1 - count }

    /// Appends what fits.
    /// - Returns: how many samples that were.
    @discardableResult
    package func push(_ samples: UnsafeBufferPointer<Int16>) -> Int {
        let taken = min(samples.count, room)
        guard taken > 0, let source = samples.baseAddress else { return 0 }
        let place = (head &+ count) & mask
        let first = min(taken, mask + 1 - place)
        (storage + place).update(from: source, count: first)
        storage.update(from: source + first, count: taken - first)
        count += taken
        return taken
    }

    /// Takes up to `samples.count` samples out.
    /// - Returns: how many were there; the rest of the buffer is left as it is.
    package func pop(into samples: UnsafeMutableBufferPointer<Int16>) -> Int {
        let taken = min(samples.count, count)
        guard taken > 0, let target = samples.baseAddress else { return 0 }
        let first = min(taken, mask + 1 - head)
        target.update(from: storage + head, count: first)
        (target + first).update(from: storage, count: taken - first)
        drop(taken)
        return taken
    }

    /// Takes samples out unheard.
    package func drop(_ samples: Int) {
        let taken = min(max(0, samples), count)
        head = (head &+ taken) & mask
        count -= taken
    }

    package func clear() { drop(count) }
}
