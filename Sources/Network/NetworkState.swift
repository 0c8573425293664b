import CLinux
import CMnl
package import EventLoop
package import Primitives

/// Links, addresses and routes at one time.
package struct NetworkState: Equatable, Sendable {
    /// More of each are not looked at.
    static let limit = 4096

    package struct Link: Hashable, Sendable {
        package var index: UInt32
        package var name: String
        /// Up, and with a carrier.
        package var isRunning: Bool
        package var isLoopback: Bool
    }

    package struct Address: Hashable, Sendable {
        package var interface: String
        package var address: IPAddress
        package var prefixLength: Int
        /// False for one that is tentative, failed or deprecated.
        package var isUsable: Bool
    }

    /// A unicast route of the main table.
    package struct Route: Hashable, Sendable {
        package var destination: IPAddress
        package var prefixLength: Int
        /// Unspecified where there is none.
        package var gateway: IPAddress
        package var source: IPAddress
        package var interface: UInt32
        package var metric: UInt32
    }

    package var links: Set<Link> = []
    package var addresses: Set<Address> = []
    package var routes: Set<Route> = []
    /// Whether anybody can be reached: an address that can be a source on a running link other than the loopback. No
    /// default route is needed for that.
    package var isUp = false

    package init() {}

    /// The addresses that count for ``isUp``, IPv4 first, link-local ones last.
    package var sources: [IPAddress] {
        let running = Set(links.lazy.filter { $0.isRunning && !$0.isLoopback }.map(\.name))
        return addresses.filter { $0.isUsable && running.contains($0.interface) && !$0.address.isLoopback }
            .map(\.address)
            .sorted { left, right in
                if left.isLinkLocal != right.isLinkLocal { return right.isLinkLocal }
                if left.isV6 != right.isV6 { return right.isV6 }
                return left.octets.lexicographicallyPrecedes(right.octets)
            }
    }

    /// Whether an own address is on links without a carrier only: the kernel goes on choosing it as a source, but
    /// nothing gets out.
    package func isStranded(_ address: IPAddress) -> Bool {
        let interfaces = Set(addresses.lazy.filter { $0.address == address }.map(\.interface))
        return !interfaces.isEmpty && !links.contains { $0.isRunning && interfaces.contains($0.name) }
    }

    /// Asks the kernel.
    package static func current() throws(SystemError) -> NetworkState {
        final class Entries { var all: [portero_netlink_entry] = [] }
        let entries = Entries()
        let result = portero_netlink_list(
            { context, entry in
                guard let context, let entry else { return }
                let entries = Unmanaged<Entries>.fromOpaque(context).takeUnretainedValue()
                if entries.all.count < 3 * NetworkState.limit { entries.all.append(entry.pointee) }
            }, Unmanaged.passUnretained(entries).toOpaque())
        if result != 0 { throw .last("network", "list") }
        var state = NetworkState()
        var names: [UInt32: String] = [:]
        for entry in entries.all where entry.kind == PORTERO_NETLINK_LINK {
            let name = withUnsafeBytes(of: entry.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            names[entry.index] = name
            state.links.insert(
                Link(
                    index: entry.index, name: name, isRunning: entry.is_running != 0,
                    isLoopback: entry.is_loopback != 0))
        }
        for entry in entries.all {
            let zone = entry.kind == PORTERO_NETLINK_ADDRESS ? entry.index : 0
            guard let address = Self.address(entry.octets, entry.family, zone: zone) else { continue }
            if entry.kind == PORTERO_NETLINK_ADDRESS {
                state.addresses.insert(
                    Address(
                        interface: names[entry.index] ?? "", address: address, prefixLength: Int(entry.prefix),
                        isUsable: entry.is_usable != 0))
            } else if entry.kind == PORTERO_NETLINK_ROUTE,
                let gateway = Self.address(entry.gateway, entry.family, zone: 0),
                let source = Self.address(entry.source, entry.family, zone: 0)
            {
                state.routes.insert(
                    Route(
                        destination: address, prefixLength: Int(entry.prefix), gateway: gateway, source: source,
                        interface: entry.index, metric: entry.metric))
            }
        }
        state.isUp = !state.sources.isEmpty
        return state
    }

    private static func address(_ octets: some Any, _ family: UInt16, zone: UInt32) -> IPAddress? {
        let octets = withUnsafeBytes(of: octets) { Array($0.prefix(family == 4 ? 4 : 16)) }
        guard family != 0, let address = IPAddress(octets: octets) else { return nil }
        return address.isLinkLocal && address.isV6 ? IPAddress(octets: octets, zone: zone) : address
    }
}
