import CLinux
import Synchronization

/// One thread for work that blocks (fsync, loading a file), in order of its coming; the answers arrive on the loop.
package final class HelperThread {
    private let queue: WorkQueue
    private let watch: WakeUpWatch
    private let waiting: Waiting

    package init(on loop: EventLoop) throws(SystemError) {
        let queue = try WorkQueue()
        let waiting = Waiting()
        watch = try loop.wakeUp { waiting.deliver(queue.takeAnswers()) }
        self.queue = queue
        self.waiting = waiting
        let wakeUp = watch.wakeUp
        try Thread.start("portero-helper") {
            while let (number, work) = queue.nextJob() {
                queue.answer(number, work())
                wakeUp.signal()
            }
        }
    }

    deinit { queue.close() }

    /// Runs `work` on the helper thread, then `answer` with its result on the loop's thread. If this object goes
    /// first, work that waits is still done, but nobody hears of it.
    package func run<Result: Sendable>(
        _ work: @escaping @Sendable () -> Result, then answer: @escaping (Result) -> Void
    ) {
        let number = waiting.add { value in if let value = value as? Result { answer(value) } }
        queue.add(number, work)
    }
}

/// The loop's side: who waits for which answer.
private final class Waiting {
    private var handlers: [UInt64: (any Sendable) -> Void] = [:]
    private var last: UInt64 = 0

    func add(_ handler: @escaping (any Sendable) -> Void) -> UInt64 {
        last &+= 1
        handlers[last] = handler
        return last
    }

    func deliver(_ answers: [(UInt64, any Sendable)]) {
        for (number, value) in answers { handlers.removeValue(forKey: number)?(value) }
    }
}

/// What both threads share.
private final class WorkQueue: Sendable {
    private struct State {
        var jobs: [(UInt64, @Sendable () -> any Sendable)] = []
        var answers: [(UInt64, any Sendable)] = []
        var isClosed = false
    }
    private let state = Mutex(State())
    /// Counts the jobs; reading it blocks while there are none.
    private let available: FileDescriptor

    init() throws(SystemError) {
        available = try FileDescriptor(
            eventfd(0, Int32(EFD_CLOEXEC | EFD_SEMAPHORE)), "helper thread", "eventfd")
    }

    func add(_ number: UInt64, _ work: @escaping @Sendable () -> any Sendable) {
        state.withLock { $0.jobs.append((number, work)) }
        _ = eventfd_write(available.number, 1)
    }

    func close() {
        state.withLock { $0.isClosed = true }
        _ = eventfd_write(available.number, 1)
    }

    /// Blocks until there is a job; nil once the queue is closed and empty.
    func nextJob() -> (UInt64, @Sendable () -> any Sendable)? {
        while true {
            var count: eventfd_t = 0
            _ = eventfd_read(available.number, &count)
            let (job, isOver) = state.withLock { state in
                state.jobs.isEmpty ? (nil, state.isClosed) : (state.jobs.removeFirst(), false)
            }
            if let job { return job }
            if isOver { return nil }
        }
    }

    func answer(_ number: UInt64, _ value: any Sendable) { state.withLock { $0.answers.append((number, value)) } }

    func takeAnswers() -> [(UInt64, any Sendable)] {
        state.withLock { state in
            let answers = state.answers
            state.answers = []
            return answers
        }
    }
}
