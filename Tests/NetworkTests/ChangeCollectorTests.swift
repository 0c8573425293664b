import Network
import Primitives
import Testing

@Suite struct ChangeCollectorTests {
    private func at(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

    /// Feeds changes and returns when it ran, all in milliseconds.
    private func runs(changes: [Int]) -> [Int] {
        var collector = ChangeCollector()
        var runs: [Int] = []
        var left = changes[...]
        while true {
            let due = collector.deadline
            if let next = left.first, due.map({ at(next) < $0 }) ?? true {
                left.removeFirst()
                collector.change(at: at(next))
            } else if let due {
                let early = collector.isDue(at: due - .nanoseconds(1))
                let inTime = collector.isDue(at: due)
                #expect(!early && inTime)
                collector.acted(at: due)
                runs.append(Int((due - .zero).inMilliseconds))
            } else {
                return runs
            }
        }
    }

    @Test func oneChangeRunsAfterTheWindow() { #expect(runs(changes: [0]) == [300]) }

    @Test func changesCloseTogetherAreOne() { #expect(runs(changes: [0, 100, 250]) == [550]) }

    @Test func aStreamOfChangesDoesNotPutTheRunOff() {
        #expect(runs(changes: [0, 200, 400, 599, 650]) == [600, 950])
    }

    @Test func twoChangesASecondApartAreTwo() { #expect(runs(changes: [0, 1000]) == [300, 1300]) }

    @Test func theFourthRunWaitsAndTheLastChangeGetsItsRun() {
        #expect(runs(changes: [0, 1000, 2000, 3000, 4000, 8000]) == [300, 1300, 2300, 7300, 12_300])
    }

    @Test func looksThatFoundNothingHoldNothingBack() {
        var collector = ChangeCollector()
        for second in 0..<5 {
            collector.change(at: at(1000 * second))
            let isDue = collector.isDue(at: at(1000 * second + 300))
            #expect(isDue)
        }
    }

    @Test func calmEndsTheHoldingBack() {
        #expect(runs(changes: [0, 1000, 2000, 20_000, 21_000]) == [300, 1300, 2300, 20_300, 21_300])
    }

    /// Whatever comes: no change is left without a run after it, and there are never five runs within ten seconds.
    @Test(arguments: 0..<200)
    func everyChangeIsFollowedByARun(seed: Int) {
        var random = Randomness.seeded(UInt64(seed))
        var time = 0
        let changes = (0..<60).map { _ in
            time += Int.random(in: 1...(seed % 2 == 0 ? 400 : 3000), using: &random)
            return time
        }
        let runs = runs(changes: changes)
        for change in changes { #expect(runs.contains { $0 > change && $0 - change <= 5600 }) }
        for (index, run) in runs.enumerated() where index >= 4 { #expect(run - runs[index - 4] > 5000) }
    }
}
