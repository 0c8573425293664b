import Exchange
import Primitives
import SIP
import Simulation
import Testing

/// Challenges of the exchange, seen from a client that speaks in raw messages.
@Suite struct AuthenticationTests {
    private static let remote = SocketAddress(.v4(0xC000_0210), 5060)
    private let town = Town()
    private var random = Randomness.seeded(7)
    private var sequence: UInt32 = 0

    private mutating func request(
        _ method: SIPMethod = .register, uri: String = "sip:192.0.2.1", from user: String = "alice"
    ) throws -> Request {
        sequence += 1
        let own = try NameAddress("<sip:\(user)@192.0.2.1>")
        var from = own
        from.tag = "1"
        return Request(
            method, try SIPURI(uri), from: from, to: own, callID: "a", cseq: sequence,
            headers: [.maxForwards: "70", .contact: "<sip:alice@192.0.2.16>", .expires: "300"])
    }

    /// Sends a request and returns the exchange's answer.
    private mutating func answer(_ request: Request) throws -> Response {
        var request = request
        request.vias = [
            Via(
                transport: "UDP", host: Host(Self.remote.address), port: 5060,
                branch: Via.magicCookie + random.token(bits: 96))
        ]
        let count = town.messages.count
        town.send(request.serialized(), from: Self.remote)
        guard case .response(let response) = try #require(town.messages.dropFirst(count).first) else {
            throw ParseError("no response")
        }
        return response
    }

    private static func challenges(_ response: Response) -> [DigestChallenge] {
        DigestChallenge.all(in: response).compactMap {
            guard case .usable(let challenge) = $0 else { return nil }
            return challenge
        }
    }

    /// Credentials for a challenge, or for what a test makes of it.
    private func credentials(
        _ response: Response, for request: Request, _ hash: DigestAlgorithm.Hash = .sha256, user: String = "alice",
        password: String = "secret of alice", count: UInt32 = 1, _ change: (inout DigestChallenge) -> Void = { _ in }
    ) throws -> String {
        var challenge = try #require(Self.challenges(response).first { $0.algorithm.hash == hash })
        change(&challenge)
        let ha1 = DigestCredentials.ha1(
            username: user, realm: challenge.realm, password: password, hash, .forTests)
        return DigestCredentials(
            challenge, username: user, ha1: ha1, method: request.method, uri: request.uri.description, body: [],
            cnonce: "abcdef", nonceCount: count, hashes: .forTests
        ).description
    }

    @Test mutating func strongestComesFirst() throws {
        let response = try answer(request())
        #expect(response.status == 401)
        #expect(Self.challenges(response).map(\.algorithm.hash) == [.sha256, .md5])
    }

    @Test(arguments: [DigestAlgorithm.Hash.sha256, .md5])
    mutating func acceptsBoth(_ hash: DigestAlgorithm.Hash) throws {
        let challenge = try answer(request())
        var second = try request()
        second.headers.append(.authorization, try credentials(challenge, for: second, hash))
        #expect(try answer(second).status == 200)
        #expect(town.exchange.bindings(of: "alice").count == 1)
    }

    @Test mutating func oldNonceIsStale() throws {
        let challenge = try answer(request())
        town.run(for: .seconds(61))
        var second = try request()
        second.headers.append(.authorization, try credentials(challenge, for: second))
        let response = try answer(second)
        #expect(response.status == 401)
        let fresh = try #require(Self.challenges(response).first)
        #expect(fresh.isStale)
        var third = try request()
        third.headers.append(.authorization, try credentials(response, for: third))
        #expect(try answer(third).status == 200)
    }

    @Test mutating func countMustRise() throws {
        let challenge = try answer(request())
        for (count, status) in [(1, 200), (1, 401), (3, 200), (2, 401), (4, 200)] as [(UInt32, Int)] {
            var next = try request()
            next.headers.append(.authorization, try credentials(challenge, for: next, count: count))
            #expect(try answer(next).status == status)
        }
    }

    /// Of another restart, or made up: right password or not, there is a new challenge; only the right one is stale.
    @Test(arguments: [("secret of alice", true), ("guess", false)])
    mutating func foreignNonce(_ password: String, _ stale: Bool) throws {
        let challenge = try answer(request())
        var second = try request()
        second.headers.append(
            .authorization,
            try credentials(challenge, for: second, password: password) {
                $0.nonce = String(repeating: "0", count: 64)
            })
        let response = try answer(second)
        #expect(response.status == 401)
        let fresh = try #require(Self.challenges(response).first)
        #expect(fresh.isStale == stale)
    }

    @Test(arguments: [("alice", "guess"), ("nobody", ""), ("bob", "secret of bob")])
    mutating func refused(_ user: String, _ password: String) throws {
        let challenge = try answer(request())
        var second = try request()
        second.headers.append(.authorization, try credentials(challenge, for: second, user: user, password: password))
        #expect(try answer(second).status == 403)
        #expect(town.exchange.bindings(of: "alice").isEmpty)
        #expect(town.exchange.bindings(of: user).isEmpty)
    }

    /// Credentials of one request are no good for another, nor without `qop`.
    @Test mutating func otherRequestIsRefused() throws {
        let challenge = try answer(request())
        var second = try request()
        let other = try request(uri: "sip:192.0.2.99")
        second.headers.append(.authorization, try credentials(challenge, for: other))
        #expect(try answer(second).status == 403)
        var third = try request()
        third.headers.append(.authorization, try credentials(challenge, for: third) { $0.protection = nil })
        #expect(try answer(third).status == 403)
    }

    @Test(arguments: ["", "Digest", "Basic YTpi", "Digest username=\"alice", "Digest realm=\"192.0.2.1\", nonce=\"\""])
    mutating func malformedCredentialsAreNone(_ value: String) throws {
        var request = try request()
        request.headers.append(.authorization, value)
        #expect(try answer(request).status == 401)
    }

    /// Nobody registers or calls under another's name.
    @Test(arguments: [SIPMethod.register, .invite])
    mutating func foreignNameIsRefused(_ method: SIPMethod) throws {
        let uri = method == .register ? "sip:192.0.2.1" : "sip:carol@192.0.2.1"
        let challenge = try answer(request(method, uri: uri, from: "bob"))
        var second = try request(method, uri: uri, from: "bob")
        second.headers.append(
            method == .register ? .authorization : .proxyAuthorization, try credentials(challenge, for: second))
        #expect(try answer(second).status == 403)
        #expect(town.exchange.bindings(of: "bob").isEmpty)
    }

    @Test mutating func passwordsAreNotShown() {
        let user = User(name: "alice", password: "hunter2")
        for text in [
            "\(user)", String(reflecting: user), "\([user])", "\(Mirror(reflecting: user).children.map(\.value))",
        ] {
            #expect(!text.contains("hunter2"))
        }
    }
}
