import Primitives
import SIP
import Simulation
import Testing

@Suite struct AuthenticatorTests {
    private var randomness = Randomness.seeded(1)
    private var attempts = AuthenticationAttempts()

    private static func request(_ method: SIPMethod = .register) throws -> Request {
        let door = try NameAddress("<sip:door7@pbx.example.org>;tag=a")
        return Request(
            method, try SIPURI("sip:pbx.example.org"), from: door, to: door, callID: "c1", cseq: 1,
            vias: [try Via("SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1")])
    }

    private static func refusal(_ request: Request, _ headers: [String], status: Int = 401) -> Response {
        var response = request.response(status)
        for header in headers {
            let parts = header.split(separator: ":", maxSplits: 1)
            response.headers.append(HeaderName(String(parts[0])), parts[1].drop { $0 == " " }.description)
        }
        return response
    }

    private static func authenticator(_ minimum: DigestAlgorithm.Hash = .md5, realm: String? = nil) -> Authenticator {
        Authenticator(
            AccountSecret(username: "door7", key: .password("zanzibar"), realm: realm, minimum: minimum),
            hashes: .forTests)
    }

    private func credentials(_ request: Request) -> [DigestCredentials] {
        (request.headers.all(.authorization) + request.headers.all(.proxyAuthorization)).compactMap {
            DigestCredentials($0)
        }
    }

    // MARK: The corpus

    @Test(arguments: DigestVectorTests.index.challenges)
    mutating func answers(_ test: DigestVectorTests.Challenge) throws {
        var authenticator = Self.authenticator()
        var request = try Self.request()
        let usesNonce = ["stale-true", "new-nonce-without-stale", "same-nonce-again"].contains(test.id)
        if usesNonce || test.id == "nextnonce" {
            let first = Self.refusal(request, ["WWW-Authenticate: Digest realm=\"a\", nonce=\"n1\", qop=\"auth\""])
            request = try authenticator.retry(request, after: first, &attempts, &randomness)
        }
        if let next = test.expect["nextNonce"] {
            authenticator.succeeded(Self.refusal(request, test.headers, status: 200))
            authenticator.authorize(&request, &randomness)
            let credentials = try #require(credentials(request).first)
            #expect(JSONValue(credentials.nonce) == next)
            #expect(credentials.nonceCount == 1)
            return
        }
        let headers = test.headers.map { $0.replacing("<the nonce just used>", with: "n1") }
        let response = Self.refusal(request, headers)
        let retry: Request
        do {
            retry = try authenticator.retry(request, after: response, &attempts, &randomness)
        } catch {
            #expect(JSONValue(name(error)) == test.expect["failure"])
            return
        }
        try check(retry, test)
        #expect(test.expect["failure"] == nil)
        if case .text(let failure)? = test.expect["thenFailure"] {
            let again = Self.refusal(retry, ["WWW-Authenticate: Digest realm=\"a\", nonce=\"n11\", qop=\"auth\""])
            do {
                _ = try authenticator.retry(retry, after: again, &attempts, &randomness)
                Issue.record("a third try")
            } catch {
                #expect(name(error) == failure)
            }
        }
    }

    private func name(_ failure: Authenticator.Failure) -> String {
        switch failure {
        case .credentialsRejected: "credentialsRejected"
        case .noSupportedChallenge: "noSupportedChallenge"
        case .malformedChallenge: "malformedChallenge"
        case .downgraded: "downgraded"
        case .tooManyChallenges: "tooManyChallenges"
        }
    }

