import SIP

// Built and run only on purpose:
//   PORTERO_FUZZ=1 swift build --sanitize fuzzer --product FuzzSIP
//   SWIFT_BACKTRACE=enable=no .build/debug/FuzzSIP FOLDER Tests/Data/messages/composed Tests/Data/messages/torture

/// What arrives as a datagram, as a stream, and as a response to be authenticated: nothing traps, and a message that was
/// read is written so that it reads the same.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    var framer = StreamFramer()
    var events: [StreamFramer.Event] = []
    framer.feed(octets.prefix(octets.count / 2), at: .zero, &events)
    framer.feed(octets.dropFirst(octets.count / 2), at: .zero, &events)
    var whole = StreamFramer()
    var wholeEvents: [StreamFramer.Event] = []
    whole.feed(octets, at: .zero, &wholeEvents)
    precondition(events == wholeEvents, "the stream depends on where it was split")
    do throws(ParseError) {
        guard let message = try Message.parse(datagram: octets) else { return 0 }
        read(message)
        let written = message.serialized()
        // Text that was no UTF-8 has grown by its repair, perhaps beyond a limit.
        guard written.count <= Limits.datagram, String(validating: octets, as: UTF8.self) != nil else { return 0 }
        let again = try? Message.parse(datagram: written)
        precondition(again?.serialized() == written, "a message that was read cannot be written")
    } catch {
        _ = error.refusal?.serialized()
    }
    return 0
}

private func read(_ message: Message) {
    switch message {
    case .request(let request):
        readFields(request)
        _ = DigestCredentials(request.headers.first(.authorization) ?? "")
    case .response(let response):
        readFields(response)
        _ = DigestChallenge.all(in: response)
    }
}

private func readFields(_ fields: some MessageFields) {
    _ = (fields.contacts, fields.routes, fields.recordRoutes, fields.referTo, fields.assertedIdentities)
    _ = (fields.supported, fields.allow, fields.expires, fields.sessionExpires, fields.reasons, fields.replaces)
    _ = (fields.rack, fields.event, fields.contentType, try? fields.bodyParts())
    for contact in fields.contacts {
        precondition(contact.uri.isEquivalent(to: contact.uri), "a URI differs from itself")
        _ = (contact.preference, contact.expires, contact.uri.numberDigits)
    }
}
