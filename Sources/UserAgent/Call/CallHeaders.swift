import SIP

extension Headers {
    /// What may be sent to us: the same in an INVITE, in its 2xx and in the answer to OPTIONS (D2).
    mutating func appendAllow() { append(.allow, "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO") }

    /// Bodies that are understood, for 415 and OPTIONS.
    mutating func appendAccept() { append(.accept, "application/sdp, application/dtmf-relay, application/dtmf") }
}

extension Call {
    /// A session description as body.
    func setBody(_ description: [UInt8], of message: inout some MessageFields) {
        message.headers.append(.contentType, "application/sdp")
        message.body = description
    }

    /// A response that makes or refreshes a dialog: our tag, Contact and the route that was recorded.
    func dialogResponse(_ status: Int, to request: Request, on flow: Flow) -> Response {
        var response = request.response(status, toTag: localTag)
        for route in request.headers.all(.recordRoute) { response.headers.append(.recordRoute, route) }
        response.headers.append(.contact, NameAddress(account.contact(on: flow, for: request.uri)).description)
        response.headers.appendAllow()
        return response
    }
}
