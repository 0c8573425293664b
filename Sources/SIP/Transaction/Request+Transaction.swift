/// Requests that belong to the transaction of an INVITE.
extension Request {
    /// The ACK to a final response other than 2xx: branch, Request-URI and Route of the INVITE, To of the response
    /// (RFC 3261 §17.1.1.3, T4).
    package func acknowledgement(of response: Response) -> Request {
        var request = sameHop(.ack)
        request.to = response.to
        return request
    }

    /// The CANCEL of this request (RFC 3261 §9.1). `reason`: the value of a Reason header.
    package func cancellation(reason: String? = nil) -> Request {
        var request = sameHop(.cancel)
        if let reason { request.headers.append(.reason, reason) }
        return request
    }

    private func sameHop(_ method: SIPMethod) -> Request {
        var request = Request(
            method, uri, from: from, to: to, callID: callID, cseq: cseq.number, vias: Array(vias.prefix(1)))
        request.headers.append(.maxForwards, "70")
        for route in headers.all(.route) { request.headers.append(.route, route) }
        for agent in headers.all(.userAgent) { request.headers.append(.userAgent, agent) }
        return request
    }
}