    private func check(_ retry: Request, _ test: DigestVectorTests.Challenge) throws {
        let answers = credentials(retry)
        let credentials = try #require(answers.first)
        let challenges = test.headers.flatMap {
            DigestChallenge.read(String($0.drop { $0 != " " }.dropFirst()), isProxy: $0.hasPrefix("Proxy"))
        }
        for (name, expected) in test.expect {
            switch name {
            case "use":
                guard case .list(let indices) = expected else { continue }
                #expect(answers.count == indices.count)
                for (index, answer) in zip(indices, answers) {
                    guard case .number(let number) = index, case .usable(let challenge) = challenges[Int(number)] else {
                        Issue.record("challenge \(index) is not usable")
                        continue
                    }
                    #expect(answer.nonce == challenge.nonce)
                    #expect(answer.algorithm == challenge.algorithm)
                }
            case "oneCredentialPerRealm": #expect(Set(answers.map(\.realm)).count == answers.count)
            case "header":
                #expect(retry.headers.contains(.proxyAuthorization) && !retry.headers.contains(.authorization))
            case "headers":
                #expect(retry.headers.contains(.proxyAuthorization) && retry.headers.contains(.authorization))
            case "credentialsFor": #expect(.list(answers.map { .text($0.realm) }) == expected)
            case "retryWithSamePassword", "retryOnce": #expect(expected == .flag(true))
            case "nc": #expect(credentials.nonceCount == 1)
            case "realm": #expect(JSONValue(credentials.realm) == expected)
            case "nonce": #expect(JSONValue(credentials.nonce) == expected)
            case "opaque": #expect(JSONValue(credentials.opaque) == expected)
            case "echoOpaque": #expect(credentials.description.contains("opaque=\"\""))
            case "algorithm": #expect(.text(credentials.algorithm.description) == expected)
            case "qop": #expect(JSONValue(credentials.protection?.rawValue) == expected)
            case "qopUnquotedInCredentials": #expect(credentials.description.contains("qop=auth"))
            case "ncUnquoted": #expect(credentials.description.contains("nc=00000001"))
            case "thenFailure": break
            default: Issue.record("\(name) is not compared")
            }
        }
    }

    @Test(arguments: DigestVectorTests.index.challenges)
    func brokenChallengesDoNoHarm(_ test: DigestVectorTests.Challenge) {
        for header in test.headers where header.utf8.count < 1000 {
            let octets = Array(header.utf8.drop { $0 != 0x20 }.dropFirst())
            for index in octets.indices {
                for octet in Array("\"\\,= \r".utf8) + [0, 0xFF] {
                    let text = String(
                        decoding: octets[..<index] + [octet] + octets[index...].dropFirst(), as: UTF8.self)
                    for case .usable(let challenge) in DigestChallenge.read(text, isProxy: false) {
                        #expect(!challenge.nonce.isEmpty)
                        #expect(!challenge.description.utf8.contains(0x0D))
                    }
                }
                _ = DigestChallenge.read(String(decoding: octets[..<index], as: UTF8.self), isProxy: true)
                _ = DigestCredentials(String(decoding: octets[index...], as: UTF8.self))
            }
        }
    }

    // MARK: Nonces

    @Test mutating func knownNoncesGoWithLaterRequests() throws {
        var authenticator = Self.authenticator()
        let request = try Self.request()
        let refusal = Self.refusal(request, ["WWW-Authenticate: Digest realm=\"a\", nonce=\"n1\", qop=\"auth\""])
        let retry = try authenticator.retry(request, after: refusal, &attempts, &randomness)
        var later = try Self.request(.options)
        authenticator.authorize(&later, &randomness)
        let first = try #require(credentials(retry).first)
        let second = try #require(credentials(later).first)
        #expect(second.nonce == "n1" && second.nonceCount == 2)
        #expect(first.cnonce != second.cnonce)
        for method in [SIPMethod.ack, .cancel] {
            var request = try Self.request(method)
            authenticator.authorize(&request, &randomness)
            #expect(credentials(request).isEmpty)
        }
    }

