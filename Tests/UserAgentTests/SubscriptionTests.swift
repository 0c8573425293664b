import Primitives
import SIP
import Testing
import UserAgent

/// Events that the account's server tells: subscriptions to phones and to the mailbox, and what comes unasked (D17).
@Suite struct SubscriptionTests {
    static let phone = WatchedPhone(account: "house", uri: SIPURI(user: "200", host: .init(Site.registrar.address)))

    /// A server that registers, and answers SUBSCRIBEs as it is told.
    final class Server {
        let registrar = Registrar(.accept(3600))
        /// Used up one by one, the last one stays; nil: it is silent.
        var script: [Int?] = [200]
        var expires: UInt32 = 3600
        var retryAfter: UInt32?
        /// Demanded by digest.
        var nonce: String?
        private(set) var seen: [Request] = []

        func answer(_ request: Request, _ flow: Flow) -> [(after: Duration, Response)] {
            guard request.method == .subscribe else { return registrar.answer(request, flow) }
            seen.append(request)
            if let nonce, request.headers.first(.authorization)?.contains(nonce) != true {
                var response = request.response(401, toTag: "s")
                response.headers.append(.wwwAuthenticate, "Digest realm=\"pbx\", nonce=\"\(nonce)\", qop=\"auth\"")
                return [(.milliseconds(5), response)]
            }
            guard let status = script.count > 1 ? script.removeFirst() : script[0] else { return [] }
            var response = request.response(status, toTag: "s")
            if status < 300 {
                response.headers.append(.expires, request.expires == 0 ? "0" : String(expires))
                response.headers.append(.contact, "<sip:events@192.0.2.1>")
            }
            if let retryAfter { response.headers.append(.retryAfter, String(retryAfter)) }
            if status == 423 { response.headers.append(.minExpires, "7200") }
            return [(.milliseconds(5), response)]
        }
    }

    let server = Server()
    let site: Site

    init() throws {
        site = Site([try .house()], watchedPhones: [Self.phone])
        let server = server
        site.server = { server.answer($0, $1) }
    }

    private func start() {
        site.run(for: .seconds(1))
    }

    private static func document(_ version: Int, _ dialogs: String, full: Bool = true) -> String {
        "<dialog-info version='\(version)' state='\(full ? "full" : "partial")' entity='sip:200@x'>\(dialogs)</dialog-info>"
    }

    private static func dialog(_ state: String, _ direction: String = "recipient", id: String = "1") -> String {
        "<dialog id='\(id)' direction='\(direction)'><state>\(state)</state></dialog>"
    }

    /// A NOTIFY in the dialog of the last SUBSCRIBE.
    private func notify(
        _ body: String = "", state: String = "active;expires=3600", event: String = "dialog",
        type: String = DialogInformation.contentType, cseq: UInt32, tag: String = "s",
        from remote: SocketAddress = Site.registrar, to subscribe: Request? = nil
    ) throws -> Int? {
        let subscribe = try #require(subscribe ?? server.seen.last)
        var request = Request(
            .notify, try #require(subscribe.contacts.first?.uri),
            from: NameAddress(subscribe.to.uri, parameters: ["tag": tag]), to: subscribe.from,
            callID: subscribe.callID, cseq: cseq,
            vias: [
                Via(
                    transport: "UDP", host: Host(remote.address), branch: "z9hG4bKn\(site.now.nanoseconds)",
                    parameters: ["rport": nil])
            ],
            headers: [
                .contact: "<sip:events@192.0.2.1>", .event: event, .subscriptionState: state,
            ])
        if !body.isEmpty {
            request.headers.append(.contentType, type)
            request.body = Array(body.utf8)
        }
        site.forgetSent()
        TrustTests.give(request, from: remote, to: site)
        return site.sent.last { $0.response?.cseq.method == .notify }?.response?.status
    }

    private var states: [PhoneState?] { site.phones.map(\.1) }

