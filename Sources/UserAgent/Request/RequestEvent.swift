package import SIP

/// What becomes of a request.
package enum RequestEvent: Sendable {
    /// The servers that may get it, found by look-up.
    case located(RequestID, [Target])
    /// A flow is there: compose the request for it and submit it.
    case ready(RequestID, Flow, RequestOccasion)
    case provisional(RequestID, Response)
    /// Of an INVITE each 2xx comes, repeats too. `sent`: the request that it answers, with its credentials.
    case final(RequestID, Response, sent: Request, Flow)
    case failed(RequestID, RequestFailure)
}

/// Why a request is to be composed now.
package enum RequestOccasion: Hashable, Sendable {
    case first
    /// For another target or another transport: the same Call-ID and CSeq (T11).
    case again
    /// With credentials: the next CSeq (A2).
    case authorized
}

/// Why a request has no response.
package enum RequestFailure: Error, Hashable, Sendable {
    case notLocated(Locator.Failure)
    case transport(TransportFailure)
    /// Nobody answered: counts as 408.
    case timeout
    /// By our own wish, before it was sent.
    case cancelled

    /// The status that stands for it.
    package var status: Int {
        switch self {
        case .notLocated(.noSuchName): 404
        case .notLocated, .transport: 503
        case .timeout: 408
        case .cancelled: 487
        }
    }

    /// For the operator, without the name of who failed.
    package var text: String {
        switch self {
        case .notLocated(.noSuchName): "no such name"
        case .notLocated(.resolverFailed(let reason)): "name server: \(reason)"
        case .notLocated(.serviceNotAvailable): "the domain does not offer SIP"
        case .notLocated(.noSecureTransport), .notLocated(.transportNotSupported): "transport is not supported"
        case .transport(.refused): "connection refused"
        case .transport(.unreachable): "unreachable"
        case .transport(.noRoute): "no route"
        case .transport(.timedOut): "connection timed out"
        case .transport(.closedByPeer): "connection closed"
        case .transport(.tooLarge): "message too large"
        case .transport(.insecure(let reason)): "TLS: \(reason)"
        case .transport(.other(let reason)): reason
        case .timeout: "no answer"
        case .cancelled: "cancelled"
        }
    }
}
