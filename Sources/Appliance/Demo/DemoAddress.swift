import Network
import Primitives
import Synchronization

/// The address that the demo's appliance has, as if a router had given it.
final class DemoAddress: Sendable {
    private let current: Mutex<IPAddress>

    init(_ address: IPAddress) { current = Mutex(address) }

    /// What the appliance takes for its own address towards any peer.
    var source: LocalAddress { LocalAddress { _ in self.current.withLock { $0 } } }

    func change(to address: IPAddress) { current.withLock { $0 = address } }
}
