import Exchange
import Primitives
import SIP
import Testing

/// The bindings, without the proof of identity before them.
@Suite struct RegistrarTests {
    private static let flow = Flow(
        transport: .udp, local: Town.exchangeAddress, remote: SocketAddress(.v4(0xC000_0210), 5060))

    private var registrar = Registrar(shortestExpiry: 60)
    private var events: [Registrar.Event] = []
    private var sequence: UInt32 = 0

    private mutating func register(
        _ contacts: [String], expires: UInt32? = 300, callID: String = "a", cseq: UInt32? = nil,
        headers: Headers = [:], at now: Instant = .zero
    ) throws -> Response {
        sequence = cseq ?? sequence + 1
        let own = try NameAddress("<sip:alice@example.org>;tag=1")
        var request = Request(
            .register, try SIPURI("sip:example.org"), from: own, to: try NameAddress("<sip:alice@example.org>"),
            callID: callID, cseq: sequence, headers: headers)
        for contact in contacts { request.headers.append(.contact, contact) }
        if let expires { request.headers.append(.expires, "\(expires)") }
        events = []
        return registrar.register(request, user: "alice", flow: Self.flow, at: now, &events)
    }

    private func contacts(at now: Instant = .zero) -> [String] {
        registrar.bindings(of: "alice").map { $0.contact.uri.description }
    }

    @Test mutating func grantsWhatIsAsked() throws {
        let response = try register(["<sip:a@192.0.2.16>;expires=120", "<sip:b@192.0.2.16>"])
        #expect(response.status == 200)
        #expect(
            Dictionary(uniqueKeysWithValues: response.contacts.map { ($0.uri.user, $0.expires) }) == [
                "a": 120, "b": 300,
            ])
        #expect(events.count == 2)
        #expect(registrar.deadline == .zero + .seconds(120))
        #expect(registrar.bindings(of: "alice").first?.flow == Self.flow)
    }

    @Test mutating func longestIsCapped() throws {
        #expect(try register(["<sip:a@192.0.2.16>"], expires: .max).contacts.first?.expires == 3600)
        #expect(try register(["<sip:a@192.0.2.16>"], expires: nil).contacts.first?.expires == 3600)
    }

    @Test mutating func tooShortIsRefusedAndChangesNothing() throws {
        _ = try register(["<sip:a@192.0.2.16>"])
        let response = try register(["<sip:b@192.0.2.16>", "<sip:c@192.0.2.16>;expires=59"])
        #expect(response.status == 423)
        #expect(response.minExpires == 60)
        #expect(contacts() == ["sip:a@192.0.2.16"])
        #expect(events.isEmpty)
    }

    @Test mutating func expires() throws {
        _ = try register(["<sip:a@192.0.2.16>"])
        registrar.expire(at: .zero + .seconds(299), &events)
        #expect(contacts().count == 1)
        events = []
        registrar.expire(at: .zero + .seconds(300), &events)
        #expect(contacts().isEmpty)
        #expect(registrar.deadline == nil)
        guard case .unbound("alice", _, expired: true)? = events.first else {
            Issue.record("no event of the expiry")
            return
        }
    }

    @Test mutating func tellsTheTimeThatIsLeft() throws {
        _ = try register(["<sip:a@192.0.2.16>"])
        let response = try register([], expires: nil, at: .zero + .milliseconds(100_500))
        #expect(response.contacts.map(\.expires) == [200])
    }

    @Test mutating func refreshesTheSameContact() throws {
        _ = try register(["<sip:a@192.0.2.16:5070;ob>"])
        let response = try register(["<sip:a@192.0.2.16:5070>"], at: .zero + .seconds(200))
        #expect(response.contacts.count == 1)
        #expect(registrar.deadline == .zero + .seconds(500))
        #expect(events.count == 1, "nothing went away")
    }

    @Test mutating func sameInstanceMoves() throws {
        let instance = #"+sip.instance="<urn:uuid:00000000-0000-1000-8000-000A95A0E128>";reg-id=1"#
        _ = try register(["<sip:a@192.0.2.16>;\(instance)"])
        _ = try register(["<sip:a@192.0.2.17>;\(instance)"], callID: "after a restart", cseq: 1)
        #expect(contacts() == ["sip:a@192.0.2.17"])
        guard case .unbound("alice", let old, expired: false)? = events.first else {
            Issue.record("no event of the old binding")
            return
        }
        #expect(old.contact.uri.description == "sip:a@192.0.2.16")
    }

    @Test mutating func otherFlowOfAnInstanceStays() throws {
        let instance = #"+sip.instance="<urn:uuid:00000000-0000-1000-8000-000A95A0E128>""#
        _ = try register(["<sip:a@192.0.2.16>;\(instance);reg-id=1"])
        _ = try register(["<sip:a@192.0.2.17>;\(instance);reg-id=2"])
        #expect(contacts().count == 2)
    }

    @Test mutating func newestComesFirst() throws {
        _ = try register(["<sip:a@192.0.2.16>"], callID: "a")
        _ = try register(["<sip:b@192.0.2.16>"], callID: "b", at: .zero + .seconds(1))
        #expect(contacts() == ["sip:b@192.0.2.16", "sip:a@192.0.2.16"])
    }

    @Test mutating func removesOneAndAll() throws {
        _ = try register(["<sip:a@192.0.2.16>", "<sip:b@192.0.2.16>"])
        _ = try register(["<sip:a@192.0.2.16>;expires=0"])
        #expect(contacts() == ["sip:b@192.0.2.16"])
        #expect(try register(["*"], expires: 0).status == 200)
        #expect(contacts().isEmpty)
    }

    @Test(
        arguments: [
            (["*"], 300), (["*"], nil), (["*", "<sip:a@192.0.2.16>"], 0), (["<mailto:a@example.org>"], 300),
            (["<sip:a@192.0.2.16"], 300), (["<tel:123>"], 300),
        ] as [([String], UInt32?)])
    mutating func malformedContact(_ contacts: [String], _ expires: UInt32?) throws {
        _ = try register(["<sip:old@192.0.2.16>"])
        #expect(try register(contacts, expires: expires).status == 400)
        #expect(self.contacts() == ["sip:old@192.0.2.16"])
    }

    @Test(arguments: [1, 2] as [UInt32])
    mutating func oldSequenceIsRefused(_ cseq: UInt32) throws {
        _ = try register(["<sip:a@192.0.2.16>"], cseq: 2)
        #expect(try register(["<sip:a@192.0.2.16>;expires=0"], cseq: cseq).status == 500)
        #expect(contacts().count == 1)
    }

    @Test mutating func unknownExtensionIsRefused() throws {
        let response = try register(["<sip:a@192.0.2.16>"], headers: [.require: "path"])
        #expect(response.status == 420)
        #expect(response.unsupported == ["path"])
    }

    @Test mutating func bindingsAreLimited() throws {
        for number in 1...Registrar.bindingLimit {
            #expect(try register(["<sip:a@192.0.2.16:\(number)>"], callID: "\(number)").status == 200)
        }
        let response = try register(["<sip:a@192.0.2.16:99>"], callID: "99", at: .zero + .seconds(1))
        #expect(response.status == 503)
        #expect(response.retryAfter == 299)
        #expect(contacts().count == Registrar.bindingLimit)
        // A refresh of one that is there is no further one.
        #expect(try register(["<sip:a@192.0.2.16:1>"], callID: "1", at: .zero + .seconds(1)).status == 200)
    }
}
