import Configuration
import Foundation
import Primitives
import SIP
import Simulation
import Testing

@testable import UserAgent

/// Thousands of calls over bad networks, each from its seed: whatever happens, both sides end, and nothing is left
/// over (D20).
@Suite struct RandomCallTests {
    /// Seeds of a block; `PORTERO_SEEDS` asks for more.
    private static let seeds = ProcessInfo.processInfo.environment["PORTERO_SEEDS"].flatMap { UInt64($0) } ?? 150

    @Test(arguments: 0..<10) func everyCallEnds(block: UInt64) {
        for seed in (block * Self.seeds)..<((block + 1) * Self.seeds) {
            let world = Self.play(seed)
            let isOver = (0..<2).allSatisfy { world.last($0)?.state ?? .ended == .ended }
            #expect(isOver, "seed \(seed): a side does not know that the call is over")
            #expect(world.endpoints[0].reservedPorts + world.endpoints[1].reservedPorts == 0, "seed \(seed)")
            #expect(world.isIdle, "seed \(seed): something is left over")
            let order = world.states(0).last
            #expect(order == .ended, "seed \(seed)")
        }
    }

    /// One call with random intents of both sides.
    private static func play(_ seed: UInt64) -> CallWorld {
        var random = Randomness.seeded(seed)
        var world = CallWorld(seed: seed, conditions: .random(&random))
        world.keepsTrace = false
        // Some with reliable provisional responses, some long enough to be refreshed.
        if Int.random(in: 0..<3, using: &random) == 0 {
            world.endpoints[0].setUp = { $0.headers = [HeaderField(name: "Require", value: "100rel")] }
        }
        let isLong = Int.random(in: 0..<8, using: &random) == 0
        if isLong { for index in 0..<2 { world.endpoints[index].setUp = { $0.sessionTimer = 90 } } }
        func moment(_ range: ClosedRange<Int64>) -> Duration { .milliseconds(Int64.random(in: range, using: &random)) }
        if Bool.random(using: &random) { world.endpoints[1].reactions.append((moment(0...200), .ring)) }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: world.endpoints[1].reactions.append((moment(0...4000), .reject(code: 486)))
        case 1: break
        default: world.endpoints[1].reactions.append((moment(0...4000), .answer))
        }
        let intents: [Call.Input] = [
            .hold, .resume, .sendDigit(0x31), .hold, .resume,
            .addressChanged(.init(local: world.endpoints[0].address, isFormerGone: true)),
            .addressChanged(.init(local: world.endpoints[0].address, isFormerGone: false)),
        ]
        for _ in 0..<Int.random(in: 0..<6, using: &random) {
            let intent = intents.randomElement(using: &random) ?? .hold
            if Bool.random(using: &random) {
                world.endpoints[0].plan(intent, for: CallKey(1), at: .zero + moment(0...20_000))
            } else {
                world.endpoints[1].reactions.append((moment(0...20_000), intent))
            }
        }
        _ = world.dial()
        world.endpoints[0].plan(
            .hangUp(.normal), for: CallKey(1), at: .zero + moment(isLong ? 60_000...400_000 : 0...25_000))
        if !isLong, Bool.random(using: &random) {
            world.endpoints[1].reactions.append((moment(0...25_000), .hangUp(.normal)))
        }
        world.run()
        return world
    }
}
