package import Primitives

/// A dialog (RFC 3261 §12): who the two sides are, how requests get from one to the other, and their numbers.
package struct Dialog: Sendable {
    package struct ID: Hashable, Sendable {
        package var callID: String
        package var localTag: String
        /// Empty for a peer without a tag (RFC 2543).
        package var remoteTag: String

        package init(callID: String, localTag: String, remoteTag: String) {
            self.callID = callID
            self.localTag = localTag
            self.remoteTag = remoteTag
        }

        /// The dialog that a received request would belong to; nil for one without a To tag.
        package init?(of request: Request) {
            guard let localTag = request.to.tag else { return nil }
            self.init(callID: request.callID, localTag: localTag, remoteTag: request.from.tag ?? "")
        }
    }

    package let id: ID
    /// From of our requests.
    package let local: NameAddress
    /// To of our requests.
    package let remote: NameAddress
    /// Hops between the two sides, nearest first (D3).
    package private(set) var routeSet: [NameAddress]
    /// Where the peer wants its requests.
    package private(set) var remoteTarget: SIPURI
    /// CSeq number of our last request.
    package private(set) var localSequence: UInt32
    /// CSeq number of the peer's last request; nil before its first.
    package private(set) var remoteSequence: UInt32?
    private var isRouteFixed = false

    /// The dialog of a response to our INVITE: early for 1xx, confirmed for 2xx; nil for a 1xx without a To tag.
    package init?(request: Request, response: Response) {
        if response.isProvisional, response.to.tag == nil { return nil }
        id = ID(callID: request.callID, localTag: request.from.tag ?? "", remoteTag: response.to.tag ?? "")
        local = request.from
        var remote = request.to
        remote.tag = response.to.tag
        self.remote = remote
        routeSet = response.recordRoutes.reversed()
        remoteTarget = response.contacts.first?.uri ?? request.uri
        localSequence = request.cseq.number
    }

    /// The dialog of an INVITE that we answer with this tag.
    package init(answering request: Request, localTag: String) {
        id = ID(callID: request.callID, localTag: localTag, remoteTag: request.from.tag ?? "")
        var local = request.to
        local.tag = localTag
        self.local = local
        remote = request.from
        routeSet = request.recordRoutes
        remoteTarget = request.contacts.first?.uri ?? request.from.uri
        // Our own numbers start anywhere below 2^31; small ones are easiest to read.
        localSequence = 0
        remoteSequence = request.cseq.number
    }

    /// The first reliable 1xx or the 2xx of an early dialog makes its route set final (RFC 3261 §13.2.2.4, D3).
    package mutating func confirm(with response: Response) {
        if !isRouteFixed { routeSet = response.recordRoutes.reversed() }
        isRouteFixed = true
        refreshTarget(from: response)
    }

    /// Contact of an INVITE, of an UPDATE, of their 2xx and of a reliable 1xx moves the remote target; the route set
    /// stays (D3).
    package mutating func refreshTarget(from message: some MessageFields) {
        if let contact = message.contacts.first { remoteTarget = contact.uri }
    }

    /// The next hop: whose place is looked up for a request of ours.
    package var nextHop: SIPURI { routeSet.first?.uri ?? remoteTarget }

    // MARK: Our requests

    /// A new request with the next number, without Via. Not for ACK and CANCEL.
    package mutating func request(_ method: SIPMethod) -> Request {
        localSequence = localSequence < 0x7FFF_FFFF ? localSequence + 1 : 1
        return request(method, cseq: localSequence)
    }

    /// The ACK to the 2xx of our INVITE with this number, without Via (T4).
    package func acknowledgement(cseq: UInt32) -> Request { request(.ack, cseq: cseq) }

    /// A request of ours took a higher number on its way, as after a challenge (D4).
    package mutating func advance(to number: UInt32) { localSequence = max(localSequence, number) }

    private func request(_ method: SIPMethod, cseq: UInt32) -> Request {
        var uri = remoteTarget
        var routes = routeSet
        if let first = routes.first, !first.uri.isLooseRouter {
            // A strict router wants itself as Request-URI and the target as last route (RFC 3261 §12.2.1.1).
            uri = first.uri
            routes.removeFirst()
            routes.append(NameAddress(remoteTarget))
        }
        // Header fields of a URI and `method` do not belong into a Request-URI (RFC 3261 §19.1.1).
        uri.headers = []
        uri.parameters.remove("method")
        var request = Request(method, uri, from: local, to: remote, callID: id.callID, cseq: cseq)
        request.headers.append(.maxForwards, "70")
        for route in routes { request.headers.append(.route, route.description) }
        return request
    }

    // MARK: The peer's requests

    /// Notes the number of a request in a new transaction; false if it is not higher than the last one: 500 (D4). ACK
    /// and CANCEL have the number of their INVITE and are not for here.
    package mutating func accepts(_ request: Request) -> Bool {
        if let remoteSequence, request.cseq.number <= remoteSequence { return false }
        remoteSequence = request.cseq.number
        return true
    }

    /// Whether a message may come from this address (SEC14): that of a hop given as a literal, or of a name, which
    /// nobody can compare without a look-up.
    package func mayComeFrom(_ address: IPAddress) -> Bool {
        (routeSet.map(\.uri) + [remoteTarget]).contains { $0.host.map { $0.address ?? address == address } ?? true }
    }
}
