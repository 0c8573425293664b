package import Primitives

/// How SIP messages travel (RFC 3261 §18).
package enum Transport: String, Hashable, Sendable, CaseIterable {
    case udp, tcp, tls

    /// Connection-oriented and reliable: no retransmission, framing by Content-Length.
    package var isStream: Bool { self != .udp }

    /// In the order in which a domain is asked for its services (T10).
    package static let preferred: [Transport] = [.tls, .tcp, .udp]

    /// The port used where none is given: 5060, for TLS 5061.
    package var defaultPort: UInt16 { self == .tls ? 5061 : 5060 }

    /// The word of a Via's sent-protocol: `UDP`, `TCP`, `TLS`.
    package var viaName: String { rawValue.uppercased() }
}

/// A pair of addresses that messages go along: a UDP socket with one peer, or one TCP connection.
///
/// A value: the edge finds the socket by `connection`, or for UDP by the family of `local`, and sends with the local
/// address as source.
package struct Flow: Hashable, Sendable {
    package var transport: Transport
    /// The real local address that the peer sees without a translator between (T8).
    package var local: SocketAddress
    package var remote: SocketAddress
    /// Number of the stream connection, unique for the life of the process; 0 for UDP.
    package var connection: UInt64

    package init(transport: Transport, local: SocketAddress, remote: SocketAddress, connection: UInt64 = 0) {
        self.transport = transport
        self.local = local
        self.remote = remote
        self.connection = connection
    }
}

/// Where a request can go: the result of server location (RFC 3263).
package struct Target: Hashable, Sendable {
    package var transport: Transport
    package var address: SocketAddress
    /// The domain that was asked for.
    package var domain: String
    /// Whom TLS must find there; nil: nobody is known, so that no TLS connection is made.
    package var server: TLSServer?

    package init(transport: Transport, address: SocketAddress, domain: String, server: TLSServer? = nil) {
        self.transport = transport
        self.address = address
        self.domain = domain
        self.server = server
    }

    /// Whether one stream connection serves both: the same place, and for TLS the same trust and name (T13, RFC 5923).
    package func sharesConnection(with other: Target) -> Bool {
        transport == other.transport && address == other.address && server?.settings == other.server?.settings
            && server?.name == other.server?.name
    }
}

/// Why octets could not be sent or a connection ended.
package enum TransportFailure: Error, Hashable, Sendable {
    case refused, unreachable, noRoute, timedOut, closedByPeer
    /// The message is larger than the path carries.
    case tooLarge
    /// There is no TLS connection that can be trusted: why, in words for the operator. Nothing was sent, and nothing is
    /// sent without TLS instead.
    case insecure(String)
    case other(String)
}

/// One look-up at the resolver.
package struct DNSQuestion: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable { case a, aaaa, srv, naptr }
    package var name: String
    package var kind: Kind

    package init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// What a name server knows of a question. At most 32 records are kept (T12).
package enum DNSRecord: Hashable, Sendable {
    case address(IPAddress)
    /// RFC 2782.
    case service(priority: UInt16, weight: UInt16, port: UInt16, target: String)
    /// RFC 3403.
    case naming(order: UInt16, preference: UInt16, flags: String, service: String, replacement: String)
}

/// The outcome of a look-up. An empty list of records means that the name or the type does not exist.
package enum DNSAnswer: Hashable, Sendable {
    case records([DNSRecord])
    /// The resolver did not answer, or answered that it cannot.
    case failed(String)
}
