package import SIP

/// Names a request from the wish to send it until its last response.
package struct RequestID: Hashable, Sendable {
    package var number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// Where a request goes first.
package struct RequestPath: Hashable, Sendable {
    /// Route headers to write; of a dialog its route set.
    package var routes: [NameAddress]
    /// Whose place is looked up: the first route, or the Request-URI.
    package var nextHop: SIPURI
    /// Taken without a look-up while it lives.
    package var flow: Flow?
    /// Tried after `flow`.
    package var alternatives: [Target]

    /// - Parameter target: Request-URI or remote target.
    package init(to target: SIPURI, routes: [NameAddress] = [], flow: Flow? = nil, alternatives: [Target] = []) {
        self.routes = routes
        nextHop = routes.first?.uri ?? target
        self.flow = flow
        self.alternatives = alternatives
    }
}

extension Locator.Destination {
    /// A `sip` or `sips` URI: `maddr` stands for its host. nil for any other URI and for unknown transports.
    /// - Parameter transport: Counts where the URI names none.
    package init?(_ uri: SIPURI, transport: Transport? = nil) {
        guard uri.isSIP, let host = uri.host else { return nil }
        let named = uri.transport.flatMap { Transport(rawValue: $0) }
        if uri.transport != nil, named == nil { return nil }
        self.init(
            host: uri.parameter("maddr").flatMap { Host($0)?.text } ?? host.text, port: uri.port,
            transport: uri.scheme == .sips ? nil : named ?? transport, isSecure: uri.scheme == .sips)
    }
}
