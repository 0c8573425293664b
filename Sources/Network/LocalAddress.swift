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
            let options = SocketOptions(interface: interface, dscp: 0)
            do throws(SystemError) {
                let socket = try Socket(.datagram, family: remote.family, options, subject: "route")
                var native = SocketAddress(remote, 9).native
                guard portero_connect(socket.number, &native) == 0 else { return nil }
                let local = try socket.localAddress().address
                return local.isUnspecified ? nil : local
            } catch {
                return nil
            }
        }
    }

    /// The source address towards a remote one; nil if no route leads there.
    package func towards(_ remote: IPAddress) -> IPAddress? { lookUp(remote) }
}