    @Test func aPhoneIsWatchedOnceTheAccountIsRegistered() throws {
        start()
        let subscribe = try #require(server.seen.first)
        #expect(server.seen.count == 1)
        #expect(subscribe.uri == Self.phone.uri)
        #expect(subscribe.headers.first(.event) == "dialog")
        #expect(subscribe.headers.first(.accept) == "application/dialog-info+xml")
        #expect(subscribe.headers.first(.expires) == "3600")
        #expect(subscribe.contacts.first?.uri.user == "k7xhouse")
        #expect(subscribe.from.uri.user == "house")
        let foundA = try notify(Self.document(0, ""), cseq: 1)
        #expect(foundA == 200)
        let foundB = try notify(Self.document(1, Self.dialog("early")), cseq: 2)
        #expect(foundB == 200)
        let foundC = try notify(Self.document(2, Self.dialog("confirmed"), full: false), cseq: 3)
        #expect(foundC == 200)
        let foundD = try notify(Self.document(3, Self.dialog("terminated"), full: false), cseq: 4)
        #expect(foundD == 200)
        #expect(states == [.idle, .ringing, .busy, .idle])
    }

    /// One who calls is busy, and a second call that rings is shown before the first that is talked in.
    @Test func ringingIsShownBeforeBusy() throws {
        start()
        let foundA = try notify(Self.document(1, Self.dialog("early", "initiator")), cseq: 1)
        #expect(foundA == 200)
        let foundB = try notify(Self.document(2, Self.dialog("early", id: "2"), full: false), cseq: 2)
        #expect(foundB == 200)
        // Older than what is known: passed over.
        let foundC = try notify(Self.document(1, ""), cseq: 3)
        #expect(foundC == 200)
        let foundD = try notify(Self.document(3, ""), cseq: 4)
        #expect(foundD == 200)
        #expect(states == [.busy, .ringing, .idle])
    }

    @Test func itIsRefreshedAtNineTenthsInItsDialog() throws {
        server.expires = 1000
        start()
        _ = try notify(Self.document(0, ""), state: "active", cseq: 1)
        site.run(for: .seconds(880))
        #expect(server.seen.count == 1)
        site.run(for: .seconds(30))
        #expect(server.seen.count == 2)
        let refresh = try #require(server.seen.last)
        #expect(refresh.to.tag == "s")
        #expect(refresh.callID == server.seen[0].callID)
        #expect(refresh.cseq.number == 2)
        #expect(refresh.uri.description == "sip:events@192.0.2.1")
        #expect(states == [.idle], "a refresh is no news")
    }

    @Test func aNotifyMayComeBeforeTheTwoHundred() throws {
        server.script = [nil]
        start()
        let foundA = try notify(Self.document(0, Self.dialog("early")), cseq: 7, tag: "early")
        #expect(foundA == 200)
        #expect(states == [.ringing])
        // The dialog is that of the NOTIFY; another leg of a forked SUBSCRIBE is not wanted.
        let foundB = try notify(Self.document(0, ""), cseq: 1, tag: "other")
        #expect(foundB == 481)
        let foundC = try notify(Self.document(1, ""), cseq: 8, tag: "early")
        #expect(foundC == 200)
        #expect(states == [.ringing, .idle])
    }

    @Test func credentialsAreGivenWithTheNextNumber() throws {
        server.nonce = "n1"
        start()
        #expect(server.seen.map(\.cseq.number) == [1, 2])
        #expect(Set(server.seen.map(\.callID)).count == 1)
        let found = try notify(Self.document(0, ""), cseq: 1)
        #expect(found == 200)
        #expect(states == [.idle])
    }

    @Test(arguments: ["deactivated", "timeout"])
    func terminatedIsSubscribedAgainAtOnce(reason: String) throws {
        start()
        _ = try notify(Self.document(0, ""), cseq: 1)
        site.run(for: .seconds(60))
        let found = try notify(state: "terminated;reason=\(reason)", cseq: 2)
        #expect(found == 200)
        site.run(for: .seconds(1))
        #expect(server.seen.count == 2)
        #expect(server.seen[1].callID != server.seen[0].callID)
        #expect(states == [.idle, nil])
    }

    /// A server that ends every subscription at once is not asked without end.
    @Test func noStormOfSubscriptions() throws {
        start()
        var cseq: UInt32 = 1
        for _ in 0..<20 {
            _ = try notify(state: "terminated;reason=timeout", cseq: cseq)
            cseq += 1
            site.run(for: .seconds(1))
        }
        #expect(server.seen.count <= 3)
    }

    @Test func probationWaitsAsLongAsItSays() throws {
        start()
        _ = try notify(Self.document(0, ""), cseq: 1)
        let found = try notify(state: "terminated;reason=probation;retry-after=120", cseq: 2)
        #expect(found == 200)
        site.run(for: .seconds(115))
        #expect(server.seen.count == 1)
        site.run(for: .seconds(10))
        #expect(server.seen.count == 2)
    }

