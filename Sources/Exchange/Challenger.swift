import Primitives
import SIP

/// Challenges requests and judges their credentials (RFC 7616, RFC 8760, rule A5).
///
/// A nonce carries its time and a keyed hash of it, so none has to be remembered before it is used.
struct Challenger {
    enum Verdict: Equatable {
        case accepted(user: String)
        /// No credentials for this realm, or with a nonce that is not good any more. `stale`: all else was right.
        case challenge(stale: Bool)
        /// Wrong user or wrong password: which of them is not told (SEC11).
        case refused
    }

    /// Who asks: the server itself by 401, or a proxy on the way by 407.
    enum Place {
        case server, proxy

        var status: Int { self == .server ? 401 : 407 }
        var challengeHeader: HeaderName { self == .server ? .wwwAuthenticate : .proxyAuthenticate }
        var credentialsHeader: HeaderName { self == .server ? .authorization : .proxyAuthorization }
    }

    /// In the order of our preference.
    enum Algorithm: String, CaseIterable {
        case sha256 = "SHA-256"
        case md5 = "MD5"
    }

    /// How long a nonce is good (A5).
    static let nonceLife = Duration.seconds(60)
    /// Nonces in use whose counts are remembered; those of further clients count as used up (SEC12).
    static let nonceLimit = 4096

    let realm: String
    private let hashes: Hashes
    private let key: [UInt8]
    private var random: Randomness
    /// The highest count that came with a nonce.
    private var counts: [String: UInt32] = [:]
    /// When a nonce may be forgotten, in the order of first use.
    private var ends: [(until: Instant, nonce: String)] = []

    init(realm: String, hashes: Hashes, random: Randomness) {
        self.realm = realm
        self.hashes = hashes
        self.random = random
        key = self.random.octets(32)
    }

    /// A fresh challenge for every algorithm, the strongest first.
    mutating func challenge(_ request: Request, _ place: Place, stale: Bool, at now: Instant) -> Response {
        var response = request.response(place.status)
        let nonce = makeNonce(at: now)
        for algorithm in Algorithm.allCases {
            response.headers.append(
                place.challengeHeader,
                "Digest realm=\"\(realm)\", nonce=\"\(nonce)\", algorithm=\(algorithm.rawValue), qop=\"auth\""
                    + (stale ? ", stale=true" : ""))
        }
        return response
    }

    /// Whose request this is. `password`: that of a user; nil if there is no such user.
    mutating func judge(
        _ request: Request, _ place: Place, at now: Instant, password: (String) -> String?
    ) -> Verdict {
        forgetNonces(at: now)
        let all = request.headers.all(place.credentialsHeader).lazy.compactMap { DigestCredentials($0) }
        guard let credentials = all.first(where: { $0.realm == realm }) else { return .challenge(stale: false) }
        let known = password(credentials.username)
        let isRight = isRight(credentials, request, password: known ?? "") && known != nil
        guard let made = timeOfNonce(credentials.nonce) else { return .challenge(stale: isRight) }
        guard isRight else { return now - made > Self.nonceLife ? .challenge(stale: false) : .refused }
        guard now - made <= Self.nonceLife, note(credentials, made) else { return .challenge(stale: true) }
        return .accepted(user: credentials.username)
    }

    // MARK: The response

    private func isRight(_ credentials: DigestCredentials, _ request: Request, password: String) -> Bool {
        guard let algorithm = algorithm(of: credentials), credentials.qop == "auth", let cnonce = credentials.cnonce,
            let count = credentials.nonceCount, Self.number(count) != nil, isSame(credentials.uri, as: request.uri)
        else { return false }
        func hash(_ parts: String...) -> String {
            let octets = Array(parts.joined(separator: ":").utf8)
            return hexadecimal(algorithm == .sha256 ? hashes.sha256(octets) : hashes.md5(octets))
        }
        let expected = hash(
            hash(credentials.username, realm, password), credentials.nonce, count, cnonce, "auth",
            hash(request.method.name, credentials.uri))
        return equalInConstantTime(Array(expected.utf8), credentials.response.utf8.map(\.lowercased))
    }

    private func algorithm(of credentials: DigestCredentials) -> Algorithm? {
        guard let name = credentials.algorithm else { return .md5 }
        return Algorithm.allCases.first { $0.rawValue.lowercased() == name.lowercased() }
    }

    private func isSame(_ text: String, as uri: SIPURI) -> Bool {
        guard let other = try? SIPURI(text) else { return false }
        return other == uri || other.isEquivalent(to: uri)
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
        guard let count = credentials.nonceCount.flatMap(Self.number) else { return false }
        if let last = counts[credentials.nonce] {
            guard count > last else { return false }
        } else {
            guard counts.count < Self.nonceLimit, count > 0 else { return false }
            let end = (until: made + Self.nonceLife, nonce: credentials.nonce)
            ends.insert(end, at: ends.lastIndex { $0.until <= end.until }.map { $0 + 1 } ?? 0)
        }
        counts[credentials.nonce] = count
        return true
    }

    private mutating func forgetNonces(at now: Instant) {
        let past = ends.prefix { $0.until < now }
        for end in past { counts[end.nonce] = nil }
        ends.removeFirst(past.count)
    }

    private static func number(_ count: String) -> UInt32? {
        count.utf8.count == 8 && count.utf8.allSatisfy { $0.hexValue != nil } ? UInt32(count, radix: 16) : nil
    }
}
