/// Names a client transaction: the branch of its top Via, and the method (RFC 3261 §17.1.3).
package struct ClientTransactionID: Hashable, Sendable {
    package var branch: String
    package var method: SIPMethod

    package init(branch: String, method: SIPMethod) {
        self.branch = branch
        self.method = method
    }
}

/// Names a server transaction: what RFC 3261 §17.2.3 matches requests by.
package struct ServerTransactionID: Hashable, Sendable {
    private enum Key: Hashable, Sendable {
        /// Branch with the cookie, sent-by, method.
        case branch(String, host: Host, port: UInt16?, SIPMethod)
        /// A peer of RFC 2543: Request-URI, From tag, Call-ID, CSeq number, top Via, method. The To tag, which an ACK
        /// has and its INVITE has not, is compared apart.
        case legacy(uri: SIPURI, fromTag: String?, callID: String, sequence: UInt32, via: Via, SIPMethod)
    }

    private let key: Key

    /// - Parameter method: INVITE for the transaction that an ACK or a CANCEL belongs to.
    init(_ request: Request, via: Via, as method: SIPMethod) {
        if let branch = via.branch, branch.utf8.starts(with: Via.magicCookie.utf8), branch != Via.magicCookie {
            key = .branch(branch, host: via.host, port: via.port, method)
        } else {
            key = .legacy(
                uri: request.uri, fromTag: request.from.tag, callID: request.callID, sequence: request.cseq.number,
                via: via, method)
        }
    }

    /// Whether matching was by the rule for RFC 2543.
    var isLegacy: Bool { if case .legacy = key { true } else { false } }
}

/// What copies of one request that came on several ways have in common (RFC 3261 §8.2.2.2, T14).
struct MergeKey: Hashable {
    private let fromTag: String?
    private let callID: String
    private let cseq: CSeq

    /// nil for a request in a dialog.
    init?(_ request: Request) {
        guard request.to.tag == nil else { return nil }
        fromTag = request.from.tag
        callID = request.callID
        cseq = request.cseq
    }
}
