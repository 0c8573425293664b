import Primitives
import SIP
import Simulation
import Testing

/// Every message of the corpus against its verdict, its fields and the stream framer.
@Suite struct MessageCorpusTests {
    private static let isPublishedPresent = !MessageCase.published.isEmpty

    @Test func composedCorpusIsWhole() {
        #expect(MessageCase.composed.count >= 128)
    }

    @Test(arguments: MessageCase.composed)
    func composed(_ message: MessageCase) throws { try check(message) }

    @Test(
        .enabled(if: isPublishedPresent, "texts of RFC 4475 and RFC 5118 are not here"),
        arguments: MessageCase.published)
    func published(_ message: MessageCase) throws { try check(message) }

    @Test(arguments: MessageCase.composed)
    func composedOverAStream(_ message: MessageCase) { checkStream(message) }

    @Test(
        .enabled(if: isPublishedPresent, "texts of RFC 4475 and RFC 5118 are not here"),
        arguments: MessageCase.published)
    func publishedOverAStream(_ message: MessageCase) { checkStream(message) }

    // MARK: One datagram

    private func check(_ message: MessageCase) throws {
        let result: Message?
        do throws(ParseError) {
            result = try Message.parse(datagram: message.octets)
        } catch {
            #expect(message.expect.parse != .accept && message.expect.parse != .ignore, "\(error)")
            checkRefusal(error, message)
            return
        }
        switch message.expect.parse {
        case .ignore: #expect(result == nil)
        case .reject: Issue.record("accepted")
        case .accept: #expect(result != nil)
        case .lenient: break
        }
        guard let result else { return }
        for (name, expected) in message.fields {
            guard let actual = try value(of: name, in: result, expected) else { continue }
            #expect(actual == expected, "\(name)")
        }
        // What is written is read as the same message again.
        #expect(try Message.parse(datagram: result.serialized()) == result)
    }

