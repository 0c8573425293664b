import CLinux
import EventLoop
import Primitives
import SIP

extension IPAddress {
    /// The kernel's family number in our C types.
    var family: Int32 { isV6 ? 6 : 4 }

    /// The wildcard address of the same family.
    var wildcard: IPAddress { isV6 ? .anyV6 : .anyV4 }
}

extension SocketAddress {
    /// Nil for an empty C address.
    init?(_ native: portero_address) {
        guard native.family != 0 else { return nil }
        let octets = withUnsafeBytes(of: native.octets) { Array($0.prefix(native.family == 4 ? 4 : 16)) }
        guard let address = IPAddress(octets: octets, zone: native.zone) else { return nil }
        self.init(address, native.port)
    }

    var native: portero_address {
        var native = portero_address()
        native.family = UInt16(address.family)
        native.port = port
        if case .v6(_, _, let zone) = address { native.zone = zone }
        withUnsafeMutableBytes(of: &native.octets) { $0.copyBytes(from: address.octets) }
        return native
    }
}

/// What a socket is to be like.
package struct SocketOptions: Sendable {
    /// Restricts sockets to an interface by name; nil: any. `lo` keeps everything on this machine.
    package var interface: String?
    /// Differentiated services code point (0…63) of what is sent; CS3 by default, as is usual for signalling.
    package var dscp: Int32

    package init(interface: String? = nil, dscp: Int32 = 24) {
        self.interface = interface
        self.dscp = dscp
    }
}

/// A non-blocking socket.
struct Socket: ~Copyable {
    enum Kind { case datagram, stream }

    let descriptor: FileDescriptor
    var number: Int32 { descriptor.number }

    init(owning number: Int32) { descriptor = FileDescriptor(owning: number) }

    init(_ kind: Kind, family: Int32, _ options: SocketOptions, subject: String) throws(SystemError) {
        let type = kind == .datagram ? SOCK_DGRAM : SOCK_STREAM
        let descriptor = try FileDescriptor(portero_socket(family, Int32(type.rawValue)), subject, "socket")
        if let interface = options.interface, portero_bind_to_interface(descriptor.number, interface) != 0 {
            throw .last("interface \(interface)", "bind")
        }
        if kind == .datagram, portero_prepare_datagrams(descriptor.number, family, options.dscp) != 0 {
            throw .last(subject, "prepare")
        }
        self.descriptor = descriptor
    }

    /// No delay, keep-alive after a minute, and half a minute until unanswered data ends the connection.
    func setStreamOptions(family: Int32, dscp: Int32) {
        let tcp = Int32(IPPROTO_TCP)
        let options: [(Int32, Int32, Int32)] = [
            (tcp, TCP_NODELAY, 1), (SOL_SOCKET, SO_KEEPALIVE, 1), (tcp, TCP_KEEPIDLE, 60), (tcp, TCP_KEEPINTVL, 10),
            (tcp, TCP_KEEPCNT, 3), (tcp, TCP_USER_TIMEOUT, 30_000),
            family == 6
                ? (Int32(IPPROTO_IPV6), IPV6_TCLASS, dscp << 2) : (Int32(IPPROTO_IP), IP_TOS, dscp << 2),
        ]
        for (level, name, value) in options { _ = portero_set_option(number, level, name, value) }
    }

    func bind(to address: SocketAddress) throws(SystemError) {
        var native = address.native
        if portero_bind(number, &native) != 0 { throw .last("\(address)", "bind") }
    }

    /// The address that the socket is bound to.
    func localAddress() throws(SystemError) -> SocketAddress {
        var native = portero_address()
        if portero_local_address(number, &native) != 0 { throw .last("socket", "getsockname") }
        guard let address = SocketAddress(native) else { throw SystemError("socket", "getsockname", number: EINVAL) }
        return address
    }
}

extension TransportFailure {
    /// In the SIP core's words.
    init(number: Int32) {
        switch number {
        case ECONNREFUSED: self = .refused
        case EHOSTUNREACH, EHOSTDOWN: self = .unreachable
        case ENETUNREACH, ENETDOWN, EADDRNOTAVAIL, EINVAL, ENODEV, ENONET: self = .noRoute
        case ETIMEDOUT: self = .timedOut
        case ECONNRESET, EPIPE: self = .closedByPeer
        case EMSGSIZE: self = .tooLarge
        default: self = .other(SystemError.text(number))
        }
    }
}
