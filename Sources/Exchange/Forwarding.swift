import Primitives
import SIP

/// A request that was passed on to one or more bindings: the response context of RFC 3261 §16.
struct Forwarding {
    /// As it came, with the Vias that its responses need.
    let request: Request
    /// Branches without a final response.
    var pending: Set<ClientTransactionID> = []
    /// The best final response so far, other than 2xx.
    var best: Response?
    /// A 2xx or 6xx came, or the caller gave up: no other branch shall be answered any more.
    var isDecided = false
    /// A 2xx to an INVITE went back: what is left is to pass on its repeats.
    var isAnswered = false

    init(_ request: Request) { self.request = request }

    /// Keeps the better of two failures: 6xx, else the lowest class, of equals the first (RFC 3261 §16.7 step 6).
    mutating func consider(_ response: Response) {
        guard let best, Self.rank(best.status) <= Self.rank(response.status) else { return self.best = response }
    }

    private static func rank(_ status: Int) -> Int { status >= 600 ? 0 : status / 100 }

    /// A response of a branch as it goes back: by the way that the request came.
    func back(_ response: Response) -> Response {
        var response = response
        response.vias = request.vias
        return response
    }
}
