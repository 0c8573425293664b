import Primitives
import SDP
import SIP
import Simulation
import Testing
import UserAgent

/// Three agents at a PBX: calls handed on from one to another (D14, D15).
@Suite struct AgentTransferTests {
    private let world: SimulatedWorld
    private let door: SimulatedDevice
    private let phone: SimulatedDevice
    private let attic: SimulatedDevice

    init() { self.init(seed: 1, .ideal) }

    private init(seed: UInt64, _ conditions: NetworkConditions) {
        let world = SimulatedWorld(seed: seed, conditions: conditions, hashes: .forTests)
        func add(_ name: String, _ number: UInt32) -> SimulatedDevice {
            let device = world.addDevice(name, number: number) { $0.acceptTransfer = .everybody }
            device.react = { [(.milliseconds(1), .ring($0.call)), (.milliseconds(300), .answer($0.call))] }
            return device
        }
        self.world = world
        door = add("door", 7)
        phone = add("phone", 20)
        attic = add("attic", 30)
        world.run(for: conditions.loss > 0 ? .seconds(70) : .seconds(2))
    }

    private func uri(_ user: String) -> SIPURI {
        SIPURI(user: user, host: Host(SimulatedWorld.pbxAddress.address), port: SimulatedWorld.pbxAddress.port)
    }

    private func doorCallsPhone() throws -> (atDoor: CallKey, atPhone: CallKey) {
        let call = world.dial("phone", from: door)
        world.run(for: .seconds(2))
        #expect(door.state(call) == .talking)
        return (call, try #require(phone.incoming.last?.call))
    }

    private func expectTalk(_ device: SimulatedDevice, _ other: SimulatedDevice) {
        #expect(device.liveCalls.count == 1)
        #expect(other.liveCalls.count == 1)
        guard let call = device.liveCalls.first, let its = other.liveCalls.first else { return }
        #expect(device.plans[call]?.remote == other.plans[its]?.local)
        #expect(other.plans[its]?.remote == device.plans[call]?.local)
        #expect(device.plans[call]?.direction == .sendrecv)
    }

    private func expectRest() {
        for device in [door, phone, attic] {
            for call in device.liveCalls { world.give(.hangUp(call, .normal), device) }
        }
        world.run(for: .seconds(100))
        for device in [door, phone, attic] {
            #expect(device.liveCalls.isEmpty)
            #expect(device.reservedPorts == 0)
        }
        #expect(!world.isSpinning)
    }

    @Test func blindTransfer() throws {
        let (atDoor, atPhone) = try doorCallsPhone()
        world.give(.transfer(atPhone, .uri(uri("attic"))), phone)
        world.run(for: .seconds(5))
        #expect(phone.transfers.map(\.state) == [.started, .done])
        #expect(phone.calls[atPhone]?.last?.cause == "transferred")
        #expect(door.calls[atDoor]?.last?.cause == "transferred")
        #expect(door.transfers.map(\.state) == [.started, .done])
        let asked = try #require(door.transfers.first)
        #expect(asked.isAskedByPeer)
        #expect(asked.call == atDoor)
        #expect(asked.other == door.liveCalls.first)
        #expect(attic.incoming.first?.caller.user == "door")
        expectTalk(door, attic)
        expectRest()
    }

    @Test func blindTransferThatFails() throws {
        let (atDoor, atPhone) = try doorCallsPhone()
        world.give(.transfer(atPhone, .uri(uri("nobody"))), phone)
        world.run(for: .seconds(5))
        #expect(phone.transfers.last?.state == .failed)
        #expect(phone.transfers.last?.code == 404)
        #expect(door.transfers.map(\.state) == [.started, .failed])
        #expect(phone.state(atPhone) == .talking)
        #expect(door.state(atDoor) == .talking)
        expectTalk(door, phone)
        expectRest()
    }

    /// The phone asks the attic first, then lets both talk: Replaces takes the place of the second call.
    @Test func attendedTransfer() throws {
        let (atDoor, atPhone) = try doorCallsPhone()
        let second = world.dial("attic", from: phone)
        world.run(for: .seconds(2))
        let former = try #require(attic.incoming.last?.call)
        world.give(.transfer(atPhone, .call(second)), phone)
        world.run(for: .seconds(5))
        #expect(phone.liveCalls.isEmpty)
        #expect(door.calls[atDoor]?.last?.cause == "transferred")
        let new = try #require(attic.incoming.last)
        #expect(new.replaces == former)
        #expect(attic.calls[former]?.last?.cause == "transferred")
        expectTalk(door, attic)
        expectRest()
    }

    @Test func attendedTransferNeedsAnAnsweredCall() throws {
        let (_, atPhone) = try doorCallsPhone()
        attic.react = { [(.milliseconds(1), .ring($0.call))] }
        let second = world.dial("attic", from: phone)
        world.run(for: .seconds(2))
        world.give(.transfer(atPhone, .call(second)), phone)
        #expect(phone.transfers.last?.state == .failed)
        #expect(phone.state(atPhone) == .talking)
        expectRest()
    }

    /// D15: a phone that rings is relieved by another one that answers in its place (directed pickup).
    @Test func ringingCallIsPickedUp() throws {
        phone.react = { [(.milliseconds(1), .ring($0.call))] }
        let call = world.dial("phone", from: door)
        world.run(for: .seconds(1))
        let ringing = try #require(
            world.sent.compactMap { item -> Response? in
                if case .response(let response)? = try? Message.parse(datagram: item.octets) { response } else { nil }
            }.first { $0.status == 180 })
        var order = DialOrder(call: attic.numbering.next(), uri: uri("door"), account: "attic")
        order.replaces = Replaces(
            callID: ringing.callID, toTag: ringing.from.tag ?? "", fromTag: ringing.to.tag ?? "")
        world.give(.dial(order), attic)
        world.run(for: .seconds(2))
        #expect(door.calls[call]?.last?.cause == "answered-elsewhere")
        #expect(phone.liveCalls.isEmpty)
        #expect(phone.calls.values.first?.last?.cause == "answered-elsewhere")
        #expect(door.incoming.last?.replaces == call)
        expectTalk(door, attic)
        expectRest()
    }

