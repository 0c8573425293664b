package import Primitives

/// What an account proves its identity with. Never described: neither text nor mirror shows the secret (A4).
package struct AccountSecret: Sendable, CustomStringConvertible, CustomReflectable {
    package enum Key: Sendable {
        case password(String)
        /// HA1 in hexadecimal digits by hash; only the hashes that are there can be answered.
        case ha1([DigestAlgorithm.Hash: String])
    }

    /// The name for authentication, which may differ from the user of the address.
    package var username: String
    /// The only realm that gets an answer; nil for any. HA1s are bound to a realm and need one.
    package var realm: String?
    package var key: Key
    /// Challenges with a weaker hash are not answered (A4).
    package var minimum: DigestAlgorithm.Hash
    /// Whether MD5 is answered even from a realm that has offered better (A4).
    package var allowsDowngrade: Bool

    package init(
        username: String, key: Key, realm: String? = nil, minimum: DigestAlgorithm.Hash = .md5,
        allowsDowngrade: Bool = false
    ) {
        self.username = username
        self.key = key
        self.realm = realm
        self.minimum = minimum
        self.allowsDowngrade = allowsDowngrade
    }

    /// HA1 for a realm and hash; nil if the secret does not serve it.
    func ha1(_ realm: String, _ hash: DigestAlgorithm.Hash, _ hashes: Hashes) -> String? {
        guard hash >= minimum, self.realm == nil || self.realm == realm else { return nil }
        switch key {
        case .password(let password):
            return DigestCredentials.ha1(username: username, realm: realm, password: password, hash, hashes)
        case .ha1(let stored): return stored[hash]
        }
    }

    package var description: String { "•••" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The challenges that one request has met, over all its retries.
package struct AuthenticationAttempts: Hashable, Sendable {
    /// Challenges per request (A2).
    package static let maximum = 3

    package fileprivate(set) var challenges = 0
    /// How often credentials for a realm were refused without `stale`.
    fileprivate var refusals: [String: Int] = [:]

    package init() {}
}

/// Answers the challenges of one account's servers, and keeps their nonces for later requests (A1–A4).
package struct Authenticator: Sendable {
    package enum Failure: Error, Hashable, Sendable {
        /// The password is wrong: no automatic retry before five minutes (A2).
        case credentialsRejected(realm: String)
        /// The response has no challenge of a scheme, algorithm, `qop` and realm that the account answers.
        case noSupportedChallenge
        /// It has a digest challenge without realm or nonce, or with broken syntax, and no better one.
        case malformedChallenge
        /// The realm offered SHA-256 before and now only MD5 (A4).
        case downgraded(realm: String)
        case tooManyChallenges
    }

    /// Realms whose nonces are kept; the oldest is forgotten.
    package static let maximumRealms = 8

    private struct Session: Sendable {
        var challenge: DigestChallenge
        /// Requests that have used the nonce.
        var nonceCount: UInt32 = 0
        /// The client's nonce of a `-sess` algorithm, which stays that of the session.
        var cnonce: String?
    }

    private let secret: AccountSecret
    private let hashes: Hashes
    private var sessions: [Session] = []
    /// Realms that have offered more than MD5.
    private var strongRealms: [String] = []

    package init(_ secret: AccountSecret, hashes: Hashes) {
        self.secret = secret
        self.hashes = hashes
    }

    /// Adds credentials for every nonce that is known, so that no challenge is needed: for REGISTER refreshes and
    /// requests in a dialog. ACK has those of its INVITE, CANCEL none: both stay as they are.
    package mutating func authorize(_ request: inout Request, _ randomness: inout Randomness) {
        guard request.method != .ack, request.method != .cancel else { return }
        request.headers.remove(.authorization)
        request.headers.remove(.proxyAuthorization)
        for index in sessions.indices { add(index, to: &request, &randomness) }
    }

    /// The request with credentials for the challenges of a 401 or 407. It still needs the next CSeq and a new branch.
    ///
    /// - Parameter request: As it was sent: its credentials tell which nonces were refused.
    package mutating func retry(
        _ request: Request, after response: Response, _ attempts: inout AuthenticationAttempts,
        _ randomness: inout Randomness
    ) throws(Failure) -> Request {
        attempts.challenges += 1
        let chosen = try choose(DigestChallenge.all(in: response))
        if attempts.challenges > AuthenticationAttempts.maximum { throw .tooManyChallenges }
        let used = Self.credentials(of: request)
        for challenge in chosen {
            let earlier = used.first { $0.isProxy == challenge.isProxy && $0.credentials.realm == challenge.realm }
            if let earlier, !challenge.isStale {
                let refusals = attempts.refusals[challenge.realm, default: 0] + 1
                attempts.refusals[challenge.realm] = refusals
                if refusals > 1 || earlier.credentials.nonce == challenge.nonce {
                    forget(challenge)
                    throw .credentialsRejected(realm: challenge.realm)
                }
            }
            remember(challenge)
        }
        // Those of other realms that the request has met are needed again, with a new count.
        var retry = request
        retry.headers.remove(.authorization)
        retry.headers.remove(.proxyAuthorization)
        for (index, session) in sessions.enumerated() {
            let isNeeded =
                chosen.contains { $0.isSameRealm(as: session.challenge) }
                || used.contains {
                    $0.isProxy == session.challenge.isProxy && $0.credentials.realm == session.challenge.realm
                }
            if isNeeded { add(index, to: &retry, &randomness) }
        }
        return retry
    }

    /// Takes the next nonce from the success of a request (RFC 7616 §3.5).
    package mutating func succeeded(_ response: Response) {
        for (name, isProxy) in [(HeaderName.authenticationInfo, false), (.proxyAuthenticationInfo, true)] {
            guard let value = response.headers.first(name),
                let nonce = AuthenticationParameters(withoutScheme: value)["nextnonce"], !nonce.isEmpty
            else { continue }
            // The header names no realm: with several it cannot be told whose it is.
            let indices = sessions.indices.filter { sessions[$0].challenge.isProxy == isProxy }
            guard indices.count == 1, let index = indices.first else { continue }
            sessions[index].challenge.nonce = nonce
            sessions[index].nonceCount = 0
            sessions[index].cnonce = nil
        }
    }

    /// Forgets all nonces, as after a change of the secret.
    package mutating func reset() {
        sessions = []
        strongRealms = []
    }

    // MARK: Challenges

    /// Per realm and kind the first that the account can answer, in the order of the server (A1).
    private mutating func choose(_ readings: [DigestChallenge.Reading]) throws(Failure) -> [DigestChallenge] {
        var chosen: [DigestChallenge] = []
        var downgradedRealm: String?
        for case .usable(let challenge) in readings where challenge.algorithm.hash > .md5 {
            noteStrong(challenge.realm)
        }
        let offered = readings.compactMap { if case .usable(let challenge) = $0 { challenge } else { nil } }
        for challenge in offered where !chosen.contains(where: { $0.isSameRealm(as: challenge) }) {
            guard secret.ha1(challenge.realm, challenge.algorithm.hash, hashes) != nil else { continue }
            let offersStrong = offered.contains { $0.isSameRealm(as: challenge) && $0.algorithm.hash > .md5 }
            if challenge.algorithm.hash == .md5, !offersStrong, strongRealms.contains(challenge.realm),
                !secret.allowsDowngrade
            {
                downgradedRealm = challenge.realm
                continue
            }
            if chosen.count < Self.maximumRealms { chosen.append(challenge) }
        }
        if !chosen.isEmpty { return chosen }
        if let downgradedRealm { throw .downgraded(realm: downgradedRealm) }
        throw offered.isEmpty && readings.contains(.malformed) ? .malformedChallenge : .noSupportedChallenge
    }

    private mutating func noteStrong(_ realm: String) {
        guard !strongRealms.contains(realm) else { return }
        if strongRealms.count == Self.maximumRealms { strongRealms.removeFirst() }
        strongRealms.append(realm)
    }

    private mutating func remember(_ challenge: DigestChallenge) {
        if let index = sessions.firstIndex(where: { $0.challenge.isSameRealm(as: challenge) }) {
            if sessions[index].challenge.nonce == challenge.nonce {
                sessions[index].challenge = challenge
            } else {
                sessions[index] = Session(challenge: challenge)
            }
            return
        }
        if sessions.count == Self.maximumRealms { sessions.removeFirst() }
        sessions.append(Session(challenge: challenge))
    }

    private mutating func forget(_ challenge: DigestChallenge) {
        sessions.removeAll { $0.challenge.isSameRealm(as: challenge) }
    }

    // MARK: Credentials

    private mutating func add(_ index: Int, to request: inout Request, _ randomness: inout Randomness) {
        let challenge = sessions[index].challenge
        guard let ha1 = secret.ha1(challenge.realm, challenge.algorithm.hash, hashes) else { return }
        sessions[index].nonceCount &+= 1
        let cnonce = sessions[index].cnonce ?? randomness.token(bits: 96)
        if challenge.algorithm.isSession { sessions[index].cnonce = cnonce }
        let credentials = DigestCredentials(
            challenge, username: secret.username, ha1: ha1, method: request.method, uri: request.uri.description,
            body: request.body, cnonce: cnonce, nonceCount: sessions[index].nonceCount, hashes: hashes)
        request.headers.append(
            challenge.isProxy ? .proxyAuthorization : .authorization, credentials.description)
    }

    private static func credentials(of request: Request) -> [(isProxy: Bool, credentials: DigestCredentials)] {
        request.headers.all(.authorization).compactMap { DigestCredentials($0) }.map { (false, $0) }
            + request.headers.all(.proxyAuthorization).compactMap { DigestCredentials($0) }.map { (true, $0) }
    }
}

extension DigestChallenge {
    fileprivate func isSameRealm(as other: DigestChallenge) -> Bool {
        realm == other.realm && isProxy == other.isProxy
    }
}
