import Foundation
import Configuration
import Primitives
import SIP
import Simulation
import Testing
import UserAgent

/// Sequences of `Tests/Data/resolve`: which server is tried when another fails (T11).
@Suite struct FailoverTests {
    struct Sequence: Decodable, Sendable, CustomTestStringConvertible {
        struct Expectation: Decodable {
            var result: String
            var code: Int?
            var newBranchPerTarget: Bool?
            var sameCallID: Bool?
            var thenBackoff: Bool?
            var ackFor503: Bool?
        }
        var id: String
        var uri: String
        /// Address and what happens there.
        var steps: [[String]]
        var expect: Expectation
        var testDescription: String { id }
    }

    static let sequences: [Sequence] = {
        struct Index: Decodable { var failover: [Sequence] }
        let file = CaseFolder.own.appending(path: "resolve/index.json")
        guard let data = try? Data(contentsOf: file), let index = try? JSONDecoder().decode(Index.self, from: data)
        else { fatalError("Tests/Data/resolve/index.json cannot be read") }
        return index.failover
    }()

    /// Two services of three addresses, as the zone of the cases says for TCP.
    private static func zone(_ question: DNSQuestion) -> DNSAnswer {
        func address(_ last: UInt32) -> DNSRecord { .address(.v4(0xC000_0200 + last)) }
        return switch (question.kind, question.name) {
        case (.srv, "_sip._tcp.example.org"):
            .records([
                .service(priority: 1, weight: 0, port: 5060, target: "s1.example.org"),
                .service(priority: 2, weight: 0, port: 5060, target: "s2.example.org"),
            ])
        case (.a, "s1.example.org"): .records([address(11)])
        case (.a, "s2.example.org"): .records([address(12), address(13)])
        default: .records([])
        }
    }

    private func site(_ sequence: Sequence, method: SIPMethod) throws -> Site {
        var account = try Account.house(registrar: sequence.uri)
        account.transport = .tcp
        account.registers = method == .register
        let site = Site([account])
        site.zone = Self.zone
        site.accepts = { target in
            let step = sequence.steps.first { $0[0] == target.address.address.description }
            return step?[1] == "connectionRefused" ? .failure(.refused) : .success(())
        }
        site.server = { request, flow in
            let step = sequence.steps.first { $0[0] == flow.remote.address.description }
            guard request.method == method, let code = step.flatMap({ Int($0[1]) }) else { return [] }
            var response = request.response(code, toTag: "t")
            if request.method == .register {
                for contact in request.contacts { response.headers.append(.contact, contact.description) }
            }
            return [(.milliseconds(5), response)]
        }
        return site
    }

    /// The others are of INVITEs alone.
    static let ofAnyRequest = sequences.filter { $0.expect.ackFor503 != true }

    @Test("T11: registration goes on to the next server", arguments: ofAnyRequest)
    func registrationGoesOn(_ sequence: Sequence) throws {
        let site = try site(sequence, method: .register)
        site.run(for: .seconds(sequence.steps.contains { $0[1] == "timeout" } ? 33 : 1))
        let status = try #require(site.status)
        let tried = site.registers
        #expect(
            tried.map { $0.flow.remote.address.description }
                == sequence.steps.filter { $0[1] != "connectionRefused" }.map { $0[0] })
        #expect(Set(tried.map { $0.request.topVia?.branch }).count == tried.count)
        #expect(Set(tried.map { $0.request.callID }).count == 1)
        #expect(Set(tried.map { $0.request.cseq.number }).count == 1)
        if sequence.expect.result == "ok" {
            #expect(status.state == .registered)
        } else {
            #expect(status.state == .failed)
            #expect(status.nextAttempt != nil)
            if let code = sequence.expect.code { #expect(status.code == code) }
        }
    }

