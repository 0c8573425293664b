import SIP

/// Extensions of SIP that are built in: what Supported says, and what a Require may name (D2).
enum Extensions {
    static let supported = ["100rel", "timer", "replaces", "norefersub"]
}

extension SIPMethod {
    /// What may be sent to us: the same in an INVITE, in its 2xx and in the answer to OPTIONS (D2).
    static let allowed: [SIPMethod] = [
        .invite, .ack, .cancel, .bye, .options, .info, .prack, .update, .refer, .notify, .message,
    ]
}

extension Headers {
    mutating func appendAllow() { append(.allow, SIPMethod.allowed.map(\.name).joined(separator: ", ")) }

    mutating func appendSupported() { append(.supported, Extensions.supported.joined(separator: ", ")) }

    /// Event packages that are served: only what a transfer that was asked for became of.
    mutating func appendAllowEvents() { append(.allowEvents, "refer") }

    /// Bodies that are understood, for 415 and OPTIONS.
    mutating func appendAccept() {
        append(.accept, "application/sdp, application/dtmf-relay, application/dtmf, message/sipfrag")
    }
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
        response.headers.appendSupported()
        return response
    }
}
