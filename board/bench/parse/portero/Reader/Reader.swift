import Primitives
import SDP
import SIP

@_cdecl("lib_init")
package func prepare() {}

/// Mode 0: the entry point. 1: everything that a phone reads, in the form in which it reads it: every address and Via,
/// tags and users as text, lists of tokens, credentials, events, and the session description. 2 and 3: written anew.
@_cdecl("one")
package func one(_ mode: CInt, _ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    guard let message = try? Message.parse(datagram: octets) else { return 1 }
    switch (mode, message) {
    case (0, _): return 0
    case (1, .request(let request)):
        let isRead = !request.headers.contains(.authorization) || request.credentials(.authorization) != nil
        return read(request) && isRead ? 0 : 2
    case (1, .response(let response)): return read(response) ? 0 : 2
    default: return message.serialized().count + 40 < count ? 3 : 0
    }
}

/// What is read is made by another module: the compiler cannot leave it out.
private func read(_ message: some MessageFields) -> Bool {
    for via in message.vias { _ = (via.branch, via.received, via.rport) }
    _ = (message.from.tag, message.from.displayName, message.from.uri.user, message.to.tag, message.to.uri.user)
    for contact in message.contacts { _ = contact.expires }
    _ = (message.recordRoutes, message.routes, message.assertedIdentities)
    _ = (message.maxForwards, message.expires, message.sessionExpires, message.minSE)
    _ = (message.allow, message.supported, message.require, message.reasons)
    _ = (message.event, message.subscriptionState, message.headers.first(.alertInfo))
    guard let type = message.contentType, type.name == "application/sdp" else { return true }
    return (try? SessionDescription(message.body)) != nil
}
