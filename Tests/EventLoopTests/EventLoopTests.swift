import CLinux
import EventLoop
import Primitives
import Testing

extension EventLoop {
    /// Turns until the condition holds; false after a generous time.
    func turn(until condition: () -> Bool, within limit: Duration = .seconds(20)) throws -> Bool {
        let end = now + limit
        while !condition() {
            if now >= end { return false }
            try turn(atMost: .milliseconds(50))
        }
        return true
    }
}

@Suite struct EventLoopTests {
    @Test func timerFiresOnceAndNotBeforeItsDeadline() throws {
        let loop = try EventLoop()
        var fired: [Instant] = []
        let timer = try loop.timer { fired.append(loop.now) }
        let deadline = loop.now + .milliseconds(5)
        timer.set(deadline: deadline)
        #expect(timer.deadline == deadline)
        #expect(try loop.turn(until: { !fired.isEmpty }))
        #expect(fired[0] >= deadline)
        #expect(timer.deadline == nil)
        try loop.turn(atMost: .milliseconds(10))
        #expect(fired.count == 1)
    }

    @Test func timerSetInItsHandlerFiresAgainAndAnUnsetOneDoesNot() throws {
        let loop = try EventLoop()
        var count = 0
        var again: LoopTimer?
        let timer = try loop.timer {
            count += 1
            if count < 3 { again?.set(deadline: loop.now) }
        }
        again = timer
        var other = 0
        let off = try loop.timer { other += 1 }
        off.set(deadline: loop.now + .milliseconds(1))
        off.set(deadline: nil)
        timer.set(deadline: .zero)
        #expect(try loop.turn(until: { count == 3 }))
        try loop.turn(atMost: .milliseconds(10))
        #expect(other == 0)
        again = nil
    }

    @Test func watchReportsReadinessUntilItGoes() throws {
        let loop = try EventLoop()
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var seen: [Events] = []
        var watch: Watch? = try loop.watch(ends[0], .readable) { seen.append($0) }
        #expect(write(ends[1], "x", 1) == 1)
        try loop.turn(atMost: .seconds(5))
        #expect(seen == [.readable])
        watch?.isEnabled = false
        try loop.turn(atMost: .zero)
        #expect(seen.count == 1)
        watch?.isEnabled = true
        try loop.turn(atMost: .seconds(5))
        #expect(seen.count == 2)
        watch = nil
        try loop.turn(atMost: .zero)
        #expect(seen.count == 2)
    }

    @Test func watchMayGoInItsOwnHandler() throws {
        let loop = try EventLoop()
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        var watch: Watch?
        var count = 0
        watch = try loop.watch(ends[0], .readable) { _ in
            count += 1
            watch = nil
        }
        #expect(write(ends[1], "x", 1) == 1)
        try loop.turn(atMost: .seconds(5))
        try loop.turn(atMost: .zero)
        #expect(count == 1)
        #expect(watch == nil)
    }

    @Test func nextTurnRunsAfterTheCallerAndBeforeAfterTurn() throws {
        let loop = try EventLoop()
        var order: [String] = []
        loop.afterTurn = { order.append("after") }
        loop.nextTurn {
            order.append("first")
            loop.nextTurn { order.append("second") }
        }
        order.append("caller")
        try loop.turn(atMost: .zero)
        try loop.turn(atMost: .zero)
        #expect(order == ["caller", "first", "after", "second", "after"])
    }

    @Test func runEndsWithTheFirstCode() throws {
        let loop = try EventLoop()
        loop.nextTurn {
            loop.stop(3)
            loop.stop(4)
        }
        #expect(try loop.run() == 3)
    }

    @Test func otherThreadsWakeTheLoop() throws {
        let loop = try EventLoop()
        var count = 0
        let watch = try loop.wakeUp { count += 1 }
        let wakeUp = watch.wakeUp
        try Thread.start("waker") { wakeUp.signal() }
        #expect(try loop.turn(until: { count == 1 }))
        wakeUp.signal()
        wakeUp.signal()
        try loop.turn(atMost: .seconds(5))
        try loop.turn(atMost: .zero)
        #expect(count == 2)
    }

    @Test func helperAnswersInOrderOnTheLoop() throws {
        let loop = try EventLoop()
        let helper = try HelperThread(on: loop)
        let own = pthread_self()
        var answers: [Int] = []
        for number in 0..<100 {
            helper.run({ number * 2 }) { (result: Int) in
                #expect(pthread_equal(own, pthread_self()) != 0)
                answers.append(result)
            }
        }
        #expect(try loop.turn(until: { answers.count == 100 }))
        #expect(answers == (0..<100).map { $0 * 2 })
    }
}