    @Test("T11: calls go on to the next server", arguments: sequences)
    func callsGoOn(_ sequence: Sequence) throws {
        let site = try site(sequence, method: .invite)
        let call = CallKey(1)
        site.give(.dial(DialOrder(call: call, uri: try SIPURI("sip:100@example.org"), account: "house")))
        site.run(for: .seconds(sequence.steps.contains { $0[1] == "timeout" } ? 34 : 1))
        let invites = site.sent.compactMap { item in
            item.request.flatMap { $0.method == .invite ? (request: $0, flow: item.flow) : nil }
        }
        #expect(
            invites.map { $0.flow.remote.address.description }
                == sequence.steps.filter { $0[1] != "connectionRefused" }.map { $0[0] })
        #expect(Set(invites.map { $0.request.topVia?.branch }).count == invites.count)
        #expect(Set(invites.map { $0.request.callID }).count == 1)
        // Each final response but a 2xx is acknowledged in its transaction before the next target.
        for (invite, flow) in invites
        where sequence.steps.contains(where: {
            $0[0] == flow.remote.address.description && Int($0[1]) ?? 200 >= 300
        }) {
            #expect(
                site.sent.contains {
                    $0.flow == flow && $0.request?.method == .ack
                        && $0.request?.topVia?.branch == invite.topVia?.branch
                })
        }
        if let code = sequence.expect.code {
            #expect(site.calls.last?.state == .ended)
            #expect(site.calls.last?.code == code)
        }
    }

    @Test("T11: a silent server is left after eight seconds") func aSilentServerIsLeftAfterEightSeconds() throws {
        var account = try Account.house(registrar: "sip:example.org")
        account.transport = .udp
        let site = Site([account])
        site.zone = { question in
            switch (question.kind, question.name) {
            case (.a, "example.org"):
                .records([.address(.v4(0xC000_020B)), .address(.v4(0xC000_020C))])
            default: .records([])
            }
        }
        let registrar = Registrar(.accept(600))
        site.server = { request, flow in
            flow.remote.address == .v4(0xC000_020B) ? [] : registrar.answer(request, flow)
        }
        site.run(for: .milliseconds(7900))
        #expect(site.status?.state == .registering)
        site.run(for: .milliseconds(200))
        #expect(site.status?.state == .registered)
        // The refresh does not wait for it again: it is avoided for five minutes at most, but comes back after that.
        site.forgetSent()
        site.run(for: .seconds(600))
        #expect(site.status?.state == .registered)
    }

    @Test("R5: one dead server delays no other account") func oneDeadServerDelaysNoOtherAccount() throws {
        var dead = try Account.house("dead", registrar: "sip:192.0.2.66")
        dead.transport = .tcp
        let site = Site([dead, try .house()])
        let registrar = Registrar(.accept(600))
        site.accepts = { _ in nil }
        site.server = { registrar.answer($0, $1) }
        site.run(for: .milliseconds(300))
        #expect(site.agent.accountStatuses.map(\.state) == [.registering, .registered])
        site.run(for: .seconds(11))
        #expect(site.agent.accountStatuses[0].state == .failed)
        #expect(site.agent.accountStatuses[0].reason == "connection timed out")
    }

    @Test("T9: what comes within 200 octets of the path's size is large") func narrowPaths() throws {
        var account = try Account.house()
        account.headers = [HeaderField(name: "X-Long", value: String(repeating: "x", count: 260))]
        let site = TrustTests.site([account])
        func transport(_ number: Int) throws -> Set<Transport> {
            site.forgetSent()
            site.give(
                .dial(DialOrder(call: CallKey(number), uri: try SIPURI("sip:100@pbx.example.org"), account: "house")))
            site.run(for: .milliseconds(400))
            let invites = site.sent.filter { $0.request?.method == .invite }
            #expect(invites.allSatisfy { $0.octets.count < 1300 && $0.octets.count > 1080 })
            site.give(.hangUp(CallKey(number), .normal))
            site.run(for: .seconds(100))  // No repeat of it is left.
            return Set(invites.map(\.flow.transport))
        }
        #expect(try transport(1) == [.udp])
        site.portBox.pathMTU = 1500
        #expect(try transport(2) == [.udp])
        site.portBox.pathMTU = 1280
        #expect(try transport(3) == [.tcp])
    }

    @Test("T12: a stalled look-up delays no other account and no address") func stalledLookUps() throws {
        let stalled = try Account.house("stalled", registrar: "sip:stalled.example.org")
        let named = try Account.house("named", registrar: "sip:pbx.example.org")
        let site = Site([stalled, named, try .house("plain")])
        site.zone = { question in
            question == DNSQuestion("pbx.example.org", .a) ? .records([.address(Site.registrar.address)]) : .records([])
        }
        site.zoneDelay = { $0.name.hasSuffix("stalled.example.org") ? .seconds(60) : .milliseconds(1) }
        let registrar = Registrar(.accept(600))
        site.server = { registrar.answer($0, $1) }
        // What the accounts wait between them when they start (R5), and little more.
        site.run(for: .milliseconds(550))
        #expect(site.agent.accountStatuses.map(\.state) == [.registering, .registered, .registered])
        let call = CallKey(1)
        site.forgetSent()
        let begin = site.now
        site.give(.dial(DialOrder(call: call, uri: try SIPURI("sip:100@192.0.2.50"), account: "plain")))
        site.run(for: .milliseconds(100))
        let invite = site.sent.first { $0.request?.method == .invite }
        #expect(invite.map { $0.at - begin < .milliseconds(10) } == true)
    }

    @Test("T9: large requests go by TCP where the server has it") func largeRequestsGoByTCPWhereTheServerHasIt() throws
    {
        var account = try Account.house()
        account.headers = [HeaderField(name: "X-Long", value: String(repeating: "x", count: 1300))]
        let site = TrustTests.site([account])
        var accepted = false
        site.accepts = { _ in accepted ? .success(()) : .failure(.refused) }
        func dial(_ number: Int) throws -> [Site.Sent] {
            site.forgetSent()
            site.give(
                .dial(DialOrder(call: CallKey(number), uri: try SIPURI("sip:100@pbx.example.org"), account: "house")))
            site.run(for: .milliseconds(400))
            return site.sent.filter { $0.request?.method == .invite }
        }
        let first = try dial(1)
        #expect(first.map(\.flow.transport) == [.udp])
        #expect(first.first?.request?.cseq.number == 1)
        // That it has none is remembered for ten minutes.
        accepted = true
        #expect(Set(try dial(2).map(\.flow.transport)) == [.udp])
        site.run(for: .seconds(601))
        let third = try dial(3)
        #expect(third.map(\.flow.transport) == [.tcp])
        #expect(third.first?.request?.topVia?.transport == "TCP")
        #expect(third.first?.request?.contacts.first?.uri.transport == "tcp")
    }
}