    @Test mutating func sessionKeepsItsCnonceUntilTheNonceChanges() throws {
        var authenticator = Self.authenticator()
        let challenge = "WWW-Authenticate: Digest realm=\"a\", algorithm=MD5-sess, qop=\"auth\", nonce="
        let request = try Self.request()
        let first = try authenticator.retry(
            request, after: Self.refusal(request, [challenge + "n1"]), &attempts, &randomness)
        var second = request
        authenticator.authorize(&second, &randomness)
        let third = try authenticator.retry(
            second, after: Self.refusal(second, [challenge + "n2"]), &attempts, &randomness)
        let cnonces = try [first, second, third].map { try #require(credentials($0).first).cnonce }
        #expect(cnonces[0] == cnonces[1])
        #expect(cnonces[1] != cnonces[2])
    }

    @Test mutating func aProxyAndAServerInTurn() throws {
        var authenticator = Self.authenticator()
        let request = try Self.request(.invite)
        let proxy = Self.refusal(
            request, ["Proxy-Authenticate: Digest realm=\"p\", nonce=\"x\", qop=\"auth\""], status: 407)
        let second = try authenticator.retry(request, after: proxy, &attempts, &randomness)
        let server = Self.refusal(second, ["WWW-Authenticate: Digest realm=\"a\", nonce=\"y\", qop=\"auth\""])
        let third = try authenticator.retry(second, after: server, &attempts, &randomness)
        let answers = credentials(third)
        #expect(answers.map(\.realm) == ["a", "p"])
        #expect(answers.map(\.nonceCount) == [1, 2])
    }

    @Test mutating func threeChallengesAreTheLimit() throws {
        var authenticator = Self.authenticator()
        var request = try Self.request()
        for index in 1...3 {
            let refusal = Self.refusal(
                request, ["WWW-Authenticate: Digest realm=\"a\", nonce=\"n\(index)\", stale=true"])
            request = try authenticator.retry(request, after: refusal, &attempts, &randomness)
        }
        let refusal = Self.refusal(request, ["WWW-Authenticate: Digest realm=\"a\", nonce=\"n4\", stale=true"])
        #expect(throws: Authenticator.Failure.tooManyChallenges) {
            try authenticator.retry(request, after: refusal, &attempts, &randomness)
        }
    }

    // MARK: Secrets and strength

    @Test mutating func weakAlgorithmsAreRefused() throws {
        let request = try Self.request()
        let weak = Self.refusal(request, ["WWW-Authenticate: Digest realm=\"a\", nonce=\"n1\""])
        let strong = Self.refusal(request, ["WWW-Authenticate: Digest realm=\"a\", nonce=\"n1\", algorithm=SHA-256"])
        var demanding = Self.authenticator(.sha256)
        #expect(throws: Authenticator.Failure.noSupportedChallenge) {
            try demanding.retry(request, after: weak, &attempts, &randomness)
        }
        var tolerant = Self.authenticator()
        _ = try tolerant.retry(request, after: strong, &attempts, &randomness)
        #expect(throws: Authenticator.Failure.downgraded(realm: "a")) {
            try tolerant.retry(request, after: weak, &attempts, &randomness)
        }
    }

    @Test mutating func aSecretServesItsRealmAndHashesOnly() throws {
        let ha1 = DigestCredentials.ha1(username: "door7", realm: "a", password: "zanzibar", .md5, .forTests)
        var stored = Authenticator(
            AccountSecret(username: "door7", key: .ha1([.md5: ha1]), realm: "a"), hashes: .forTests)
        var plain = Self.authenticator()
        let request = try Self.request()
        let refusal = Self.refusal(
            request,
            [
                "WWW-Authenticate: Digest realm=\"a\", nonce=\"n1\", algorithm=SHA-256",
                "WWW-Authenticate: Digest realm=\"a\", nonce=\"n1\", algorithm=MD5",
            ])
        let retry = try stored.retry(request, after: refusal, &attempts, &randomness)
        let answer = try #require(credentials(retry).first)
        #expect(answer.algorithm.hash == .md5)
        #expect(answer.isValid(ha1: ha1, method: .register, body: [], hashes: .forTests))
        let other = Self.refusal(request, ["WWW-Authenticate: Digest realm=\"b\", nonce=\"n1\""])
        #expect(throws: Authenticator.Failure.noSupportedChallenge) {
            try stored.retry(request, after: other, &attempts, &randomness)
        }
        _ = try plain.retry(request, after: other, &attempts, &randomness)
    }

    @Test func aSecretIsNeverDescribed() {
        let secret = AccountSecret(username: "door7", key: .password("zanzibar"))
        var dumped = ""
        dump(secret, to: &dumped)
        dump(Authenticator(secret, hashes: .forTests), to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] { #expect(!text.contains("zanzibar")) }
    }

    @Test mutating func realmsAreBounded() throws {
        var authenticator = Self.authenticator()
        for index in 0..<(2 * Authenticator.maximumRealms) {
            var attempts = AuthenticationAttempts()
            let request = try Self.request()
            let refusal = Self.refusal(request, ["WWW-Authenticate: Digest realm=\"r\(index)\", nonce=\"n\""])
            _ = try authenticator.retry(request, after: refusal, &attempts, &randomness)
        }
        var request = try Self.request()
        authenticator.authorize(&request, &randomness)
        #expect(credentials(request).count == Authenticator.maximumRealms)
    }
}
