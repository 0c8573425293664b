import CLinux
import EventLoop
import Glibc
package import Primitives

/// Hands out pairs of bound UDP sockets for calls (MED9): RTP on an even port, RTCP on the next, in random order.
package final class RTPPorts {
    /// The configured range. Pairs that are in use stay valid when it changes.
    package var range: ClosedRange<UInt16>

    /// A port is not used again so soon after a call (MED9): late packets of the old one must not be heard in a new one.
    package static let rest: Duration = .seconds(5)

    private var randomness: Randomness
    private var inUse: Set<UInt16> = []
    private var resting: [UInt16: Instant] = [:]
    private let now: () -> Instant

    /// - Parameter now: the loop's clock; another in tests.
    package init(
        range: ClosedRange<UInt16>, randomness: Randomness = .system, now: @escaping () -> Instant = { Clock.now }
    ) {
        self.range = range
        self.randomness = randomness
        self.now = now
    }

    /// Two bound sockets on a local address; nil if no port of the range is free, or the address is not ours.
    package func reserve(on address: IPAddress) -> RTPPortPair? {
        let instant = now()
        resting = resting.filter { $0.value > instant }
        let first = Int(range.lowerBound) + Int(range.lowerBound % 2)
        let pairs = (Int(range.upperBound) - first + 1) / 2
        if pairs < 1 { return nil }
        // A random start and a random stride without a common divisor reach each pair once.
        let start = Int.random(in: 0..<pairs, using: &randomness)
        var stride = Int.random(in: 1...pairs, using: &randomness)
        while greatestCommonDivisor(stride, pairs) != 1 { stride = stride % pairs + 1 }
        for step in 0..<pairs {
            let port = UInt16(first + 2 * ((start + step * stride) % pairs))
            if inUse.contains(port) || resting[port] != nil { continue }
            guard let rtp = udpSocket(SocketAddress(address, port)),
                let rtcp = udpSocket(SocketAddress(address, port + 1))
            else { continue }
            inUse.insert(port)
            return RTPPortPair(rtp, rtcp, local: SocketAddress(address, port), of: self)
        }
        return nil
    }

    fileprivate func release(_ port: UInt16) {
        inUse.remove(port)
        resting[port] = now() + Self.rest
    }

    private func greatestCommonDivisor(_ left: Int, _ right: Int) -> Int {
        right == 0 ? left : greatestCommonDivisor(right, left % right)
    }
}

/// The sockets of one call. Its ports are free again (after ``RTPPorts/rest``) when it goes; that is to happen on the loop.
package final class RTPPortPair {
    /// Where the peer shall send RTP; RTCP is expected on the next port.
    package let local: SocketAddress
    private let rtp: FileDescriptor
    private let rtcp: FileDescriptor
    private let ports: RTPPorts

    fileprivate init(
        _ rtp: consuming FileDescriptor, _ rtcp: consuming FileDescriptor, local: SocketAddress, of ports: RTPPorts
    ) {
        self.rtp = rtp
        self.rtcp = rtcp
        self.local = local
        self.ports = ports
    }

    deinit { ports.release(local.port) }

    var rtpDescriptor: Int32 { rtp.number }
    var rtcpDescriptor: Int32 { rtcp.number }
}

/// A bound UDP socket that does not block; nil if the address is taken or not ours.
private func udpSocket(_ local: SocketAddress) -> FileDescriptor? {
    let number = portero_socket(local.address.isV6 ? 6 : 4, Int32(SOCK_DGRAM.rawValue))
    if number < 0 { return nil }
    let descriptor = FileDescriptor(owning: number)
    var address = portero_address(local)
    if portero_bind(number, &address) != 0 { return nil }
    portero_media_socket(number, local.address.isV6 ? 1 : 0)
    return descriptor
}

extension portero_address {
    /// In the kernel's wrappers' form, made once and used for each packet.
    init(_ address: SocketAddress) {
        self.init()
        family = address.address.isV6 ? 6 : 4
        port = address.port
        withUnsafeMutableBytes(of: &octets) { octets in
            switch address.address {
            case .v4(let value): octets.storeBytes(of: value.bigEndian, as: UInt32.self)
            case .v6(let high, let low, _):
                octets.storeBytes(of: high.bigEndian, as: UInt64.self)
                octets.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
        }
        if case .v6(_, _, let zone) = address.address { self.zone = zone }
    }
}

extension SocketAddress {
    /// What the kernel's wrappers tell.
    init(_ address: portero_address) {
        let octets = withUnsafeBytes(of: address.octets) { Array($0.prefix(address.family == 6 ? 16 : 4)) }
        self.init(IPAddress(octets: octets, zone: address.zone) ?? .anyV4, address.port)
    }
}
