import Primitives
import SIP

/// Whoever calls from outside the registered flow may have to know the account's password (A5).
extension Agent {
    /// Whether the request goes on: nobody asks, or its credentials are right; otherwise it is answered here.
    mutating func authenticate(
        _ request: Request, _ transaction: ServerTransactionID, _ flow: Flow, _ choice: inout AccountChoice,
        at now: Instant
    ) -> Bool {
        let account = choice.account
        guard account.challenges, choice.standing < .flow, request.method != .options else { return true }
        let realm = account.uri.host?.description ?? account.name
        var challenger =
            challengers[account.name].flatMap { $0.realm == realm ? $0 : nil }
            ?? Challenger(realm: realm, hashes: capabilities.hashes, random: wire.random.forked())
        defer { challengers[account.name] = challenger }
        let verdict = challenger.judge(request, .server, at: now) { user in
            let secret = account.password.secret
            return user == account.authUser && !secret.isEmpty ? secret : nil
        }
        switch verdict {
        case .accepted:
            choice.standing = .authenticated
            choice.why += ", with the account's credentials"
            return true
        case .challenge(let stale):
            tellRefused(request, flow, account: account.name, code: 401, "asked for the account's password")
            respond(transaction, challenger.challenge(request, .server, stale: stale, at: now), at: now)
        case .refused:
            // Guessing costs as much as a malformed message (SEC5).
            let source = flow.remote.address
            rates.chargeMalformed(source, isKnown: isKnown(source), at: now)
            tellRefused(request, flow, account: account.name, code: 403, "the password was wrong")
            respond(transaction, request.response(403), at: now)
        }
        return false
    }
}