    /// Whatever is lost, doubled or late: every call ends, and nothing is left over (D20).
    @Test(arguments: 0..<4) func everyTransferEnds(block: UInt64) throws {
        for seed in (block * 10)..<(block * 10 + 10) {
            var random = Randomness.seeded(seed)
            let town = AgentTransferTests(seed: seed, .random(&random))
            let call = town.world.dial("phone", from: town.door)
            town.world.run(for: random.duration(in: .seconds(1) ... .seconds(8)))
            let target = Int.random(in: 0..<3, using: &random)
            if target == 2 { _ = town.world.dial("attic", from: town.phone) }
            town.world.run(for: random.duration(in: .seconds(1) ... .seconds(8)))
            let live = town.phone.liveCalls
            if target == 2, live.count > 1 {
                town.world.give(.transfer(live[0], .call(live[1])), town.phone)
            } else if let first = live.first {
                town.world.give(.transfer(first, .uri(town.uri(target == 0 ? "attic" : "nobody"))), town.phone)
            }
            town.world.run(for: random.duration(in: .zero ... .seconds(20)))
            if Bool.random(using: &random) { town.world.give(.hangUp(call, .normal), town.door) }
            town.world.run(for: .seconds(200))
            for device in [town.door, town.phone, town.attic] {
                for call in device.liveCalls { town.world.give(.hangUp(call, .mediaTimeout), device) }
            }
            town.world.run(for: .seconds(300))
            for device in [town.door, town.phone, town.attic] {
                #expect(device.liveCalls.isEmpty, "seed \(seed): \(device.name) still has a call")
                #expect(device.reservedPorts == 0, "seed \(seed): \(device.name) still has ports")
            }
            #expect(!town.world.isSpinning, "seed \(seed): never comes to rest")
        }
    }
}
