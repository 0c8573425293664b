import Primitives
import SIP

/// Shows whether UDP flows live whose servers agreed to outbound (R6): instead of a double CRLF a STUN request goes,
/// and a server that does not answer it, or sees another address than before, has lost the flow.
struct FlowProbes {
    /// Between a request and its repeats; after the last the flow is dead.
    static let waits: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]

    private struct Probe {
        var name: [UInt8]
        var sent: Int
        var due: Instant
    }
    private var underway: [Flow: Probe] = [:]
    /// How the server of each flow saw us last.
    private var mapped: [Flow: SocketAddress] = [:]
    private var flows: Set<Flow> = []

    var deadline: Instant? { underway.values.lazy.map(\.due).min() }

    func uses(_ flow: Flow) -> Bool { flows.contains(flow) }

    /// The flows to ask from now on.
    mutating func keep(_ flows: Set<Flow>) {
        self.flows = flows
        underway = underway.filter { flows.contains($0.key) }
        mapped = mapped.filter { flows.contains($0.key) }
    }

    mutating func ask(_ flow: Flow, at now: Instant, _ wire: inout Wire) {
        guard underway[flow] == nil else { return }
        let name = wire.random.octets(FlowProbe.nameLength)
        underway[flow] = Probe(name: name, sent: 1, due: now + Self.waits[0])
        wire.send(FlowProbe.request(name), flow)
    }

    /// Repeats what has no answer.
    /// - Returns: the flows that are dead.
    mutating func deadlineReached(at now: Instant, _ wire: inout Wire) -> [Flow] {
        var dead: [Flow] = []
        for (flow, probe) in underway where probe.due <= now {
            if probe.sent < Self.waits.count {
                underway[flow]?.due = now + Self.waits[probe.sent]
                underway[flow]?.sent += 1
                wire.send(FlowProbe.request(probe.name), flow)
            } else {
                underway[flow] = nil
                mapped[flow] = nil
                dead.append(flow)
            }
        }
        return dead
    }

    /// A datagram that looks like STUN.
    /// - Returns: whether the flow is another one than before.
    mutating func heard(_ octets: [UInt8], _ flow: Flow) -> Bool {
        guard let probe = underway[flow], let response = FlowProbe.response(octets), response.name == probe.name else {
            return false
        }
        underway[flow] = nil
        let former = mapped.updateValue(response.mapped, forKey: flow)
        return former.map { $0 != response.mapped } ?? false
    }
}
