import CLinux
import EventLoop
package import Primitives

/// Which own address the kernel would send from (T8): a route look-up for each destination, never "the first
/// interface".
package struct LocalAddress {
    private let lookUp: (IPAddress) -> IPAddress?

    /// Injects another look-up: a demo or a test forces a source address.
    package init(_ lookUp: @escaping (IPAddress) -> IPAddress?) { self.lookUp = lookUp }

    /// The kernel's routes, restricted to an interface where one is named. Sends nothing.
    package static func byRoute(interface: String? = nil) -> LocalAddress {
        LocalAddress { remote in
            guard let socket = try? connected(to: remote, interface), let local = try? socket.localAddress().address
            else { return nil }
            return local.isUnspecified ? nil : local
        }
    }

    /// The largest packet that the kernel knows the path to a remote address to carry, octets; nil without a route.
    package static func pathMTU(to remote: IPAddress) -> Int? {
        guard let socket = try? connected(to: remote, nil) else { return nil }
        let size = portero_path_mtu(socket.number, remote.family)
        return size > 0 ? Int(size) : nil
    }

    private static func connected(to remote: IPAddress, _ interface: String?) throws(SystemError) -> Socket {
        let options = SocketOptions(interface: interface, dscp: 0)
        let socket = try Socket(.datagram, family: remote.family, options, subject: "route")
        var native = SocketAddress(remote, 9).native
        if portero_connect(socket.number, &native) != 0 { throw .last("\(remote)", "connect") }
        return socket
    }

    /// The source address towards a remote one; nil if no route leads there.
    package func towards(_ remote: IPAddress) -> IPAddress? { lookUp(remote) }
}
