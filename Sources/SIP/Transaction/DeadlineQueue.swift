import Primitives

/// The deadlines of many things, least first: a binary heap whose outdated entries are dropped when they come up.
struct DeadlineQueue<ID> {
    private var heap: [(instant: Instant, id: ID)] = []

    var count: Int { heap.count }
    var first: (instant: Instant, id: ID)? { heap.first }

    mutating func insert(_ id: ID, at instant: Instant) {
        heap.append((instant, id))
        var child = heap.count - 1
        while child > 0, heap[child].instant < heap[(child - 1) / 2].instant {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() {
        guard !heap.isEmpty else { return }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].instant < heap[least].instant {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    mutating func removeAll() { heap.removeAll() }
}
