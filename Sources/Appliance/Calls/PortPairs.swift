internal import Media
internal import Primitives
internal import UserAgent

/// The RTP ports of each call: the user agent reserves them by number, the media engine takes the sockets.
final class PortPairs {
    private let ports: RTPPorts
    /// A call has more than one pair for a moment, when its address changes.
    private var pairs: [UserAgent.CallKey: [RTPPortPair]] = [:]

    init(_ ports: RTPPorts) { self.ports = ports }

    func reserve(for call: UserAgent.CallKey, on local: IPAddress) -> UInt16? {
        guard let pair = ports.reserve(on: local) else { return nil }
        pairs[call, default: []].append(pair)
        return pair.local.port
    }

    func pair(of call: UserAgent.CallKey, at local: SocketAddress) -> RTPPortPair? {
        pairs[call]?.last { $0.local.port == local.port }
    }

    /// Forgets the pairs that a call has left behind.
    func keepOnly(_ pair: RTPPortPair, of call: UserAgent.CallKey) { pairs[call] = [pair] }

    func release(_ call: UserAgent.CallKey) { pairs[call] = nil }
}
