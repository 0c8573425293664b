import Primitives
import SIP
import Testing
import UserAgent

/// INVITEs with Replaces, checked (D15).
@Suite struct ReplacesTests {
    /// A site with one call that came in, and how a Replaces would name it.
    private func called(_ input: (CallKey) -> UserAgentInput) throws -> (site: Site, dialog: Replaces) {
        let site = TrustTests.site([try .house(), try .house("other")])
        TrustTests.give(try TrustTests.invite("sip:house@192.0.2.7", tag: "f0"), to: site)
        let call = try #require(site.incoming.first?.call)
        site.give(input(call))
        site.run(for: .milliseconds(100))
        let tag = try #require(site.sent.compactMap(\.response).last { $0.status >= 180 }?.to.tag)
        if case .answer = input(call) {
            var ack = try TrustTests.request(.ack, "sip:k7xhouse@192.0.2.7", to: "sip:house@192.0.2.7", tag: "f0")
            ack.to.tag = tag
            TrustTests.give(ack, to: site)
        }
        site.forgetSent()
        return (site, Replaces(callID: "call-f0", toTag: tag, fromTag: "f0"))
    }

    private func answer(
        _ site: Site, _ replaces: [String], user: String = "house", more: Headers = [:]
    ) throws -> Int? {
        var headers = more
        for value in replaces { headers.append(.replaces, value) }
        TrustTests.give(try TrustTests.invite("sip:\(user)@192.0.2.7", headers: headers, tag: "f9"), to: site)
        return site.sent.compactMap(\.response).last { $0.status > 100 && $0.from.tag == "f9" }?.status
    }

    @Test func answeredCallIsReplaced() throws {
        let (site, dialog) = try called { .answer($0) }
        let status = try answer(site, [dialog.description])
        #expect(status == 200)
        #expect(site.incoming.last?.replaces == site.incoming.first?.call)
        #expect(site.sent.compactMap(\.request).map(\.method) == [.bye])
        #expect(site.calls.last { $0.call == site.incoming.first?.call }?.cause == "transferred")
    }

    @Test func replacedCallDoesNotCountAsBusy() throws {
        let site = TrustTests.site([try .house()], maxCalls: 1)
        TrustTests.give(try TrustTests.invite("sip:house@192.0.2.7", tag: "f0"), to: site)
        site.give(.answer(try #require(site.incoming.first?.call)))
        let tag = try #require(site.sent.compactMap(\.response).last?.to.tag)
        let status = try answer(site, [Replaces(callID: "call-f0", toTag: tag, fromTag: "f0").description])
        #expect(status == 200)
    }

    @Test func earlyOnlyButAnswered() throws {
        let (site, dialog) = try called { .answer($0) }
        let status = try answer(site, [dialog.description + ";early-only"])
        #expect(status == 486)
        #expect(site.incoming.count == 1)
    }

    @Test func stillRingingHere() throws {
        let (site, dialog) = try called { .ring($0) }
        let status = try answer(site, [dialog.description])
        #expect(status == 481)
    }

    @Test func alreadyOver() throws {
        let (site, dialog) = try called { .answer($0) }
        site.give(.hangUp(try #require(site.incoming.first?.call), .normal))
        let status = try answer(site, [dialog.description])
        #expect(status == 603)
    }

    @Test func noMatch() throws {
        let (site, dialog) = try called { .answer($0) }
        var other = dialog
        other.fromTag = "x"
        let status = try answer(site, [other.description])
        #expect(status == 481)
    }

    /// Of another account it is nobody's call.
    @Test func callOfAnotherAccount() throws {
        let (site, dialog) = try called { .answer($0) }
        let status = try answer(site, [dialog.description], user: "other")
        #expect(status == 481)
    }

    @Test func twoOrWithJoinOrMalformed() throws {
        for index in 0..<3 {
            let (site, dialog) = try called { .answer($0) }
            let text = dialog.description
            let status =
                switch index {
                case 0: try answer(site, [text, text])
                case 1: try answer(site, [text], more: [.join: text])
                default: try answer(site, ["nonsense"])
                }
            #expect(status == 400)
        }
    }
}
