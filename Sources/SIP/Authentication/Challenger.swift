package import Primitives

/// Challenges requests and judges their credentials (RFC 7616, RFC 8760, rule A5).
///
/// A nonce carries its time and a keyed hash of it, so none has to be remembered before it is used.
package struct Challenger {
    package enum Verdict: Equatable {
        case accepted(user: String)
        /// No credentials for this realm, or with a nonce that is not good any more. `stale`: all else was right.
        case challenge(stale: Bool)
        /// Wrong user or wrong password: which of them is not told (SEC11).
        case refused
    }

    /// Who asks: the server itself by 401, or a proxy on the way by 407.
    package enum Place {
        case server, proxy

        package var status: Int { self == .server ? 401 : 407 }
        var challengeHeader: HeaderName { self == .server ? .wwwAuthenticate : .proxyAuthenticate }
        var credentialsHeader: HeaderName { self == .server ? .authorization : .proxyAuthorization }
    }

    /// What is offered, in the order of our preference.
    package static let algorithms: [DigestAlgorithm] = [DigestAlgorithm(.sha256), DigestAlgorithm(.md5)]
    /// How long a nonce is good (A5).
    package static let nonceLife = Duration.seconds(60)
    /// Nonces in use whose counts are remembered; those of further clients count as used up (SEC12).
    package static let nonceLimit = 4096

    /// The realm of every challenge.
    package let realm: String
    private let hashes: Hashes
    private let key: [UInt8]
    private var random: Randomness
    /// The highest count that came with a nonce.
    private var counts: [String: UInt32] = [:]
    /// When a nonce may be forgotten, in the order of time.
    private var ends: [(until: Instant, nonce: String)] = []

    /// Begins with a key of its own, which no nonce of another one fits.
    package init(realm: String, hashes: Hashes, random: Randomness) {
        self.realm = realm
        self.hashes = hashes
        self.random = random
        key = self.random.octets(32)
    }

    /// The response that asks for credentials, by every algorithm.
    package mutating func challenge(_ request: Request, _ place: Place, stale: Bool, at now: Instant) -> Response {
        var response = request.response(place.status)
        let nonce = makeNonce(at: now)
        for algorithm in Self.algorithms {
            let challenge = DigestChallenge(realm: realm, nonce: nonce, algorithm: algorithm, isStale: stale)
            response.headers.append(place.challengeHeader, challenge.description)
        }
        return response
    }

    /// Whose request this is. `password`: that of a user; nil if there is no such user.
    package mutating func judge(
        _ request: Request, _ place: Place, at now: Instant, password: (String) -> String?
    ) -> Verdict {
        forgetNonces(at: now)
        let all = request.headers.all(place.credentialsHeader).lazy.compactMap { DigestCredentials($0) }
        guard let credentials = all.first(where: { $0.realm == realm }) else { return .challenge(stale: false) }
        let known = password(credentials.username)
        // An unknown user costs as much time as a wrong password.
        let isRight = isRight(credentials, request, password: known ?? "") && known != nil
        guard let made = timeOfNonce(credentials.nonce), now - made <= Self.nonceLife else {
            return .challenge(stale: isRight)
        }
        guard isRight else { return .refused }
        return note(credentials, made) ? .accepted(user: credentials.username) : .challenge(stale: true)
    }

    private func isRight(_ credentials: DigestCredentials, _ request: Request, password: String) -> Bool {
        let ha1 = DigestCredentials.ha1(
            username: credentials.username, realm: realm, password: password, credentials.algorithm.hash, hashes)
        guard credentials.isValid(ha1: ha1, method: request.method, body: request.body, hashes: hashes),
            Self.algorithms.contains(credentials.algorithm), credentials.protection == .auth,
            let uri = try? SIPURI(credentials.uri)
        else { return false }
        return uri == request.uri || uri.isEquivalent(to: request.uri)
    }

    // MARK: Nonces

    private mutating func makeNonce(at now: Instant) -> String {
        let time = (0..<8).map { UInt8(truncatingIfNeeded: now.nanoseconds >> (56 - 8 * $0)) }
        let plain = time + random.octets(8)
        return hexadecimal(plain + mac(plain))
    }

    private func mac(_ plain: [UInt8]) -> [UInt8] { Array(hashes.hmacSHA256(key, plain).prefix(16)) }

    /// When we made a nonce; nil if we did not.
    private func timeOfNonce(_ nonce: String) -> Instant? {
        guard let all = octets(hexadecimal: nonce), all.count == 32 else { return nil }
        let plain = Array(all[..<16])
        guard equalInConstantTime(Array(all[16...]), mac(plain)) else { return nil }
        return Instant(nanoseconds: plain[..<8].reduce(0) { $0 << 8 | Int64($1) })
    }

    /// Notes the count of a nonce; false if it was used before.
    private mutating func note(_ credentials: DigestCredentials, _ made: Instant) -> Bool {
        if let last = counts[credentials.nonce] {
            guard credentials.nonceCount > last else { return false }
        } else {
            guard counts.count < Self.nonceLimit, credentials.nonceCount > 0 else { return false }
            let end = (until: made + Self.nonceLife, nonce: credentials.nonce)
            ends.insert(end, at: ends.lastIndex { $0.until <= end.until }.map { $0 + 1 } ?? 0)
        }
        counts[credentials.nonce] = credentials.nonceCount
        return true
    }

    private mutating func forgetNonces(at now: Instant) {
        let past = ends.prefix { $0.until < now }
        for end in past { counts[end.nonce] = nil }
        ends.removeFirst(past.count)
    }
}
