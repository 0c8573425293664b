import Synchronization

/// A queue between two threads, one that pushes and one that pops, without locks or allocation.
///
/// Elements are plain values; objects travel as unmanaged references, and whoever pops one owns it.
final class LockFreeRing<Element: BitwiseCopyable>: @unchecked Sendable {
    private let storage: UnsafeMutablePointer<Element>
    private let mask: Int
    /// Counts of elements ever popped and pushed; they wrap.
    private let popped = Atomic<Int>(0)
    private let pushed = Atomic<Int>(0)

    /// - Parameter capacity: a power of two.
    init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0)
        storage = .allocate(capacity: capacity)
        mask = capacity - 1
    }

    deinit { storage.deallocate() }

    /// False if it is full: nothing was taken.
    func push(_ element: Element) -> Bool {
        let place = pushed.load(ordering: .relaxed)
        if place &- popped.load(ordering: .acquiring) > mask { return false }
        (storage + (place & mask)).initialize(to: element)
        pushed.store(place &+ 1, ordering: .releasing)
        return true
    }

    func pop() -> Element? {
        let place = popped.load(ordering: .relaxed)
        if pushed.load(ordering: .acquiring) == place { return nil }
        let element = storage[place & mask]
        popped.store(place &+ 1, ordering: .releasing)
        return element
    }
}
