import Primitives
import SIP
import Testing
import UserAgent

/// Reloads, and calls between an agent's accounts and the world.
@Suite struct AgentTests {
    private func configured(_ site: Site, _ accounts: [Account]) -> UserAgentSettings {
        var settings = site.settings
        settings.accounts = accounts
        return settings
    }

    // MARK: Reload

    @Test func anUntouchedAccountKeepsItsRegistration() throws {
        let accounts = [try Account.house(), try Account.house("garden")]
        let site = TrustTests.site(accounts)
        var changed = accounts
        changed[1].autoAnswer = .always
        changed[1].codecs = [.pcma]
        site.give(.configure(configured(site, changed)))
        site.run(for: .seconds(10))
        #expect(site.sent.isEmpty)
        // The new rules hold all the same.
        TrustTests.give(try TrustTests.invite("sip:garden@192.0.2.7"), to: site)
        #expect(site.incoming.map(\.answer) == [.automatic(after: .zero)])
    }

    @Test func aChangedExpiryIsAskedForInTheSameRegistration() throws {
        let account = try Account.house()
        let registrar = Registrar(.accept(600))
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(1))
        var changed = account
        changed.expires = 900
        site.give(.configure(configured(site, [changed])))
        site.run(for: .seconds(1))
        #expect(registrar.seen.compactMap { $0.headers.first(.expires) } == ["600", "900"])
        #expect(Set(registrar.seen.map(\.callID)).count == 1)
        #expect(registrar.bindings.count == 1)
    }

    @Test func anotherContactReplacesTheOld() throws {
        let account = try Account.house()
        let registrar = Registrar(.accept(600))
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(1))
        var changed = account
        changed.contactUser = "another"
        site.give(.configure(configured(site, [changed])))
        site.run(for: .seconds(1))
        #expect(registrar.bindings.map(\.user) == ["another"])
        #expect(registrar.seen.map { $0.headers.first(.expires) } == ["600", "0", "600"])
        #expect(site.agent.accountStatuses.map(\.state) == [.registered])
    }

    @Test func accountsComeAndGo() throws {
        let registrar = Registrar(.accept(600))
        let site = Site([try .house()])
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(1))
        site.give(.configure(configured(site, [try .house("garden")])))
        site.run(for: .seconds(1))
        #expect(registrar.bindings.map(\.user) == ["k7xgarden"])
        #expect(site.agent.accountStatuses.map(\.name) == ["garden"])
        // A silent registrar does not keep a removed account for ever.
        registrar.script = [.silence]
        site.give(.configure(configured(site, [])))
        site.run(for: .seconds(3))
        #expect(site.agent.accountStatuses.isEmpty)
        let count = registrar.seen.count
        site.run(for: .seconds(3600))
        #expect(registrar.seen.count == count)
        #expect(site.agent.deadline == nil)
    }

    @Test func aNewPasswordIsTriedAtOnce() throws {
        let account = try Account.house()
        let registrar = Registrar(.status(403))
        let site = Site([account])
        site.server = { registrar.answer($0, $1) }
        site.run(for: .seconds(1))
        #expect(site.status?.state == .failed)
        registrar.script = [.accept(600)]
        var changed = account
        changed.password = Password("right")
        site.give(.configure(configured(site, [changed])))
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
    }

    // MARK: Calls

    /// A phone behind the registrar that answers every call.
    private static func phone(_ registrar: Registrar, rings: Bool = false) -> (Request, Flow) -> [(Duration, Response)]
    {
        { request, flow in
            if request.method == .register { return registrar.answer(request, flow).map { ($0.after, $0.1) } }
            guard request.method != .ack else { return [] }
            var response = request.response(200, toTag: "phone")
            guard request.method == .invite else { return [(.milliseconds(5), response)] }
            response.headers.append(.contact, "<sip:100@192.0.2.1>")
            response.headers.append(.contentType, "application/sdp")
            response.body = Array(TrustTests.offer.utf8)
            let ringing = (Duration.milliseconds(5), request.response(180, toTag: "phone"))
            return rings ? [ringing] : [ringing, (.milliseconds(50), response)]
        }
    }

    private func talking(_ accounts: [Account]) throws -> (Site, CallKey) {
        let registrar = Registrar(.accept(3600))
        let site = Site(accounts)
        site.server = Self.phone(registrar)
        site.run(for: .seconds(1))
        site.forgetSent()
        let call = CallKey(1)
        site.give(.dial(DialOrder(call: call, uri: try SIPURI("sip:100@pbx.example.org"), account: "house")))
        site.run(for: .seconds(1))
        #expect(site.calls.map(\.state) == [.dialing, .ringing, .talking])
        return (site, call)
    }

    @Test func callsGoAlongTheRegistration() throws {
        let (site, call) = try talking([try .house()])
        let invite = try #require(site.sent.first?.request)
        #expect(site.sent.first?.flow.remote == Site.registrar)
        #expect(invite.uri.description == "sip:100@pbx.example.org")
        #expect(invite.from.uri.description == "sip:house@pbx.example.org")
        #expect(invite.contacts.first?.uri.description == "sip:k7xhouse@192.0.2.7:5060")
        #expect(site.sent.contains { $0.request?.method == .ack })
        #expect(site.media.count == 1)
        #expect(site.agent.callStatuses.map(\.state) == [.talking])
        site.give(.hangUp(call, .normal))
        site.run(for: .seconds(1))
        #expect(site.sent.last?.request?.method == .bye)
        #expect(site.calls.last?.cause == "normal")
        #expect(site.agent.callStatuses.isEmpty)
        #expect(site.portBox.taken.isEmpty)
        #expect(site.media.last?.1 == nil)
        // Nothing of it is left.
        site.run(for: .seconds(60))
        #expect(site.agent.deadline.map { $0 - site.now > .seconds(600) } ?? true)
    }

    @Test func everyFurtherAnswerGetsAckAndBye() throws {
        let registrar = Registrar(.accept(3600))
        let site = Site([try .house()])
        let phone = Self.phone(registrar)
        site.server = { request, flow in
            var answers = phone(request, flow)
            if request.method == .invite, var second = answers.last {
                second.0 = .milliseconds(300)
                second.1.to.tag = "other"
                answers.append(second)
            }
            return answers
        }
        site.run(for: .seconds(1))
        site.give(.dial(DialOrder(call: CallKey(1), uri: try SIPURI("sip:100@pbx.example.org"), account: "house")))
        site.run(for: .milliseconds(200))
        site.forgetSent()
        site.run(for: .seconds(1))
        let requests = site.sent.compactMap(\.request)
        #expect(requests.map(\.method) == [.ack, .bye])
        #expect(requests.allSatisfy { $0.to.tag == "other" })
        #expect(site.agent.callStatuses.map(\.state) == [.talking])
    }

    @Test func theRoutesOfTheRegistrarAreTaken() throws {
        let registrar = Registrar(.accept(3600))
        registrar.headers = [(.serviceRoute, "<sip:192.0.2.50;lr>")]
        let site = Site([try .house()])
        site.server = Self.phone(registrar)
        site.run(for: .seconds(1))
        site.forgetSent()
        site.give(.dial(DialOrder(call: CallKey(1), uri: try SIPURI("sip:100@elsewhere.example"), account: "house")))
        site.run(for: .milliseconds(20))
        let invite = try #require(site.sent.first?.request)
        #expect(invite.routes.map(\.description) == ["<sip:192.0.2.50;lr>"])
        #expect(site.sent.first?.flow.remote == Site.registrar)
    }

    @Test func challengesInACallAreAnswered() throws {
        let registrar = Registrar(.accept(3600))
        let site = Site([try .house()])
        let phone = Self.phone(registrar)
        site.server = { request, flow in
            guard request.method == .invite, !request.headers.contains(.proxyAuthorization) else {
                return phone(request, flow)
            }
            var response = request.response(407, toTag: "p")
            response.headers.append(.proxyAuthenticate, "Digest realm=\"pbx\", nonce=\"q\", qop=\"auth\"")
            return [(.milliseconds(5), response)]
        }
        site.run(for: .seconds(1))
        site.forgetSent()
        site.give(.dial(DialOrder(call: CallKey(1), uri: try SIPURI("sip:100@pbx.example.org"), account: "house")))
        site.run(for: .seconds(1))
        #expect(site.calls.last?.state == .talking)
        let invites = site.sent.compactMap(\.request).filter { $0.method == .invite }
        #expect(invites.map(\.cseq.number) == [1, 2])
        #expect(invites[0].body == invites[1].body)
        let acknowledgements = site.sent.compactMap(\.request).filter { $0.method == .ack }
        #expect(acknowledgements.map(\.cseq.number) == [1, 2])
        // The ACK of the 2xx has the credentials of its INVITE (A3).
        #expect(
            acknowledgements.last?.headers.first(.proxyAuthorization)
                == invites[1].headers.first(.proxyAuthorization))
    }

    @Test func aCallMovesWithTheNetwork() throws {
        let (site, _) = try talking([try .house()])
        site.forgetSent()
        site.local = .v4(0xC000_0208)
        site.give(.networkChanged)
        site.run(for: .seconds(1))
        #expect(site.status?.state == .registered)
        let moved = try #require(site.sent.compactMap(\.request).first { $0.method == .invite })
        #expect(moved.to.tag == "phone")
        #expect(moved.contacts.first?.uri.host?.text == "192.0.2.8")
        #expect(String(decoding: moved.body, as: UTF8.self).contains("c=IN IP4 192.0.2.8"))
        #expect(site.agent.callStatuses.first?.plan?.local.address == .v4(0xC000_0208))
    }

    @Test func itSaysGoodbyeToCallsAndRegistrars() throws {
        let (site, _) = try talking([try .house()])
        site.forgetSent()
        site.give(.stop)
        site.run(for: .seconds(1))
        #expect(site.isStopped)
        #expect(site.sent.compactMap(\.request?.method) == [.bye, .register])
        #expect(site.calls.last?.cause == "shutdown")
        #expect(site.portBox.taken.isEmpty)
    }

    @Test func aCallIsGivenUpWhileItRings() throws {
        let registrar = Registrar(.accept(3600))
        let site = Site([try .house()])
        site.server = Self.phone(registrar, rings: true)
        site.run(for: .seconds(1))
        site.give(.dial(DialOrder(call: CallKey(1), uri: try SIPURI("sip:100@pbx.example.org"), account: "house")))
        site.run(for: .seconds(1))
        site.forgetSent()
        site.give(.hangUp(CallKey(1), .answeredElsewhere))
        let cancel = try #require(site.sent.first?.request)
        #expect(cancel.method == .cancel)
        #expect(cancel.headers.first(.reason) == "SIP;cause=200;text=\"Call completed elsewhere\"")
        #expect(site.calls.last?.cause == "answered-elsewhere")
    }

    @Test func anIncomingCallIsTakenAndEndedByItsPeer() throws {
        let site = TrustTests.site([try .house()])
        site.decide = { .answer($0.call) }
        TrustTests.give(try TrustTests.invite("sip:k7xhouse@192.0.2.7"), to: site)
        let answer = try #require(site.sent.compactMap(\.response).last)
        #expect(answer.status == 200)
        let key = try #require(site.incoming.first?.call)
        var bye = try TrustTests.request(.bye, "sip:k7xhouse@192.0.2.7:5060")
        bye.to = answer.to
        bye.cseq.number = 2
        TrustTests.give(bye, from: TrustTests.stranger, to: site)
        #expect(site.agent.callStatuses.map(\.call) == [key])
        TrustTests.give(bye, to: site)
        #expect(site.calls.last?.cause == "normal")
        #expect(site.agent.callStatuses.isEmpty)
    }

    @Test func unknownAccountsAndDialogsAreTold() throws {
        let site = TrustTests.site([try .house()])
        site.give(.dial(DialOrder(call: CallKey(1), uri: try SIPURI("sip:100@x.example"), account: "none")))
        #expect(site.calls.last?.state == .ended)
        var bye = try TrustTests.request(.bye, "sip:k7xhouse@192.0.2.7")
        bye.to.tag = "gone"
        TrustTests.give(bye, to: site)
        #expect(TrustTests.answers(site) == [481])
        site.give(.answer(CallKey(99)))
        site.give(.hangUp(CallKey(99), .normal))
    }

    @Test func twoHundredCallsLeaveNothingBehind() throws {
        let site = TrustTests.site([try .house()])
        site.decide = { .answer($0.call) }
        for index in 0..<200 {
            TrustTests.give(try TrustTests.invite("sip:k7xhouse@192.0.2.7", tag: "n\(index)"), to: site)
            let answer = try #require(site.sent.compactMap(\.response).last { $0.status == 200 })
            var ack = try TrustTests.request(.ack, "sip:k7xhouse@192.0.2.7", tag: "n\(index)")
            ack.to = answer.to
            ack.vias[0].branch = "z9hG4bKack\(index)"
            TrustTests.give(ack, to: site)
            var bye = try TrustTests.request(.bye, "sip:k7xhouse@192.0.2.7", tag: "n\(index)")
            bye.to = answer.to
            bye.cseq.number = 2
            TrustTests.give(bye, to: site)
            site.forgetSent()
        }
        #expect(site.incoming.count == 200)
        #expect(site.agent.callStatuses.isEmpty)
        #expect(site.portBox.taken.isEmpty)
        site.run(for: .seconds(60))
        #expect(site.agent.deadline.map { $0 - site.now > .seconds(600) } ?? true)
    }
}
