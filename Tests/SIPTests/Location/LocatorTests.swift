import Foundation
import Primitives
import SIP
import Testing

/// The name-server zone and its expected targets in `Tests/Data/resolve`.
struct ResolveCases: Decodable {
    struct Resolution: Decodable, Sendable, CustomTestStringConvertible {
        var id: String
        var uri: String
        var supports: [String]?
        var family: String?
        var failure: String?
        var queries: [String]?
        var weightedFirst: Int?
        var targets: [Place]
        var testDescription: String { id }
    }
    struct Place: Decodable, Equatable, Sendable {
        var transport: String
        var address: String
        var port: UInt16
        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            transport = try list.decode(String.self)
            address = try list.decode(String.self)
            port = try list.decode(UInt16.self)
        }
        init(_ target: Target) {
            transport = target.transport.rawValue
            address = target.address.address.description
            port = target.address.port
        }
    }
    struct Service: Decodable, Sendable {
        var record: DNSRecord
        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            record = .service(
                priority: try list.decode(UInt16.self), weight: try list.decode(UInt16.self),
                port: try list.decode(UInt16.self), target: try list.decode(String.self))
        }
    }
    struct Naming: Decodable, Sendable {
        var record: DNSRecord
        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            record = .naming(
                order: try list.decode(UInt16.self), preference: try list.decode(UInt16.self),
                flags: try list.decode(String.self), service: try list.decode(String.self),
                replacement: try list.decode(String.self))
        }
    }
    struct Zone: Decodable, Sendable {
        var NAPTR: [String: [Naming]]
        var SRV: [String: [Service]]
        var A: [String: [String]]
        var AAAA: [String: [String]]

        func answer(_ question: DNSQuestion) -> DNSAnswer {
            switch question.kind {
            case .srv: .records(SRV[question.name]?.map(\.record) ?? [])
            case .a: .records(A[question.name]?.compactMap { IPAddress($0) }.map { .address($0) } ?? [])
            case .aaaa: .records(AAAA[question.name]?.compactMap { IPAddress($0) }.map { .address($0) } ?? [])
            case .naptr: .records(NAPTR[question.name]?.map(\.record) ?? [])
            }
        }
    }
    var zone: Zone
    var resolution: [Resolution]

    static let all: ResolveCases = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Data/resolve/index.json")
        do {
            return try JSONDecoder().decode(ResolveCases.self, from: Data(contentsOf: file))
        } catch {
            fatalError("Tests/Data/resolve/index.json: \(error)")
        }
    }()
}

@Suite struct LocatorTests {
    /// Runs a look-up against a zone; also what was asked.
    static func locate(
        _ destination: Locator.Destination, transports: [Transport] = [.udp, .tcp], family: String? = nil,
        zone: ResolveCases.Zone = ResolveCases.all.zone, seed: UInt64 = 1
    ) -> (outcome: Locator.Outcome?, asked: [DNSQuestion]) {
        var random = Randomness.seeded(seed)
        var locator = Locator(
            destination, transports: transports, ipv4: family != "ipv6", ipv6: family != "ipv4")
        var asked: [DNSQuestion] = []
        while locator.outcome == nil, let question = locator.questions.sorted(by: { $0.name < $1.name }).first {
            asked.append(question)
            locator.answered(question, zone.answer(question), random: &random)
        }
        return (locator.outcome, asked)
    }