    @Test func giveUpWaitsHalfAMinuteToFive() throws {
        start()
        let found = try notify(state: "terminated;reason=giveup", cseq: 1)
        #expect(found == 200)
        site.run(for: .seconds(29))
        #expect(server.seen.count == 1)
        site.run(for: .seconds(20))
        #expect(server.seen.count == 2)
    }

    @Test(arguments: ["rejected", "noresource"])
    func rejectedRestsUntilTheNextRegistration(reason: String) throws {
        start()
        let found = try notify(state: "terminated;reason=\(reason)", cseq: 1)
        #expect(found == 200)
        site.run(for: .seconds(3000))
        #expect(server.seen.count == 1)
        site.give(.unregister(account: nil))
        site.run(for: .seconds(1))
        site.give(.register(account: nil))
        site.run(for: .seconds(1))
        #expect(server.seen.count == 2)
    }

    /// FRITZ!Box refuses SUBSCRIBE: calls do not mind, and nobody is asked again and again.
    @Test(arguments: [403, 404, 405, 489, 501, 603])
    func refusalsRestUntilTheNextRegistration(status: Int) {
        server.script = [status]
        start()
        site.run(for: .seconds(3000))
        #expect(server.seen.count == 1)
        #expect(site.status?.state == .registered)
        #expect(site.notes.filter { $0.text.contains("watching") }.count == 1)
    }

    @Test func failuresAreTriedAgainWithinFiveMinutes() {
        server.script = [503]
        start()
        site.run(for: .seconds(3600))
        #expect((10...20).contains(server.seen.count), "\(server.seen.count)")
        server.script = [200]
        let before = server.seen.count
        site.run(for: .seconds(301))
        #expect(server.seen.count > before)
    }

    @Test func aForgottenSubscriptionIsBegunAnew() throws {
        server.expires = 100
        start()
        _ = try notify(Self.document(0, Self.dialog("confirmed")), state: "active", cseq: 1)
        server.script = [481, 200]
        site.run(for: .seconds(92))
        #expect(server.seen.count == 3)
        #expect(server.seen[1].callID == server.seen[0].callID)
        #expect(server.seen[2].callID != server.seen[0].callID)
        #expect(server.seen[2].to.tag == nil)
        #expect(states == [.busy, nil])
    }

    @Test func aBriefExpiryIsHeeded() {
        server.script = [423, 200]
        start()
        #expect(server.seen.map { $0.headers.first(.expires) } == ["3600", "7200"])
    }

    /// Timer N: a 2xx without a NOTIFY is no subscription.
    @Test func silenceAfterTheTwoHundredIsAFailure() {
        start()
        site.run(for: .seconds(80))
        #expect(server.seen.count == 2)
        #expect(server.seen[1].callID != server.seen[0].callID)
    }

    @Test func notifiesThatDoNotFitAreRefused() throws {
        start()
        let foundA = try notify("x", type: "text/plain", cseq: 1)
        #expect(foundA == 415)
        #expect(site.sent.last?.response?.headers.first(.accept) == "application/dialog-info+xml")
        let foundB = try notify("<broken", cseq: 2)
        #expect(foundB == 400)
        let foundC = try notify(event: "presence", cseq: 3)
        #expect(foundC == 489)
        #expect(site.sent.last?.response?.headers.contains(.allowEvents) == true)
        let foundD = try notify(Self.document(0, ""), cseq: 4)
        #expect(foundD == 200)
        let foundE = try notify(Self.document(1, ""), cseq: 4)
        #expect(foundE == 500)
        let foundF = try notify(Self.document(1, ""), cseq: 5, tag: "else")
        #expect(foundF == 481)
        #expect(states == [.idle])
    }

    /// SEC14: in the dialog, but not of its server.
    @Test func aForgedNotifyIsDropped() throws {
        start()
        let found = try notify(Self.document(0, Self.dialog("confirmed")), cseq: 1, from: TrustTests.stranger)
        #expect(found == nil)
        #expect(states == [])
    }

    @Test func anotherAddressIsTold() throws {
        start()
        _ = try notify(Self.document(0, ""), cseq: 1)
        site.local = .v4(0xC000_0208)
        site.give(.networkChanged)
        site.run(for: .seconds(2))
        let refresh = try #require(server.seen.last)
        #expect(server.seen.count == 2)
        #expect(refresh.to.tag == "s")
        #expect(refresh.contacts.first?.uri.host?.address == site.local)
    }

