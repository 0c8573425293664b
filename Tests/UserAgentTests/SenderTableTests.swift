import Configuration
import Primitives
import SIP
import Testing
import UserAgent

/// Who may send what: each cell of the table of rule SEC1.
@Suite struct SenderTableTests {
    enum Sender: CaseIterable { case flow, list, any }

    private static let listed = SocketAddress(.v4(0xC633_6402), 5060)

    private static func site() throws -> Site {
        var account = try Account.house()
        account.acceptFrom = .sources([.host(listed.address.description)])
        let site = TrustTests.site([account])
        site.decide = { .ring($0.call) }
        return site
    }

    private static func address(_ sender: Sender) -> SocketAddress {
        switch sender {
        case .flow: TrustTests.registrar
        case .list: listed
        case .any: TrustTests.stranger
        }
    }

    /// Final responses, and 180, to a request of that sender; repeats count once.
    private static func answers(_ request: Request, _ sender: Sender, _ site: Site) -> [Int] {
        TrustTests.give(request, from: address(sender), to: site)
        site.run(for: .seconds(2))
        return TrustTests.answers(site).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    private static func request(_ method: SIPMethod, headers: Headers = [:]) throws -> Request {
        try TrustTests.request(method, "sip:house@192.0.2.7", headers: headers)
    }

    @Test(arguments: [(Sender.flow, [180]), (.list, [180]), (.any, [])])
    func newInvite(sender: Sender, expected: [Int]) throws {
        let site = try Self.site()
        let found = try Self.answers(Self.request(.invite), sender, site)
        #expect(found == expected)
        #expect(site.incoming.count == expected.count)
        // A dropped call is told to who asks why nothing rang.
        #expect(site.refused.map(\.code) == (expected.isEmpty ? [nil] : []))
    }

    @Test func anyoneRingsWhereTheAccountSaysSo() throws {
        var account = try Account.house()
        account.acceptFrom = .anyone
        let site = TrustTests.site([account])
        site.decide = { .ring($0.call) }
        let found = try Self.answers(Self.request(.invite), .any, site)
        #expect(found == [180])
    }

    @Test(arguments: [(Sender.flow, [200]), (.list, [200]), (.any, [])])
    func options(sender: Sender, expected: [Int]) throws {
        let found = try Self.answers(Self.request(.options), sender, Self.site())
        #expect(found == expected)
    }

    @Test(arguments: [(Sender.flow, [200]), (.list, [200]), (.any, [])])
    func message(sender: Sender, expected: [Int]) throws {
        var request = try Self.request(.message, headers: [.contentType: "text/plain"])
        request.body = [0x68, 0x69]
        let site = try Self.site()
        #expect(Self.answers(request, sender, site) == expected)
        #expect(site.texts.count == expected.count)
    }

    /// NOTIFY of the mailbox: the registrar's alone.
    @Test(arguments: [(Sender.flow, [200]), (.list, [481]), (.any, [])])
    func notifyUnasked(sender: Sender, expected: [Int]) throws {
        var request = try Self.request(
            .notify, headers: [.event: "message-summary", .contentType: MessageSummary.contentType])
        request.body = Array("Messages-Waiting: yes\r\n".utf8)
        let site = try Self.site()
        #expect(Self.answers(request, sender, site) == expected)
        #expect(site.messages.count == (sender == .flow ? 1 : 0))
    }

    /// Nothing is fetched or restarted because somebody says so.
    @Test(
        arguments: [(Sender.flow, [489]), (.list, [489]), (.any, [])],
        ["check-sync", "check-sync;reboot=true", "reboot"])
    func notifyCheckSync(row: (sender: Sender, expected: [Int]), event: String) throws {
        let found = try Self.answers(Self.request(.notify, headers: [.event: event]), row.sender, Self.site())
        #expect(
            found
                == row.expected)
    }

    @Test(arguments: [SIPMethod.subscribe, .refer], Sender.allCases)
    func subscribeAndRefer(method: SIPMethod, sender: Sender) throws {
        let headers: Headers = [.event: "presence", .referTo: "<sip:0900@192.0.2.1>"]
        let site = try Self.site()
        let answers = Self.answers(try Self.request(method, headers: headers), sender, site)
        if sender == .any {
            #expect(answers == [])
        } else {
            #expect(answers.count == 1)
            #expect(answers.allSatisfy { [403, 405, 489].contains($0) })
        }
        #expect(site.sent.allSatisfy { $0.request == nil }, "nobody is called")
    }

