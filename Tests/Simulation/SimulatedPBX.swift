package import Primitives
package import SIP

/// A registrar and record-routing proxy that keeps no transactions: repeats are the agents' own affair.
package final class SimulatedPBX {
    package let address: SocketAddress
    /// Off: nothing is heard or said.
    package var isUp = true
    /// By user.
    package private(set) var bindings: [String: (contact: SIPURI, flow: Flow)] = [:]
    package private(set) var registrations = 0
    /// Users whose calls ring at others too: each gets the INVITE, and every answer comes back.
    package var forks: [String: [String]] = [:]
    private var framers: [UInt64: StreamFramer] = [:]
    /// Where responses to a forwarded request go.
    private var origins: [String: Flow] = [:]

    package init(_ address: SocketAddress) { self.address = address }

    func received(_ octets: [UInt8], _ flow: Flow, at now: Instant) -> [(octets: [UInt8], flow: Flow)] {
        guard isUp else { return [] }
        var out: [(octets: [UInt8], flow: Flow)] = []
        if flow.transport.isStream {
            var events: [StreamFramer.Event] = []
            framers[flow.connection, default: StreamFramer()].feed(octets, at: now, &events)
            for event in events {
                switch event {
                case .message(let message): take(message, flow, &out)
                case .ping: out.append(([0x0D, 0x0A], flow))
                case .pong, .failed: break
                }
            }
        } else if let message = try? Message.parse(datagram: octets) {
            take(message, flow, &out)
        }
        return out
    }

    private func take(_ message: Message, _ flow: Flow, _ out: inout [(octets: [UInt8], flow: Flow)]) {
        switch message {
        case .request(let request): take(request, flow, &out)
        case .response(var response):
            guard let branch = response.topVia?.branch, let origin = origins[branch], response.vias.count > 1 else {
                return
            }
            response.vias.removeFirst()
            out.append((response.serialized(), origin))
        }
    }

    private func take(_ received: Request, _ flow: Flow, _ out: inout [(octets: [UInt8], flow: Flow)]) {
        var request = received
        guard var via = request.topVia, let branch = via.branch else { return }
        via.received = flow.remote.address
        if via.wantsRport { via.rport = flow.remote.port }
        request.vias[0] = via
        if request.method == .register { return out.append((register(request, flow).serialized(), flow)) }

        var routes = request.routes
        if routes.first?.uri.host?.address == address.address { routes.removeFirst() }
        request.headers.remove(.route)
        for route in routes { request.headers.append(.route, route.description) }
        let isOurs = routes.isEmpty && request.uri.host?.address == address.address
        for user in isOurs ? request.uri.user.flatMap({ forks[$0] }) ?? [] : [] {
            var copy = request
            copy.uri.user = user
            forward(copy, nil, branch: branch + "-" + user, from: flow, &out)
        }
        forward(request, routes.first?.uri, branch: branch, from: flow, &out)
    }

    private func forward(
        _ request: Request, _ route: SIPURI?, branch: String, from flow: Flow,
        _ out: inout [(octets: [UInt8], flow: Flow)]
    ) {
        var request = request
        guard let next = nextFlow(&request, route) else {
            if request.method != .ack { out.append((request.response(404, toTag: "pbx").serialized(), flow)) }
            return
        }
        // The same branch for the same one received: so CANCEL and ACK find the INVITE's (RFC 3261 §16.11).
        let own = branch + "-" + String(flow.remote.port)
        origins[own] = flow
        request.vias.insert(
            Via(transport: next.transport.viaName, host: Host(address.address), port: address.port, branch: own), at: 0)
        if request.method == .invite, request.to.tag == nil {
            var hop = SIPURI(host: Host(address.address), port: address.port, parameters: ["lr": nil])
            if flow.transport != .udp { hop.setParameter("transport", flow.transport.rawValue) }
            request.headers.prepend(.recordRoute, NameAddress(hop).description)
        }
        out.append((request.serialized(), next))
    }

    private func register(_ request: Request, _ flow: Flow) -> Response {
        registrations += 1
        let user = request.to.uri.user ?? ""
        var response = request.response(200, toTag: "pbx")
        for contact in request.contacts {
            if contact.expires ?? request.expires ?? 600 == 0 {
                if bindings[user]?.contact == contact.uri { bindings[user] = nil }
            } else {
                bindings[user] = (contact.uri, flow)
                var granted = contact
                granted.parameters["expires"] = "600"
                response.headers.append(.contact, granted.description)
            }
        }
        return response
    }

    /// Where the request goes: to its next route, to the Contact of a user, or to an address of the Request-URI.
    private func nextFlow(_ request: inout Request, _ route: SIPURI?) -> Flow? {
        if let route { return flow(to: route) }
        if request.uri.host?.address == address.address {
            guard let binding = request.uri.user.flatMap({ bindings[$0] }) else { return nil }
            request.uri = binding.contact
            return binding.flow
        }
        let uri = request.uri
        return bindings.values.first { $0.contact == uri }?.flow ?? flow(to: uri)
    }

    private func flow(to uri: SIPURI) -> Flow? {
        guard let host = uri.host?.address, uri.transport ?? "udp" == "udp" else { return nil }
        return Flow(transport: .udp, local: address, remote: SocketAddress(host, uri.port ?? 5060))
    }
}