    @Test func stoppingEndsIt() throws {
        start()
        _ = try notify(Self.document(0, ""), cseq: 1)
        site.give(.stop)
        site.run(for: .seconds(3))
        #expect(site.isStopped)
        #expect(server.seen.last?.headers.first(.expires) == "0")
    }

    @Test func aReloadBeginsAndEndsSubscriptions() throws {
        start()
        _ = try notify(Self.document(0, ""), cseq: 1)
        var settings = site.settings
        var account = try Account.house()
        account.mwi = .subscribe
        settings.accounts = [account]
        site.give(.configure(settings))
        site.run(for: .seconds(1))
        let dialog = server.seen.filter { $0.headers.first(.event) == "dialog" }
        #expect(dialog.map { $0.headers.first(.expires) } == ["3600", "0"])
        let mailbox = try #require(server.seen.first { $0.headers.first(.event) == "message-summary" })
        #expect(mailbox.uri.user == "house")
        let found = try notify(
            "Messages-Waiting: yes\r\nVoice-Message: 3/1\r\n", event: "message-summary",
            type: MessageSummary.contentType, cseq: 1, to: mailbox)
        #expect(found == 200)
        #expect(site.messages.map(\.1) == [MessageSummary(isWaiting: true, new: 3, old: 1)])
    }

    // MARK: Unasked

    private func unasked(_ event: String, _ type: String, _ body: String, tag: String = "u") throws -> Request {
        var request = try TrustTests.request(.notify, "sip:k7xhouse@192.0.2.7", tag: tag)
        request.headers.append(.event, event)
        request.headers.append(.subscriptionState, "active")
        if !body.isEmpty { request.headers.append(.contentType, type) }
        request.body = Array(body.utf8)
        return request
    }

    @Test(arguments: [
        ("message-summary", MessageSummary.contentType, "Messages-Waiting: yes\r\n", 200),
        ("message-summary", "text/plain", "Messages-Waiting: yes\r\n", 415),
        ("message-summary", MessageSummary.contentType, "nothing", 400), ("dialog", "", "", 481),
        ("check-sync", "", "", 489), ("presence", "", "", 489),
    ])
    func whatTheRegistrarTellsUnasked(event: String, type: String, body: String, status: Int) throws {
        start()
        site.forgetSent()
        TrustTests.give(try unasked(event, type, body), to: site)
        #expect(TrustTests.answers(site) == [status])
        #expect(site.messages.count == (status == 200 ? 1 : 0))
        if status == 489 { #expect(site.sent.last?.response?.headers.contains(.allowEvents) == true) }
    }

    @Test func theMailboxMayBeNobodysBusiness() throws {
        var account = try Account.house()
        account.mwi = .no
        let site = TrustTests.site([account])
        TrustTests.give(
            try unasked("message-summary", MessageSummary.contentType, "Messages-Waiting: yes\r\n"), to: site)
        #expect(TrustTests.answers(site) == [481])
        #expect(site.messages.isEmpty)
    }

    // MARK: MESSAGE

    private func message(_ body: [UInt8], _ type: String? = "text/plain", tag: String = "m") throws -> Request {
        var request = try TrustTests.request(.message, "sip:house@192.0.2.7", tag: tag)
        if let type { request.headers.append(.contentType, type) }
        request.body = body
        return request
    }

    @Test(arguments: [
        (8192, "text/plain", 200), (5, "text/plain;charset=UTF-8", 200), (8193, "text/plain", 413),
        (5, "text/html", 415), (5, "text/plain;charset=latin-1", 415), (5, "", 415),
    ])
    func textOfTheRegistrarIsAnEvent(count: Int, type: String, status: Int) throws {
        let site = TrustTests.site([try .house()])
        let text = String(repeating: "x", count: count)
        TrustTests.give(try message(Array(text.utf8), type.isEmpty ? nil : type), to: site)
        #expect(TrustTests.answers(site) == [status])
        #expect(site.texts.map(\.text) == (status == 200 ? [text] : []))
        if status == 200 { #expect(site.texts.first?.from.user == "200") }
        // Nothing else comes of it: no call, no dialog (D18).
        #expect(site.incoming.isEmpty)
        if status == 415 { #expect(site.sent.last?.response?.headers.first(.accept) == "text/plain") }
    }

    @Test func textMustBeText() throws {
        let site = TrustTests.site([try .house()])
        TrustTests.give(try message([0x61, 0xFF]), to: site)
        #expect(TrustTests.answers(site) == [415])
    }
}