    private func checkRefusal(_ error: ParseError, _ message: MessageCase) {
        switch message.expect.action {
        case "drop": #expect(error.refusal == nil)
        case "respond", "respond-or-process":
            guard let refusal = error.refusal else {
                Issue.record("no refusal: \(error)")
                return
            }
            #expect(message.expect.status.contains(refusal.status))
            #expect(String(decoding: refusal.serialized(), as: UTF8.self).hasPrefix("SIP/2.0 \(refusal.status) "))
        default:
            if let refusal = error.refusal { #expect(message.expect.status.contains(refusal.status)) }
        }
    }

    /// The parser's value of a field; nil for fields that other layers deliver.
    private func value(of name: String, in message: Message, _ expected: JSONValue) throws -> JSONValue? {
        switch message {
        case .request(let request):
            switch name {
            case "kind": .text("request")
            case "method": .text(request.method.name)
            case "isKnownMethod": .flag(request.method.isDefined)
            case "requestURI":
                // Spelt as received, but for IPv6 literals, which compare by value.
                if case .text(let text) = expected, try SIPURI(text).isEquivalent(to: request.uri) {
                    expected
                } else {
                    .text(request.uri.description)
                }
            case "requestUser": JSONValue(request.uri.user)
            case "requestHost": JSONValue(request.uri.host?.address?.description ?? request.uri.host?.text)
            case "requestHostKind": JSONValue(request.uri.host?.address?.isV6 == true ? "ipv6" : nil)
            case "requestHostNormalised":
                if case .text(let text) = expected, request.uri.host?.address == IPAddress(text) {
                    expected
                } else {
                    JSONValue(request.uri.host?.text)
                }
            case "requestPort": JSONValue(request.uri.port)
            case "maxForwards": JSONValue(request.maxForwards)
            case "routeSetAsUAS": .list(request.recordRoutes.map { .text($0.uri.description) })
            default: try common(name, request, expected)
            }
        case .response(let response):
            switch name {
            case "kind": .text("response")
            case "statusCode": JSONValue(response.status)
            case "reason": .text(response.reason)
            default: try common(name, response, expected)
            }
        }
    }

    private func common(_ name: String, _ message: some MessageFields, _ expected: JSONValue) throws -> JSONValue? {
        let contact = message.contacts.first
        switch name {
        case "viaCount": return JSONValue(message.vias.count)
        case "viaTransports": return .list(message.vias.map { .text($0.transport) })
        case "viaHosts": return .list(message.vias.map { .text(($0.host.address?.description ?? $0.host.text)) })
        case "viaReceived": return JSONValue(message.topVia?.received?.description)
        case "topViaHost":
            if case .text(let text) = expected, Host(text) == message.topVia?.host { return expected }
            return JSONValue(message.topVia?.host.text)
        case "topViaPort": return JSONValue(message.topVia?.port)
        case "topViaBranch": return JSONValue(message.topVia?.branch)
        case "contactCount": return JSONValue(message.headers.list(.contact).count)
        case "contactDisplay": return JSONValue(contact?.displayName)
        case "contactUserUnescaped": return JSONValue(contact?.uri.user)
        case "contactHost": return JSONValue(contact?.uri.host?.address?.description)
        case "contactPort": return JSONValue(contact?.uri.port)
        case "contactURIParams":
            let parameters = contact?.uri.parameters.list ?? []
            return .object(
                Dictionary(
                    uniqueKeysWithValues: parameters.map { ($0.name, JSONValue(contact?.uri.parameter($0.name))) }))
        case "contactHeaderParams": return .list((contact?.parameters.list ?? []).map { .text($0.name) })
        case "callID": return .text(message.callID)
        case "cseq": return JSONValue(message.cseq.number)
        case "cseqMethod": return .text(message.cseq.method.name)
        case "fromTag": return JSONValue(message.from.tag)
        case "fromDisplay": return JSONValue(message.from.displayName)
        case "fromUserDecoded": return JSONValue(message.from.uri.user)
        case "fromScheme": return .text(message.from.uri.scheme.name)
        case "fromNumber": return JSONValue(message.from.uri.numberDigits)
        case "toTag": return JSONValue(message.to.tag)
        case "toUser": return JSONValue(message.to.uri.user)
        case "contentLength": return JSONValue(message.body.count)
        case "subject": return JSONValue(message.headers.first(.subject))
        case "acceptCount": return JSONValue(message.headers.list(.accept).count)
        case "supported": return .list(message.supported.map { .text($0) })
        case "sessionExpires": return JSONValue(message.sessionExpires?.seconds)
        case "paiCount": return JSONValue(message.assertedIdentities.count)
        case "recordRouteCount": return JSONValue(message.recordRoutes.count)
        case "bodyParts": return JSONValue(try message.bodyParts().count)
        case "sdpFound": return .flag(try message.bodyParts().contains { $0.contentType?.name == "application/sdp" })
        case "sdpConnection", "mediaConnections", "autoAnswer", "messagesInDatagram": return nil
        default:
            Issue.record("field \(name) is not compared")
            return nil
        }
    }

    // MARK: A stream

    private func events(_ pieces: [[UInt8]]) -> [StreamFramer.Event] {
        var framer = StreamFramer()
        var events: [StreamFramer.Event] = []
        for piece in pieces { framer.feed(piece, at: .zero, &events) }
        return events
    }

    private func checkStream(_ message: MessageCase) {
        let whole = events([message.octets])
        #expect(events(message.octets.map { [$0] }) == whole)
        let middle = message.octets.count / 2
        #expect(events([Array(message.octets[..<middle]), Array(message.octets[middle...])]) == whole)

        let messages = whole.filter { if case .message = $0 { true } else { false } }
        if message.isStream, message.expect.parse == .accept { #expect(messages.count == 1) }
        if message.expect.parse == .reject { #expect(messages.isEmpty) }
        if message.expect.streamReply != nil { #expect(whole == [.pong, .ping]) }
        guard case .message(let first)? = whole.first else { return }
        let octets = first.serialized()
        #expect(events([octets + [0x0D, 0x0A] + octets]) == [.message(first), .pong, .message(first)])
    }
}
