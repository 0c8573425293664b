package import Primitives
package import SIP

/// The bindings of all users (RFC 3261 §10.3). Who sent a REGISTER is proven before it comes here.
package struct Registrar: Sendable {
    package enum Event: Hashable, Sendable {
        case bound(user: String, Binding)
        /// Taken away by the user, replaced by a newer one, or not refreshed in time.
        case unbound(user: String, Binding, expired: Bool)
    }

    /// Bindings of one user, beyond which further ones are refused until one ends (SEC12).
    package static let bindingLimit = 10
    /// The time of a Contact that asks for none, and the most that is granted; seconds.
    package static let longestExpiry: UInt32 = 3600

    /// A shorter time is refused with 423; seconds.
    package let shortestExpiry: UInt32
    private var bindings: [String: [Binding]] = [:]

    package init(shortestExpiry: UInt32 = 30) { self.shortestExpiry = shortestExpiry }

    /// When a binding ends next.
    package var deadline: Instant? { bindings.values.joined().lazy.map(\.expires).min() }

    /// Of one user, the newest first.
    package func bindings(of user: String) -> [Binding] {
        (bindings[user] ?? []).sorted { $0.refreshed > $1.refreshed }
    }

    /// The binding with this Contact, whosever it is.
    func binding(withContact uri: SIPURI) -> Binding? {
        bindings.values.joined().first { $0.contact.uri.isEquivalent(to: uri) }
    }

    /// Takes the bindings away that were not refreshed.
    package mutating func expire(at now: Instant, _ events: inout [Event]) {
        for (user, list) in bindings {
            let ended = list.filter { $0.expires <= now }
            if ended.isEmpty { continue }
            bindings[user] = list.count == ended.count ? nil : list.filter { $0.expires > now }
            for binding in ended { events.append(.unbound(user: user, binding, expired: true)) }
        }
    }

    /// Carries a REGISTER out: wholly, or not at all.
    package mutating func register(
        _ request: Request, user: String, flow: Flow, at now: Instant, _ events: inout [Event]
    ) -> Response {
        expire(at: now, &events)
        if let refusal = refusal(of: request) { return refusal }
        let old = bindings[user] ?? []
        guard !old.contains(where: { $0.callID == request.callID && $0.sequence >= request.cseq.number }) else {
            return request.response(500, reason: "CSeq Out Of Order")
        }
        var new = old
        if request.hasWildcardContact { new = [] }
        for contact in request.contacts {
            let seconds = min(contact.expires ?? request.expires ?? Self.longestExpiry, Self.longestExpiry)
            if seconds > 0, seconds < shortestExpiry {
                var response = request.response(423)
                response.headers.append(.minExpires, "\(shortestExpiry)")
                return response
            }
            let binding = Self.binding(contact, request, flow, seconds: seconds, at: now)
            new.removeAll { $0.isSame(as: binding) }
            if seconds > 0 { new.append(binding) }
        }
        guard new.count <= max(Self.bindingLimit, old.count) else {
            var response = request.response(503, reason: "Too Many Bindings")
            if let first = old.map(\.expires).min() {
                response.headers.append(.retryAfter, "\(Self.seconds(until: first, now))")
            }
            return response
        }
        bindings[user] = new.isEmpty ? nil : new
        for binding in old where !new.contains(where: { $0.contact.uri.isEquivalent(to: binding.contact.uri) }) {
            events.append(.unbound(user: user, binding, expired: false))
        }
        for binding in new where binding.callID == request.callID && binding.sequence == request.cseq.number {
            events.append(.bound(user: user, binding))
        }
        return success(request, user, at: now)
    }

    private func refusal(of request: Request) -> Response? {
        if !request.require.isEmpty {
            var response = request.response(420)
            for option in request.require { response.headers.append(.unsupported, option) }
            return response
        }
        let values = request.headers.list(.contact)
        if request.hasWildcardContact {
            return values.count == 1 && request.expires == 0
                ? nil : request.response(400, reason: "Misplaced * In Contact")
        }
        guard request.contacts.count == values.count, request.contacts.allSatisfy({ $0.uri.scheme == .sip }) else {
            return request.response(400, reason: "Contact Is Malformed Or No SIP URI")
        }
        return nil
    }

    private static func binding(
        _ contact: NameAddress, _ request: Request, _ flow: Flow, seconds: UInt32, at now: Instant
    ) -> Binding {
        var plain = contact
        plain.parameters.remove("expires")
        return Binding(
            contact: plain, flow: flow, instance: contact.parameters["+sip.instance"],
            registration: contact.parameters["reg-id"], callID: request.callID, sequence: request.cseq.number,
            refreshed: now, expires: now + .seconds(Int64(seconds)))
    }

    private func success(_ request: Request, _ user: String, at now: Instant) -> Response {
        var response = request.response(200)
        for binding in bindings(of: user) {
            var contact = binding.contact
            contact.parameters["expires"] = "\(Self.seconds(until: binding.expires, now))"
            response.headers.append(.contact, contact.description)
        }
        return response
    }

    /// Rounded up, so that nobody refreshes too late.
    private static func seconds(until instant: Instant, _ now: Instant) -> Int64 {
        max(0, ((instant - now).nanoseconds + 999_999_999) / 1_000_000_000)
    }
}
