import Configuration
import Primitives
import SIP
import Testing
import UserAgent

/// Who may call, whose call it is, and what is answered by itself (SEC1, SEC2, I1, I2, I7).
@Suite struct TrustTests {
    static let registrar = Site.registrar
    static let stranger = SocketAddress(.v4(0xC633_6401), 5060)

    static func flow(from remote: SocketAddress) -> Flow {
        Flow(transport: .udp, local: SocketAddress(Site.home, 5060), remote: remote)
    }

    /// A site with registered accounts.
    static func site(_ accounts: [Account], maxCalls: Int = 4) -> Site {
        let registrar = Registrar(.accept(3600))
        let site = Site(accounts, maxCalls: maxCalls)
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(Int64(accounts.count)))
        site.forgetSent()
        return site
    }

    static let offer = """
        v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n\
        m=audio 4000 RTP/AVP 0 8\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\n
        """

    static func request(
        _ method: SIPMethod, _ uri: String, from: String = "sip:200@pbx.example.org", to: String? = nil,
        headers: Headers = [:], tag: String = "f1"
    ) throws -> Request {
        var request = Request(
            method, try SIPURI(uri), from: NameAddress(try SIPURI(from), parameters: ["tag": tag]),
            to: NameAddress(try SIPURI(to ?? uri)), callID: "call-\(tag)", cseq: 1,
            vias: [
                Via(
                    transport: "UDP", host: Host(Site.registrar.address), branch: "z9hG4bK\(tag)\(method)",
                    parameters: ["rport": nil])
            ], headers: headers)
        request.headers.append(.contact, "<sip:200@192.0.2.1>")
        if method == .invite {
            request.headers.append(.contentType, "application/sdp")
            request.body = Array(offer.utf8)
        }
        return request
    }

    static func invite(
        _ uri: String, from: String = "sip:200@pbx.example.org", to: String? = nil, headers: Headers = [:],
        tag: String = "f1"
    ) throws -> Request {
        try request(.invite, uri, from: from, to: to, headers: headers, tag: tag)
    }

    static func give(_ request: Request, from remote: SocketAddress = registrar, to site: Site) {
        site.give(.received(request.serialized(), flow(from: remote)))
        site.run(for: .milliseconds(100))
    }

    static func answers(_ site: Site) -> [Int] { site.sent.compactMap(\.response?.status).filter { $0 > 100 } }

    // MARK: Who

    @Test func theRegistrarMayCall() throws {
        let site = Self.site([try .house()])
        Self.give(try Self.invite("sip:k7xhouse@192.0.2.7"), to: site)
        #expect(site.incoming.map(\.account) == ["house"])
        #expect(site.incoming.first?.why == "contact user")
        #expect(site.incoming.first?.answer == .ring)
    }

    @Test(arguments: [
        SIPMethod.invite, .options, .register, .message, .notify, .refer, .subscribe, .publish, SIPMethod("NEW"),
    ])
    func strangersAreNotAnswered(method: SIPMethod) throws {
        let site = Self.site([try .house()])
        Self.give(try Self.request(method, "sip:k7xhouse@192.0.2.7"), from: Self.stranger, to: site)
        site.run(for: .seconds(1))
        #expect(site.sent.isEmpty)
        #expect(site.incoming.isEmpty)
    }

    @Test(arguments: [(SIPMethod.register, 405), (.publish, 405), (SIPMethod("NEW"), 501)])
    func theRegistrarHearsWhatIsNotBuilt(method: SIPMethod, status: Int) throws {
        let site = Self.site([try .house()])
        Self.give(try Self.request(method, "sip:k7xhouse@192.0.2.7"), to: site)
        #expect(Self.answers(site) == [status])
        let allowed = "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, PRACK, UPDATE, REFER, NOTIFY, MESSAGE"
        #expect(site.sent.last?.response?.headers.first(.allow) == allowed)
    }

    @Test func probesAreAnsweredAlsoWhileBusy() throws {
        let site = Self.site([try .house()], maxCalls: 1)
        site.decide = { .ring($0.call) }
        Self.give(try Self.invite("sip:k7xhouse@192.0.2.7"), to: site)
        site.forgetSent()
        Self.give(try Self.request(.options, "sip:k7xhouse@192.0.2.7", tag: "f2"), to: site)
        let response = try #require(site.sent.last?.response)
        #expect(response.status == 200)
        for name in [HeaderName.allow, .accept, .acceptEncoding, .supported, .contact] {
            #expect(response.headers.contains(name), "\(name)")
        }
        site.forgetSent()
        Self.give(try Self.invite("sip:k7xhouse@192.0.2.7", tag: "f3"), to: site)
        #expect(Self.answers(site) == [486])
        #expect(site.portBox.taken.count == 1)
    }

    @Test func listedPeersMayCall() throws {
        var account = try Account.house()
        account.acceptFrom = .sources([.network(.v4(0xC633_6400), prefixLength: 24)])
        let site = Self.site([account])
        Self.give(try Self.invite("sip:house@192.0.2.7"), from: Self.stranger, to: site)
        #expect(site.incoming.count == 1)
        // They too must know an account.
        Self.give(try Self.invite("sip:100@192.0.2.7", tag: "f2"), from: Self.stranger, to: site)
        site.run(for: .seconds(1))
        #expect(!site.sent.contains { $0.response?.callID == "call-f2" })
        #expect(site.incoming.count == 1)
    }

    @Test func listedCallersMayCall() throws {
        var account = try Account.house()
        account.acceptFrom = .sources([.caller(try #require(CallerPattern("sip:2*@pbx.example.org")))])
        let site = Self.site([account])
        Self.give(try Self.invite("sip:house@192.0.2.7"), from: Self.stranger, to: site)
        Self.give(
            try Self.invite("sip:house@192.0.2.7", from: "sip:300@pbx.example.org", tag: "f2"),
            from: Self.stranger, to: site)
        #expect(site.incoming.count == 1)
    }

    @Test func namedHostsMayCall() throws {
        var account = try Account.house()
        account.acceptFrom = .sources([.host("phone.example.org")])
        let site = Site([account])
        let registrar = Registrar(.accept(600))
        site.server = { registrar.answer($0, $1) }
        site.zone = {
            $0 == DNSQuestion("phone.example.org", .a) ? .records([.address(Self.stranger.address)]) : .records([])
        }
        site.run(for: .seconds(1))
        Self.give(try Self.invite("sip:house@192.0.2.7"), from: Self.stranger, to: site)
        #expect(site.incoming.count == 1)
    }

    @Test func anyoneMayRing() throws {
        var account = try Account.house()
        account.acceptFrom = .anyone
        account.autoAnswer = .header
        let site = Self.site([account])
        let headers: Headers = [.callInfo: "<sip:x>;answer-after=0"]
        Self.give(try Self.invite("sip:house@192.0.2.7", headers: headers), from: Self.stranger, to: site)
        #expect(site.incoming.map(\.answer) == [.ring])
        // At most one in 200 ms.
        site.run(for: .seconds(1))
        for tag in ["g1", "g2", "g3"] {
            site.give(
                .received(
                    try Self.invite("sip:house@192.0.2.7", tag: tag).serialized(), Self.flow(from: Self.stranger)))
        }
        #expect(site.incoming.count == 2)
    }

    // MARK: Which account

    @Test func theAccountIsFoundByContactThenRequestThenTo() throws {
        var second = try Account.house("garden")
        second.aliases = ["4930123"]
        var third = try Account.house("gate")
        third.catchAll = true
        let site = Self.site([try .house(), second, third], maxCalls: 20)
        let cases = [
            ("sip:k7xgarden@192.0.2.7", "sip:house@pbx.example.org", "garden"),
            ("sip:garden@192.0.2.7", "sip:house@pbx.example.org", "garden"),
            ("sip:4930123@192.0.2.7", "sip:house@pbx.example.org", "garden"),
            ("sip:unknown@192.0.2.7", "sip:house@pbx.example.org", "house"),
            ("sip:unknown@192.0.2.7", "sip:4930123@pbx.example.org", "garden"),
            ("sip:unknown@192.0.2.7", "sip:other@pbx.example.org", "gate"),
        ]
        for (index, (uri, to, _)) in cases.enumerated() {
            Self.give(try Self.invite(uri, to: to, tag: "f\(index)"), to: site)
        }
        #expect(site.incoming.map(\.account) == cases.map(\.2))
        #expect(site.notes.filter { $0.call != nil }.count == cases.count)
    }

    @Test func nobodysCallIsRefusedOnTheFlow() throws {
        let site = Self.site([try .house()])
        Self.give(try Self.invite("sip:100@192.0.2.7", to: "sip:100@pbx.example.org"), to: site)
        #expect(Self.answers(site) == [404])
    }

    @Test func equalUsersAreToldApartByTheirRegistrars() throws {
        var first = try Account.house("door")
        first.name = "a"
        var second = try Account.house("door", registrar: "sip:192.0.2.40")
        second.name = "b"
        let site = Self.site([first, second])
        Self.give(
            try Self.invite("sip:door@192.0.2.7"), from: SocketAddress(.v4(0xC000_0228), 5060), to: site)
        #expect(site.incoming.map(\.account) == ["b"])
    }

    // MARK: Checks

    @Test func extensionsThatAreNotBuiltAreNamed() throws {
        let site = Self.site([try .house()])
        let headers: Headers = [.require: "100rel, join"]
        Self.give(try Self.invite("sip:house@192.0.2.7", headers: headers), to: site)
        #expect(Self.answers(site) == [420])
        #expect(site.sent.last?.response?.headers.first(.unsupported) == "join")
        #expect(site.incoming.isEmpty)
    }

    @Test func aDescriptionWithoutCommonCodecNeverRings() throws {
        let site = Self.site([try .house()])
        var request = try Self.invite("sip:house@192.0.2.7")
        request.body = Array(Self.offer.replacing("RTP/AVP 0 8", with: "RTP/AVP 97").utf8)
        Self.give(request, to: site)
        #expect(Self.answers(site) == [488])
        #expect(site.incoming.isEmpty)
        #expect(site.portBox.taken.isEmpty)
    }

    @Test func floodsLeaveTheRegistrarItsService() throws {
        var account = try Account.house()
        account.acceptFrom = .anyone
        let site = Self.site([account])
        for index in 0..<3000 {
            let source = SocketAddress(.v4(0xC633_0000 + UInt32(index % 1000)), 5060)
            site.give(
                .received(
                    try Self.request(.options, "sip:house@192.0.2.7", tag: "x\(index)").serialized(),
                    Self.flow(from: source)))
        }
        #expect(site.sent.count <= 100)
        site.forgetSent()
        Self.give(try Self.request(.options, "sip:house@192.0.2.7", tag: "f"), to: site)
        #expect(Self.answers(site) == [200])
    }

    // MARK: Answers by themselves

    @Test(arguments: [
        (HeaderName.callInfo, "<sip:pbx.example.org>;answer-after=0", 0), (.callInfo, "<sip:x>; answer-after=5", 5),
        (.callInfo, "<sip:x>;answer-after=4000000000", 60), (.alertInfo, "<http://x/>;info=alert-autoanswer", 0),
        (.alertInfo, "info=alert-autoanswer;delay=3", 3), (.alertInfo, "Auto Answer", 0), (.alertInfo, "AutoAnswer", 0),
        (.alertInfo, "Ring Answer", 0), (.alertInfo, "<urn:x:ring-answer>", 0), (.alertInfo, "INTERCOM", 0),
        (.alertInfo, "<sip:x>;answer-after=2", 2), (.answerMode, "Auto", 0), (.privAnswerMode, "auto;require", 0),
        (.pAutoAnswer, "normal", 0), (.callInfo, "<sip:x>;info=alert-autoanswer;delay=0", 0),
        (.callInfo, "<sip:x>;info=alert-autoanswer;delay=7", 7), (.callInfo, "<sip:x>;answer-after=61", 60),
    ])
    func dialectsAreUnderstood(name: HeaderName, value: String, seconds: Int64) throws {
        var account = try Account.house()
        account.autoAnswer = .header
        let site = Self.site([account])
        Self.give(try Self.invite("sip:house@192.0.2.7", headers: [name: value]), to: site)
        #expect(site.incoming.map(\.answer) == [.automatic(after: .seconds(seconds))])
    }

    @Test func theRequestURIMayAskToo() throws {
        var account = try Account.house()
        account.autoAnswer = .header
        let site = Self.site([account])
        Self.give(try Self.invite("sip:house@192.0.2.7;intercom=true"), to: site)
        Self.give(try Self.invite("sip:house@192.0.2.7;intercom=no", tag: "f2"), to: site)
        #expect(site.incoming.map(\.answer) == [.automatic(after: .zero), .ring])
    }

    /// Every decision says why (`portero explain`).
    @Test(arguments: [
        (AutoAnswer.never, "rings: auto-answer = never"), (.always, "is answered by itself: auto-answer = always"),
        (.header, "is answered by itself: Answer-Mode asks for it"),
        (.list, "rings: auto-answer-from does not name sip:200@pbx.example.org"),
    ])
    func theReasonIsTold(mode: AutoAnswer, why: String) throws {
        var account = try Account.house()
        account.autoAnswer = mode
        let site = Self.site([account])
        Self.give(try Self.invite("sip:house@192.0.2.7", headers: [.answerMode: "Auto"]), to: site)
        #expect(site.notes.filter { $0.call != nil }.map(\.text) == [why])
    }

    @Test(arguments: [
        (HeaderName.callInfo, "<sip:x>;purpose=icon"), (.alertInfo, "<http://x/ring.wav>"),
        (.alertInfo, "<http://x/intercom>"), (.answerMode, "Manual"), (.pAutoAnswer, "none"),
    ])
    func otherHeadersRing(name: HeaderName, value: String) throws {
        var account = try Account.house()
        account.autoAnswer = .header
        let site = Self.site([account])
        Self.give(try Self.invite("sip:house@192.0.2.7", headers: [name: value]), to: site)
        #expect(site.incoming.map(\.answer) == [.ring])
    }

    @Test func onlyTheCallersNamedAreAnswered() throws {
        var account = try Account.house()
        account.autoAnswer = .header
        account.autoAnswerFrom = [try #require(CallerPattern("sip:100@pbx.example.org"))]
        account.autoAnswerAfter = .seconds(2)
        let site = Self.site([account])
        // From says one thing, the registrar's assertion another: that counts (I7).
        let asserted: Headers = [
            .answerMode: "Auto", .pAssertedIdentity: "\"Kitchen\" <sip:100@pbx.example.org>",
        ]
        Self.give(try Self.invite("sip:house@192.0.2.7", headers: asserted), to: site)
        Self.give(
            try Self.invite(
                "sip:house@192.0.2.7", headers: [.answerMode: "Auto"], tag: "f2"), to: site)
        #expect(site.incoming.map(\.answer) == [.automatic(after: .seconds(2)), .ring])
        #expect(site.incoming.first?.callerName == "Kitchen")
        #expect(site.incoming.first?.caller.description == "sip:100@pbx.example.org")
    }

    @Test func strangersAssertNothing() throws {
        var account = try Account.house()
        account.acceptFrom = .anyone
        account.autoAnswer = .list
        account.autoAnswerFrom = [try #require(CallerPattern("sip:100@pbx.example.org"))]
        let site = Self.site([account])
        let headers: Headers = [.pAssertedIdentity: "<sip:100@pbx.example.org>"]
        Self.give(try Self.invite("sip:house@192.0.2.7", headers: headers), from: Self.stranger, to: site)
        #expect(site.incoming.map(\.answer) == [.ring])
        #expect(site.incoming.first?.caller.user == "200")
    }

    @Test func insistingWithoutLeaveIsForbidden() throws {
        let site = Self.site([try .house()])
        let headers: Headers = [.privAnswerMode: "Auto;require"]
        Self.give(try Self.invite("sip:house@192.0.2.7", headers: headers), to: site)
        #expect(Self.answers(site) == [403])
        #expect(site.incoming.isEmpty)
        #expect(site.refused.map(\.why) == ["Priv-Answer-Mode insists on an answer by itself: auto-answer = never"])
    }
}