    @Test(arguments: [SIPMethod.register, .publish], Sender.allCases)
    func registerAndPublish(method: SIPMethod, sender: Sender) throws {
        let found = try Self.answers(Self.request(method), sender, Self.site())
        #expect(found == (sender == .any ? [] : [405]))
    }

    @Test(arguments: Sender.allCases) func othersAreNotImplemented(sender: Sender) throws {
        let found = try Self.answers(Self.request(SIPMethod("FOO")), sender, Self.site())
        #expect(found == (sender == .any ? [] : [501]))
    }

    /// What belongs to no dialog gets 481; a stranger only as long as the rate allows, and never more than it sent.
    @Test(arguments: [SIPMethod.bye, .info, .invite], Sender.allCases)
    func inUnknownDialogs(method: SIPMethod, sender: Sender) throws {
        var request = try Self.request(method, headers: [.subject: String(repeating: "x", count: 200)])
        request.to.tag = "unknown"
        let foundA = try Self.answers(request, sender, Self.site())
        #expect(foundA == [481])
        request.headers.remove(.subject)
        request.headers.remove(.contentType)
        request.body = []
        let foundB = try Self.answers(request, sender, Self.site()).count
        #expect(foundB == (sender == .any ? 0 : 1))
    }

    @Test(arguments: Sender.allCases) func acknowledgementsAreNeverAnswered(sender: Sender) throws {
        var request = try Self.request(.ack)
        request.to.tag = "unknown"
        let found = try Self.answers(request, sender, Self.site())
        #expect(found == [])
    }

    @Test(arguments: Sender.allCases) func cancelOfNothing(sender: Sender) throws {
        let request = try Self.request(.cancel, headers: [.subject: String(repeating: "x", count: 200)])
        let found = try Self.answers(request, sender, Self.site())
        #expect(found == [481])
    }

    // MARK: SEC2

    /// Ghost calls: a scanner that has found the address does not find a user.
    @Test(arguments: ["sip:100@192.0.2.7", "sip:admin@192.0.2.7", "sip:192.0.2.7", "sip:k7xhous@192.0.2.7"])
    func ghostCallsAreNotFoundOnTheFlowAndDroppedElsewhere(uri: String) throws {
        for (sender, expected) in [(Sender.flow, [404]), (.list, []), (.any, [])] {
            let site = try Self.site()
            let request = try TrustTests.invite(uri, to: "sip:100@pbx.example.org")
            #expect(Self.answers(request, sender, site) == expected)
            #expect(site.incoming.isEmpty)
        }
    }

    /// The users that a call may be for: the Contact's, the account's, an alias, whatever else with `catch-all`.
    @Test(arguments: [
        ("k7xhouse", false, true), ("house", false, true), ("+4930", false, true), ("x", false, false),
        ("x", true, true),
    ])
    func usersThatRing(user: String, catchAll: Bool, rings: Bool) throws {
        var account = try Account.house()
        account.aliases = ["+4930"]
        account.catchAll = catchAll
        let site = TrustTests.site([account])
        TrustTests.give(
            try TrustTests.invite("sip:\(user)@192.0.2.7", to: "sip:x@pbx.example.org"), to: site)
        #expect(site.incoming.count == (rings ? 1 : 0))
    }

    // MARK: SEC14

    /// A BYE with the right tags from another address ends nothing.
    @Test func forgedRequestsInADialogAreDropped() throws {
        let site = try Self.site()
        site.decide = { .answer($0.call) }
        TrustTests.give(try Self.request(.invite), to: site)
        let answer = try #require(site.sent.compactMap(\.response).last { $0.status == 200 })
        var bye = try Self.request(.bye)
        bye.to = answer.to
        bye.cseq.number = 2
        site.forgetSent()
        TrustTests.give(bye, from: Self.address(.any), to: site)
        #expect(site.calls.last?.state == .talking)
        #expect(!site.sent.contains { $0.response?.cseq.method == .bye })
        TrustTests.give(bye, to: site)
        #expect(site.calls.last?.state == .ended)
    }
}
