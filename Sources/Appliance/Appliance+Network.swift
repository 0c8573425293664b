internal import API
internal import EventLoop
internal import Network
internal import Primitives

/// Changes of links, addresses, routes and name servers.
extension Appliance {
    func openMonitor() throws(SystemError) -> NetworkMonitor {
        try NetworkMonitor(on: loop) { [weak self] state in
            guard let self else { return }
            let known = Set(state.addresses.map(\.address))
            let gone = networkAddresses.subtracting(known)
            networkAddresses = known
            sockets?.closeConnections(from: gone)
            sockets?.follow(state)
            publish("network", networkMembers)
            journal.log(.network, .notice, "network \(networkWord): \(addressTexts.joined(separator: " "))")
            networkChanged()
        }
    }

    /// Source addresses may be others now: registrations and calls are looked at again.
    package func networkChanged() {
        resolver.networkChanged()
        take(.agent(.networkChanged))
    }

    var networkWord: String { monitor?.state.isUp == true ? "up" : "down" }

    var addressTexts: [String] { monitor?.state.sources.map(\.description) ?? [] }

    private var networkMembers: KeyValuePairs<String, JSON?> {
        ["state": .string(networkWord), "addresses": .array(addressTexts.map { .string($0) })]
    }

    func override(_ state: NetworkOverride) {
        switch state {
        case .up: monitor?.set(.up)
        case .down: monitor?.set(.down)
        case .auto: monitor?.set(.auto)
        }
        // Connections that are open do not hide that there is nothing any more.
        if state == .down { sockets?.closeConnections(from: networkAddresses) }
    }
}
