package import Primitives
package import SDP
package import UserAgent

/// A host with one agent: what it was told, and how it reacts.
package final class SimulatedDevice {
    package let name: String
    /// nil: no network.
    package var address: IPAddress?
    package internal(set) var agent: Agent
    package internal(set) var accounts: [String: AccountStatus] = [:]
    package internal(set) var calls: [CallKey: [CallStatus]] = [:]
    package internal(set) var incoming: [IncomingCall] = []
    package internal(set) var plans: [CallKey: MediaPlan] = [:]
    package internal(set) var digits: [UInt8] = []
    package internal(set) var transfers: [TransferStatus] = []
    package internal(set) var notes: [UserAgentNote] = []
    package internal(set) var isStopped = false
    /// What is done with a call that comes in, each after its time.
    package var react: (IncomingCall) -> [(after: Duration, input: UserAgentInput)] = { _ in [] }
    package let numbering: CallNumbering
    let ports: Ports
    var plannedInputs: [(at: Instant, order: Int, input: UserAgentInput)] = []

    /// RTP ports and who has them.
    package final class Ports {
        package private(set) var taken: [CallKey: UInt16] = [:]
        private var last: UInt16 = 16_382

        func reserve(_ call: CallKey) -> UInt16? {
            last = last < 32_000 ? last + 2 : 16_384
            taken[call] = last
            return last
        }

        func release(_ call: CallKey) { taken[call] = nil }
    }

    package init(
        _ name: String, _ address: IPAddress, accounts: [Account], hashes: Hashes, seed: UInt64, at now: Instant = .zero
    ) {
        self.name = name
        self.address = address
        let numbering = CallNumbering()
        let ports = Ports()
        self.numbering = numbering
        self.ports = ports
        var settings = UserAgentSettings(instance: "urn:uuid:00000000-0000-1000-8000-\(seed)")
        settings.accounts = accounts
        agent = Agent(
            settings: settings,
            capabilities: UserAgentCapabilities(
                hashes: hashes, random: .seeded(seed), numbering: numbering,
                reservePort: { call, _ in ports.reserve(call) }, releasePort: { ports.release($0) }),
            at: now)
    }

    package var reservedPorts: Int { ports.taken.count }

    /// The state that the call was in last.
    package func state(_ call: CallKey) -> CallStatus.State? { calls[call]?.last?.state }

    /// Calls that are not over.
    package var liveCalls: [CallKey] { calls.filter { $0.value.last?.state != .ended }.keys.sorted() }

    var deadline: Instant? {
        isStopped ? nil : earliest(agent.deadline, plannedInputs.map(\.at).min())
    }
}
