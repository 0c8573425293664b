import Configuration
import Primitives
import SIP
import Simulation
import Testing
import UserAgent

/// Callers from outside the registered flow who must know the account's password (A5).
@Suite struct ChallengeTests {
    private let site: Site

    init() throws {
        site = TrustTests.site([try Self.account()])
    }

    private static func account(_ change: (inout Account) -> Void = { _ in }) throws -> Account {
        var account = try Account.house()
        account.acceptFrom = .anyone
        account.challenges = true
        account.autoAnswer = .header
        change(&account)
        return account
    }

    private static func invite(
        _ credentials: String? = nil, tag: String, headers: Headers = [:]
    ) throws -> Request {
        var request = try TrustTests.invite("sip:house@192.0.2.7", headers: headers, tag: tag)
        // As large as what phones send.
        request.headers.append(.userAgent, String(repeating: "x", count: 300))
        if let credentials { request.headers.append(.authorization, credentials) }
        return request
    }

    /// Challenges of the last answer, in order.
    private func challenges() -> [DigestChallenge] {
        guard let response = site.sent.last?.response else { return [] }
        return DigestChallenge.all(in: response).compactMap {
            if case .usable(let challenge) = $0 { challenge } else { nil }
        }
    }

    private static func credentials(
        _ challenge: DigestChallenge, user: String = "house", password: String = "secret", count: UInt32 = 1
    ) -> String {
        let hash = challenge.algorithm.hash
        let ha1 = DigestCredentials.ha1(
            username: user, realm: challenge.realm, password: password, hash, .forTests)
        return DigestCredentials(
            challenge, username: user, ha1: ha1, method: .invite, uri: "sip:house@192.0.2.7",
            body: Array(TrustTests.offer.utf8), cnonce: "c", nonceCount: count, hashes: .forTests
        ).description
    }

    private func call(_ request: Request) -> Int? {
        site.forgetSent()
        // One call of a stranger in 200 ms.
        site.run(for: .seconds(1))
        TrustTests.give(request, from: TrustTests.stranger, to: site)
        return site.sent.compactMap(\.response).last { $0.callID == request.callID && $0.status > 100 }?.status
    }

    @Test func theStrongestIsOfferedFirst() throws {
        let status = try call(Self.invite(tag: "a"))
        #expect(status == 401)
        #expect(challenges().map(\.algorithm) == [DigestAlgorithm(.sha256), DigestAlgorithm(.md5)])
        #expect(challenges().allSatisfy { $0.realm == "pbx.example.org" && !$0.isStale && $0.protection == .auth })
        #expect(site.incoming.isEmpty)
        #expect(site.refused.map(\.code) == [401])
    }

    @Test(arguments: [0, 1]) func thePasswordOpensByEitherAlgorithm(index: Int) throws {
        _ = call(try Self.invite(tag: "a"))
        let challenge = try #require(challenges().dropFirst(index).first)
        let status = try call(Self.invite(Self.credentials(challenge), tag: "b"))
        #expect(status == nil)
        #expect(site.incoming.count == 1)
        #expect(site.incoming.first?.why.hasSuffix("with the account's credentials") == true)
    }

    /// I2: who has proved that they know the password may ask for an answer by header.
    @Test func itsHeadersCountThen() throws {
        _ = call(try Self.invite(tag: "a"))
        let challenge = try #require(challenges().first)
        let headers: Headers = [.answerMode: "Auto"]
        let status = try call(Self.invite(Self.credentials(challenge), tag: "b", headers: headers))
        #expect(status == nil)
        #expect(site.incoming.map(\.answer) == [.automatic(after: .zero)])
    }

    /// SEC11: which of both was wrong is not told.
    @Test(arguments: [("house", "wrong"), ("nobody", "secret"), ("", "")])
    func whoGuessesIsRefused(user: String, password: String) throws {
        _ = call(try Self.invite(tag: "a"))
        let challenge = try #require(challenges().first)
        let credentials = Self.credentials(challenge, user: user, password: password)
        let status = try call(Self.invite(credentials, tag: "b"))
        #expect(status == 403)
        #expect(site.incoming.isEmpty)
    }

    @Test func anAccountWithoutPasswordLetsNobodyIn() throws {
        let site = TrustTests.site([try Self.account { $0.password = Password("") }])
        TrustTests.give(try Self.invite(tag: "a"), from: TrustTests.stranger, to: site)
        let response = try #require(site.sent.last?.response)
        guard case .usable(let challenge)? = DigestChallenge.all(in: response).first else {
            Issue.record("no challenge")
            return
        }
        site.run(for: .seconds(1))
        let credentials = Self.credentials(challenge, password: "")
        TrustTests.give(try Self.invite(credentials, tag: "b"), from: TrustTests.stranger, to: site)
        #expect(site.incoming.isEmpty)
    }

    @Test func aNonceIsGoodForAMinute() throws {
        _ = call(try Self.invite(tag: "a"))
        let challenge = try #require(challenges().first)
        site.run(for: .seconds(60))
        let statusA = try call(Self.invite(Self.credentials(challenge), tag: "b"))
        #expect(statusA == 401)
        #expect(challenges().allSatisfy { $0.isStale })
        let fresh = try #require(challenges().first)
        let statusB = try call(Self.invite(Self.credentials(fresh), tag: "c"))
        #expect(statusB == nil)
        #expect(site.incoming.count == 1)
    }

    /// Credentials that were listened to open nothing.
    @Test func countsAreNotReplayed() throws {
        _ = call(try Self.invite(tag: "a"))
        let challenge = try #require(challenges().first)
        let statusA = try call(Self.invite(Self.credentials(challenge, count: 5), tag: "b"))
        #expect(statusA == nil)
        let statusB = try call(Self.invite(Self.credentials(challenge, count: 5), tag: "c"))
        #expect(statusB == 401)
        let statusC = try call(Self.invite(Self.credentials(challenge, count: 4), tag: "d"))
        #expect(statusC == 401)
        #expect(site.incoming.count == 1)
        let statusD = try call(Self.invite(Self.credentials(challenge, count: 6), tag: "e"))
        #expect(statusD == nil)
        #expect(site.incoming.count == 2)
    }

    @Test func theRegistrarIsNotAsked() throws {
        TrustTests.give(try Self.invite(tag: "a"), to: site)
        #expect(site.incoming.count == 1)
    }

    @Test func probesAreNotAsked() throws {
        let status = try call(TrustTests.request(.options, "sip:house@192.0.2.7", tag: "o"))
        #expect(status == 200)
    }

    /// SEC5: an error to a stranger is not larger than what it said, and comes once.
    @Test func refusalsToStrangersAreSmallAndComeOnce() throws {
        let request = try Self.invite(tag: "a")
        #expect(call(request) == 401)
        #expect(site.sent.allSatisfy { $0.octets.count <= request.serialized().count })
        site.run(for: .seconds(40))
        #expect(site.sent.count == 1)
        // A repeat is a new request, and asked anew.
        TrustTests.give(request, from: TrustTests.stranger, to: site)
        #expect(site.sent.count == 2)
        // Without its body the challenges would be more than was said.
        var small = request
        small.body = []
        small.headers.remove(.contentType)
        small.headers.remove(.userAgent)
        small.callID = "small"
        #expect(call(small) == nil)
        #expect(site.sent.isEmpty)
    }
}