    @Test("T10: every resolve case", arguments: ResolveCases.all.resolution)
    func findsTheTargets(of sample: ResolveCases.Resolution) throws {
        let destination = try #require(Locator.Destination(try SIPURI(sample.uri)))
        let transports = (sample.supports ?? ["udp", "tcp", "tls"]).compactMap(Transport.init)
        let (outcome, asked) = Self.locate(destination, transports: transports, family: sample.family)
        switch try #require(outcome) {
        case .success(let targets):
            let places = targets.map(ResolveCases.Place.init)
            let free = sample.weightedFirst ?? 0
            #expect(places.dropFirst(free) == sample.targets.dropFirst(free))
            #expect(
                places.prefix(free).map(\.address).sorted() == sample.targets.prefix(free).map(\.address).sorted())
        case .failure(let failure):
            #expect(sample.targets.isEmpty)
            let expected: [String: Locator.Failure] = [
                "noSecureTransport": .noSecureTransport, "serviceNotAvailable": .serviceNotAvailable,
                "nxdomain": .noSuchName,
            ]
            #expect(sample.failure.flatMap { expected[$0] } == failure)
        }
        if let queries = sample.queries {
            #expect(Set(asked.map(\.kind.rawValue.localizedUppercase)).isSubset(of: queries))
        }
    }

    @Test("T10: weights") func weightsDecideHowOftenAServiceIsFirst() {
        let destination = Locator.Destination(host: "nonaptr.example", transport: .udp)
        let first = (UInt64(0)..<1000).filter { seed in
            guard case .success(let targets)? = Self.locate(destination, seed: seed).outcome else { return false }
            return targets.first?.address.address == IPAddress("192.0.2.41")
        }
        #expect((550...650).contains(first.count))
    }

    @Test func tcpIsTakenWhereADomainOffersNothingElse() {
        var zone = ResolveCases.all.zone
        zone.SRV["_sip._udp.nonaptr.example"] = nil
        let (outcome, _) = Self.locate(Locator.Destination(host: "nonaptr.example"), zone: zone)
        guard case .success(let targets)? = outcome else {
            Issue.record("no targets")
            return
        }
        #expect(targets.map(\.transport) == [.tcp])
    }

    /// A name server that knows no NAPTR costs nothing: SRV is asked for at the same time.
    @Test("T10: NAPTR that is not answered is as none") func silentNAPTR() {
        var random = Randomness.seeded(1)
        var locator = Locator(Locator.Destination(host: "nonaptr.example"))
        #expect(Set(locator.questions.map(\.kind)) == [.naptr, .srv])
        for question in locator.questions {
            locator.answered(
                question, question.kind == .naptr ? .failed("timed out") : ResolveCases.all.zone.answer(question),
                random: &random)
        }
        #expect(locator.questions.contains(DNSQuestion("a.nonaptr.example", .a)))
    }

    @Test("T10: without NAPTR the services are TLS, TCP, UDP in this order") func servicesInOrder() {
        let (outcome, _) = Self.locate(
            Locator.Destination(host: "nonaptr.example"), transports: Transport.preferred)
        guard case .success(let targets)? = outcome else { return #expect(Bool(false), "no targets") }
        #expect(targets.map(\.transport) == [.tcp])
    }

    @Test("T12: whatever a zone says, the questions and targets are bounded", arguments: 0..<50)
    func bounded(seed: Int) {
        var random = Randomness.seeded(UInt64(seed))
        var locator = Locator(Locator.Destination(host: "mad.example"))
        var asked = 0
        while locator.outcome == nil, let question = locator.questions.first {
            asked += 1
            let records: [DNSRecord] = (UInt16(0)..<32).map { number in
                let name = "n\(UInt16.random(in: 0...9999, using: &random)).mad.example"
                return switch question.kind {
                case .naptr:
                    .naming(order: number, preference: 0, flags: "s", service: "SIP+D2U", replacement: name)
                case .srv: .service(priority: number % 3, weight: number, port: 5060, target: name)
                case .a, .aaaa: .address(.v4(UInt32.random(in: 1...9_999_999, using: &random)))
                }
            }
            locator.answered(question, .records(records), random: &random)
        }
        guard case .success(let targets)? = locator.outcome else { return #expect(Bool(false), "no targets") }
        #expect(targets.count == Locator.targetLimit)
        #expect(asked <= 4 + Locator.offerLimit + 2 * Locator.targetLimit)
    }

    @Test func aSilentResolverIsNotAMissingName() {
        var random = Randomness.seeded(1)
        var locator = Locator(Locator.Destination(host: "pbx.example.org", port: 5060))
        for question in locator.questions { locator.answered(question, .failed("timed out"), random: &random) }
        #expect(locator.outcome == .failure(.resolverFailed("timed out")))
    }
}

@Suite struct AvoidedTargetsTests {
    let targets = (1...3).map {
        Target(transport: .udp, address: SocketAddress(.v4(0xC000_0200 + $0), 5060), domain: "example.org")
    }

    @Test("T11: a failed target comes last for 30 s") func aFailedTargetComesLastForThirtySeconds() {
        var avoided = AvoidedTargets()
        avoided.failed(targets[0], at: .zero)
        #expect(avoided.sorted(targets, at: .zero + .seconds(29)) == [targets[1], targets[2], targets[0]])
        #expect(avoided.sorted(targets, at: .zero + .seconds(30)) == targets)
    }

    @Test("T11: repeated failures are avoided up to five minutes") func repeatedFailuresAreAvoidedUpToFiveMinutes() {
        var avoided = AvoidedTargets()
        for _ in 0..<9 { avoided.failed(targets[0], at: .zero) }
        #expect(avoided.sorted(targets, at: .zero + .seconds(299)).last == targets[0])
        #expect(avoided.sorted(targets, at: .zero + .seconds(300)).first == targets[0])
        avoided.failed(targets[0], at: .zero)
        avoided.worked(targets[0])
        #expect(avoided.sorted(targets, at: .zero) == targets)
    }

    @Test("T11: Retry-After keeps a target away while there are others")
    func retryAfterKeepsATargetAwayWhileThereAreOthers() {
        var avoided = AvoidedTargets()
        avoided.failed(targets[0], retryAfter: .seconds(120), at: .zero)
        #expect(avoided.sorted(targets, at: .zero + .seconds(119)) == [targets[1], targets[2]])
        #expect(avoided.sorted([targets[0]], at: .zero) == [targets[0]])
    }

    @Test func theTableIsBounded() {
        var avoided = AvoidedTargets()
        for port in UInt16(1)...UInt16(AvoidedTargets.limit + 1) {
            let target = Target(transport: .udp, address: SocketAddress(.loopbackV4, port), domain: "")
            avoided.failed(target, at: .zero + .milliseconds(Int(port)))
        }
        let first = Target(transport: .udp, address: SocketAddress(.loopbackV4, 1), domain: "")
        #expect(avoided.sorted([first, targets[0]], at: .zero) == [first, targets[0]])
    }
}
