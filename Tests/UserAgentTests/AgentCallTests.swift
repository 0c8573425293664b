import Primitives
import SDP
import SIP
import Simulation
import Testing
import UserAgent

/// Agents call each other through a PBX.
@Suite struct AgentCallTests {
    private let world: SimulatedWorld
    private let door: SimulatedDevice
    private let phone: SimulatedDevice

    init() {
        world = SimulatedWorld(seed: 1, hashes: .forTests)
        door = world.addDevice("door", number: 7)
        phone = world.addDevice("phone", number: 20)
        phone.react = { [(.milliseconds(1), .ring($0.call)), (.seconds(2), .answer($0.call))] }
        world.run(for: .seconds(2))
    }

    @Test func bellToVoice() throws {
        #expect(door.accounts["door"]?.state == .registered)
        #expect(phone.accounts["phone"]?.state == .registered)
        let call = world.dial("phone", from: door)
        world.run(for: .seconds(1))
        #expect(door.state(call) == .ringing)
        let other = try #require(phone.incoming.first)
        #expect(other.caller.user == "door")
        world.run(for: .seconds(5))
        #expect(door.state(call) == .talking)
        #expect(door.plans[call]?.remote == phone.plans[other.call]?.local)
        #expect(phone.plans[other.call]?.remote == door.plans[call]?.local)
        world.give(.hold(call), door)
        world.run(for: .seconds(1))
        #expect(phone.state(other.call) == .heldByPeer)
        world.give(.resume(call), door)
        world.give(.sendDigit(call, 0x35), door)
        world.run(for: .seconds(1))
        #expect(phone.state(other.call) == .talking)
        #expect(phone.digits == [0x35])
        world.give(.hangUp(other.call, .normal), phone)
        world.run(for: .seconds(60))
        #expect(door.state(call) == .ended)
        #expect(door.plans.isEmpty)
        #expect(door.reservedPorts + phone.reservedPorts == 0)
    }

    @Test func callerGivesUp() throws {
        phone.react = { [(.milliseconds(1), .ring($0.call))] }
        let call = world.dial("phone", from: door)
        world.run(for: .seconds(3))
        world.give(.hangUp(call, .answeredElsewhere), door)
        world.run(for: .seconds(60))
        let other = try #require(phone.incoming.first?.call)
        #expect(phone.calls[other]?.last?.cause == "answered-elsewhere")
        #expect(phone.reservedPorts + door.reservedPorts == 0)
    }

    @Test func nobodyOfThatName() {
        let call = world.dial("nobody", from: door)
        world.run(for: .seconds(60))
        #expect(door.calls[call]?.last?.code == 404)
        #expect(door.calls[call]?.last?.cause == "unreachable")
    }

    /// R7 and R8 together: both sides are heard again after a change of address.
    @Test func callSurvivesAChangeOfAddress() throws {
        let call = world.dial("phone", from: door)
        world.run(for: .seconds(5))
        #expect(door.state(call) == .talking)
        let changed = world.now
        let address = IPAddress.v4(0xC000_0208)
        world.move(door, to: address)
        world.run(for: .seconds(3))
        let other = try #require(phone.incoming.first?.call)
        #expect(phone.plans[other]?.remote.address == address)
        #expect(door.plans[call]?.local.address == address)
        #expect(world.pbx.bindings["door"]?.contact.host?.address == address)
        let first = world.sent.first { $0.at >= changed && $0.flow.local.address == address }
        #expect(first.map { $0.at - changed <= .seconds(1) } == true)
        world.run(for: .seconds(60))
        #expect(door.state(call) == .talking)
        world.give(.hangUp(other, .normal), phone)
        world.run(for: .seconds(60))
        #expect(door.state(call) == .ended)
        #expect(door.reservedPorts + phone.reservedPorts == 0)
    }

    /// R9: BYE, then REGISTER with expires=0, within two seconds.
    @Test func stopEndsCallsFirst() {
        let call = world.dial("phone", from: door)
        world.run(for: .seconds(5))
        let begun = world.now
        world.give(.stop, door)
        world.run(for: .seconds(3))
        #expect(door.isStopped)
        #expect(door.calls[call]?.last?.cause == "shutdown")
        #expect(phone.liveCalls.isEmpty)
        #expect(world.pbx.bindings["door"] == nil)
        let requests = world.sent.filter { $0.at >= begun && $0.flow.local.address == door.address }.compactMap {
            item in
            if case .request(let request)? = try? Message.parse(datagram: item.octets) { request.method } else { nil }
        }
        #expect(requests.first == .bye)
        #expect(requests.contains(.register))
    }

    @Test func hundredCallsLeaveNothing() {
        phone.react = { [(.zero, .answer($0.call))] }
        for _ in 0..<100 {
            let call = world.dial("phone", from: door)
            world.run(for: .milliseconds(200))
            #expect(door.state(call) == .talking)
            world.give(.hangUp(call, .normal), door)
            world.run(for: .milliseconds(50))
        }
        world.run(for: .seconds(60))
        #expect(phone.incoming.count == 100)
        #expect(door.reservedPorts + phone.reservedPorts == 0)
        #expect(phone.plans.isEmpty)
        #expect(!world.isSpinning)
    }

    /// Over TCP everything goes along the connections of the registrations.
    @Test func callOverTCP() throws {
        let world = SimulatedWorld(seed: 2, hashes: .forTests)
        let door = world.addDevice("door", number: 7, transport: .tcp)
        let phone = world.addDevice("phone", number: 20, transport: .tcp)
        phone.react = { [(.milliseconds(300), .answer($0.call))] }
        world.run(for: .seconds(2))
        let call = world.dial("phone", from: door)
        world.run(for: .seconds(2))
        #expect(door.state(call) == .talking)
        let other = try #require(phone.incoming.first?.call)
        world.give(.hangUp(other, .normal), phone)
        world.run(for: .seconds(60))
        #expect(door.state(call) == .ended)
        #expect(Set(world.sent.map(\.flow.connection)).count == 2)
    }
}
