import Foundation
import Primitives
import SIP
import Simulation
import Testing

@testable import UserAgent

/// Whole agents call each other through a forking PBX over bad networks, each call from its seed: with holds of both
/// sides at once, CANCEL races, forks, changes of address. Both sides end, and nothing is left over (D20).
@Suite struct RandomAgentTests {
    /// Seeds of a block; `PORTERO_SEEDS` asks for more.
    private static let seeds = ProcessInfo.processInfo.environment["PORTERO_SEEDS"].flatMap { UInt64($0) } ?? 25

    @Test(arguments: 0..<10) func everyCallEnds(block: UInt64) {
        for seed in (block * Self.seeds)..<((block + 1) * Self.seeds) {
            let world = Self.play(seed)
            #expect(!world.isSpinning, "seed \(seed): the agents never come to rest")
            for device in world.devices {
                let left = device.calls.filter { $0.value.last?.state != .ended }
                #expect(left.isEmpty, "seed \(seed): a call of \(device.name) does not end")
                #expect(device.reservedPorts == 0, "seed \(seed): \(device.name) keeps a port")
                #expect(device.plans.isEmpty, "seed \(seed): \(device.name) keeps its media")
                #expect(device.agent.wire.transactions.count == 0, "seed \(seed): \(device.name) keeps a transaction")
                #expect(device.agent.calls.isEmpty, "seed \(seed): \(device.name) keeps a call")
                let registration = device.accounts[device.name]
                #expect(registration?.state == .registered, "seed \(seed): \(device.name) lost its registration")
            }
        }
    }

    /// Registers in peace, lets the network go bad for the calls, and ends in peace.
    private static func play(_ seed: UInt64) -> SimulatedWorld {
        var random = Randomness.seeded(seed)
        func moment(_ range: ClosedRange<Int64>) -> Duration { .milliseconds(Int64.random(in: range, using: &random)) }
        let world = SimulatedWorld(seed: seed, hashes: .forTests)
        let door = world.addDevice("door", number: 7)
        let phone = world.addDevice("phone", number: 20)
        let kitchen = world.addDevice("kitchen", number: 21)
        if Bool.random(using: &random) { world.pbx.forks["phone"] = ["kitchen"] }
        let intents: [(CallKey) -> UserAgentInput] = [
            { .ring($0) }, { .answer($0) }, { .answer($0) }, { .hold($0) }, { .resume($0) }, { .sendDigit($0, 0x31) },
            { .reject($0, code: 486) }, { .hangUp($0, .normal) },
        ]
        for device in world.devices {
            let reactions = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                (after: moment(0...8000), intent: intents.randomElement(using: &random) ?? { .answer($0) })
            }
            let end = moment(10_000...30_000)
            device.react = { call in
                reactions.map { ($0.after, $0.intent(call.call)) } + [(end, .hangUp(call.call, .normal))]
            }
        }
        world.run(for: .seconds(2))
        world.network.conditions = .random(&random)

        let call = world.dial("phone", from: door)
        let back = Bool.random(using: &random) ? world.dial("door", from: phone) : nil
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
            world.plan(Bool.random(using: &random) ? .hold(call) : .resume(call), after: moment(0...8000), door)
        }
        world.plan(.hangUp(call, .normal), after: moment(0...30_000), door)
        if let back { world.plan(.hangUp(back, .normal), after: moment(0...30_000), phone) }
        world.run(for: moment(0...10_000))
        if Int.random(in: 0..<3, using: &random) == 0 {
            world.move([door, phone, kitchen].randomElement(using: &random) ?? door, to: .v4(0xC000_0230))
        }
        world.run(for: .seconds(60))
        world.network.conditions = .ideal
        world.run(for: .seconds(240))
        return world
    }
}
