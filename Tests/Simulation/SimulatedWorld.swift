package import Configuration
package import Primitives
package import SIP
package import UserAgent

/// Agents, a PBX and the network between them. Time goes by jumps: to the next arrival or deadline.
package final class SimulatedWorld {
    package private(set) var now = Instant.zero
    package private(set) var devices: [SimulatedDevice] = []
    package let pbx: SimulatedPBX
    package var network: SimulatedNetwork
    /// Octets that were sent, by whom.
    package private(set) var sent: [(at: Instant, octets: [UInt8], flow: Flow)] = []
    /// Set if the agents never come to rest.
    package private(set) var isSpinning = false
    private let hashes: Hashes
    private var connections: UInt64 = 0
    private var order = 0

    package static let pbxAddress = SocketAddress(.v4(0xC000_0201), 5060)

    package init(seed: UInt64, conditions: NetworkConditions = .ideal, hashes: Hashes) {
        network = SimulatedNetwork(seed: seed, conditions: conditions)
        pbx = SimulatedPBX(Self.pbxAddress)
        self.hashes = hashes
    }

    /// Adds a device at 192.0.2.`number` with one account at the PBX.
    package func addDevice(
        _ name: String, number: UInt32, transport: TransportChoice = .udp, _ change: (inout Account) -> Void = { _ in }
    ) -> SimulatedDevice {
        let registrar = SIPURI(host: Host(Self.pbxAddress.address), port: Self.pbxAddress.port)
        var uri = registrar
        uri.user = name
        var account = Account(
            name: name, uri: uri, authUser: name, password: Password("secret"), registrar: registrar,
            contactUser: name + "-contact")
        account.transport = transport
        account.keepAlive = .zero
        change(&account)
        let device = SimulatedDevice(
            name, .v4(0xC000_0200 + number), accounts: [account], hashes: hashes, seed: UInt64(number), at: now)
        devices.append(device)
        give(.deadlineReached, device)
        return device
    }

    /// Calls a user of the PBX.
    package func dial(_ user: String, from device: SimulatedDevice) -> CallKey {
        let key = device.numbering.next()
        let uri = SIPURI(user: user, host: Host(Self.pbxAddress.address), port: Self.pbxAddress.port)
        give(.dial(DialOrder(call: key, uri: uri, account: device.name)), device)
        return key
    }

    package func give(_ input: UserAgentInput, _ device: SimulatedDevice) {
        guard !device.isStopped else { return }
        var out: [UserAgentOutput] = []
        device.agent.handle(input, at: now, &out)
        for output in out { carryOut(output, device) }
    }

    package func plan(_ input: UserAgentInput, after delay: Duration, _ device: SimulatedDevice) {
        order += 1
        device.plannedInputs.append((now + delay, order, input))
    }

    /// The device has another address from now on, or none.
    package func move(_ device: SimulatedDevice, to address: IPAddress?) {
        device.address = address
        give(.networkChanged, device)
    }

    /// Lets time pass.
    package func run(for duration: Duration) {
        let end = now + duration
        var stepsHere = 0
        while let next = earliest(network.deadline, devices.compactMap(\.deadline).min()), next <= end {
            stepsHere = next > now ? 0 : stepsHere + 1
            if stepsHere > 10_000 {
                isSpinning = true
                return
            }
            now = max(now, next)
            for arrival in network.arrivals(at: now) { deliver(arrival) }
            for device in devices { wake(device) }
        }
        now = end
    }

    private func wake(_ device: SimulatedDevice) {
        while let next = device.plannedInputs.min(by: { ($0.at, $0.order) < ($1.at, $1.order) }), next.at <= now {
            device.plannedInputs.removeAll { $0.order == next.order }
            give(next.input, device)
        }
        if let deadline = device.agent.deadline, deadline <= now { give(.deadlineReached, device) }
    }

    private func deliver(_ arrival: SimulatedNetwork.Arrival) {
        if arrival.flow.local == pbx.address {
            for (octets, flow) in pbx.received(arrival.octets, arrival.flow, at: now) { put(octets, flow) }
        } else if let device = devices.first(where: { $0.address == arrival.flow.local.address }) {
            give(.received(arrival.octets, arrival.flow), device)
        }
    }

    private func put(_ octets: [UInt8], _ flow: Flow) {
        sent.append((now, octets, flow))
        network.send(octets, flow, at: now)
    }

    private func carryOut(_ output: UserAgentOutput, _ device: SimulatedDevice) {
        switch output {
        case .send(let octets, let flow): if flow.local.address == device.address { put(octets, flow) }
        case .connect(let id, let target): connect(id, target, device)
        case .close: break
        case .lookUp(let id, _): plan(.lookedUp(id, .records([])), after: .milliseconds(5), device)
        case .media(let call, let plan): device.plans[call] = plan
        case .event(.account(let status)): device.accounts[status.name] = status
        case .event(.incoming(let call)):
            device.incoming.append(call)
            for (delay, input) in device.react(call) { plan(input, after: delay, device) }
        case .event(.call(let status)): device.calls[status.call, default: []].append(status)
        case .event(.digit(_, let digit)): device.digits.append(digit)
        case .event(.note(let note)): device.notes.append(note)
        case .event(.transfer(let status)): device.transfers.append(status)
        case .event(.heard), .event(.refused), .event(.phone), .event(.messages), .event(.message): break
        case .stopped: device.isStopped = true
        }
    }

    private func connect(_ id: ConnectID, _ target: Target, _ device: SimulatedDevice) {
        guard let address = device.address else {
            return plan(.connectFailed(id, .noRoute), after: .zero, device)
        }
        if target.transport == .udp {
            let flow = Flow(transport: .udp, local: SocketAddress(address, 5060), remote: target.address)
            return plan(.connected(id, flow), after: .zero, device)
        }
        guard target.address == pbx.address, pbx.isUp else {
            return plan(.connectFailed(id, .refused), after: .milliseconds(5), device)
        }
        connections += 1
        let flow = Flow(
            transport: target.transport, local: SocketAddress(address, UInt16(40_000 + connections % 20_000)),
            remote: target.address, connection: connections)
        plan(.connected(id, flow), after: .milliseconds(5), device)
    }
}
