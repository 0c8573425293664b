import SIP

/// What arrives as a datagram, and as a response to be authenticated: nothing traps, and a message that was read is
/// written so that it reads the same.
@Sendable func fuzzMessage(_ octets: [UInt8]) {
    do throws(ParseError) {
        guard let message = try Message.parse(datagram: octets) else { return }
        read(message)
        let written = message.serialized()
        // Text that was no UTF-8 has grown by its repair, perhaps beyond a limit.
        guard written.count <= Limits.datagram, String(validating: octets, as: UTF8.self) != nil else { return }
        let again = try? Message.parse(datagram: written)
        precondition(again?.serialized() == written, "a message that was read cannot be written")
    } catch {
        _ = error.refusal?.serialized()
    }
}

/// However the octets of a stream are split, the same comes out (P11).
@Sendable func fuzzStream(_ octets: [UInt8]) {
    guard let first = octets.first else { return }
    var events: [[StreamFramer.Event]] = []
    for cut in [octets.count, Int(first) % octets.count, 1] {
        var framer = StreamFramer()
        var out: [StreamFramer.Event] = []
        framer.feed(octets.prefix(cut), at: .zero, &out)
        if cut == 1 {
            for octet in octets.dropFirst() { framer.feed(CollectionOfOne(octet), at: .zero, &out) }
        } else {
            framer.feed(octets.dropFirst(cut), at: .zero, &out)
        }
        events.append(out)
    }
    precondition(events.allSatisfy { $0 == events[0] }, "the stream depends on where it was split")
}

/// Challenges and credentials, as the value of any header of theirs.
@Sendable func fuzzDigest(_ octets: [UInt8]) {
    let text = String(decoding: octets, as: UTF8.self)
    for reading in DigestChallenge.read(text, isProxy: false) {
        guard case .usable(let challenge) = reading else { continue }
        let again = DigestChallenge.read(challenge.description, isProxy: false)
        precondition(again.count == 1, "a challenge that was read is written as another")
    }
    if let credentials = DigestCredentials(text) {
        precondition(DigestCredentials(credentials.description) != nil, "credentials that were read cannot be written")
    }
}

@Sendable func fuzzURI(_ octets: [UInt8]) {
    let text = String(decoding: octets, as: UTF8.self)
    if let uri = try? SIPURI(text) {
        precondition(uri.isEquivalent(to: uri), "a URI differs from itself")
        precondition((try? SIPURI(uri.description)) == uri, "a URI that was read cannot be written")
        _ = (uri.user, uri.password, uri.numberDigits, uri.transport, uri.isLooseRouter)
    }
    if let address = try? NameAddress(text) {
        precondition((try? NameAddress(address.description)) == address, "an address that was read cannot be written")
    }
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
