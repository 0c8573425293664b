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
    /// Whether a server of the account named the next hop, in a route or in a dialog.
    package var isNamedByServer: Bool

    /// - Parameter target: Request-URI or remote target.
    package init(to target: SIPURI, routes: [NameAddress] = [], flow: Flow? = nil, alternatives: [Target] = []) {
        self.routes = routes
        nextHop = routes.first?.uri ?? target
        self.flow = flow
        isNamedByServer = !routes.isEmpty
        self.alternatives = alternatives
    }
}
