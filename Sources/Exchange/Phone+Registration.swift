import Primitives
import SIP

/// Where a phone's registration stands.
struct PhoneRegistration {
    let callID: String
    let tag: String
    var sequence: UInt32 = 0
    /// When the next REGISTER is due; nil while one is out, and without a wish to be registered.
    var attemptAt: Instant?
    var isWanted = false
    /// The least that the registrar takes, if it said so (423).
    var leastExpires: UInt32 = 0

    init(random: inout Randomness) {
        callID = random.token(bits: 96)
        tag = random.token(bits: 96)
    }
}

extension Phone {
    mutating func register(at now: Instant) {
        registration.isWanted = true
        sendRegister(expires: max(settings.expires, registration.leastExpires), at: now)
    }

    mutating func unregister(at now: Instant) {
        registration.isWanted = false
        sendRegister(expires: 0, at: now)
    }

    private mutating func sendRegister(expires: UInt32, at now: Instant) {
        registration.attemptAt = nil
        registration.sequence &+= 1
        let own = NameAddress(uri, displayName: settings.displayName.isEmpty ? nil : settings.displayName)
        var from = own
        from.tag = registration.tag
        var request = Request(
            .register, SIPURI(host: settings.domain), from: from, to: own, callID: registration.callID,
            cseq: registration.sequence,
            headers: [
                .maxForwards: "70", .contact: NameAddress(contact).description, .expires: "\(expires)",
                .allow: Self.allowed,
            ])
        authenticator.authorize(&request, &random)
        send(Errand(purpose: .register, request: request), at: now)
    }

    mutating func registrationAnswered(_ response: Response, at now: Instant) {
        guard response.isFinal else { return }
        // The answer to an earlier wish.
        guard response.cseq.number == registration.sequence else { return }
        switch response.status {
        case 200..<300 where !registration.isWanted: tell(.unregistered)
        case 200..<300:
            let own = response.contacts.first { $0.uri.isEquivalent(to: contact) }
            guard let granted = own?.expires ?? response.expires, own != nil, granted > 0 else {
                return registrationFailed(response.status, at: now)
            }
            // At 80 to 95 % of the time (R2).
            let share = Int64.random(in: 80...95, using: &random)
            registration.attemptAt = now + .milliseconds(max(1000, Int64(granted) * 10 * share))
            tell(.registered(granted))
        case 423 where response.minExpires ?? 0 > registration.leastExpires && registration.isWanted:
            // More than a day is no registrar's honest wish (R3).
            registration.leastExpires = min(response.minExpires ?? 0, 86_400)
            register(at: now)
        default: registrationFailed(response.status, at: now)
        }
    }

    mutating func registrationFailed(_ status: Int?, at now: Instant) {
        tell(.registrationFailed(status))
        if registration.isWanted { registration.attemptAt = now + Self.registrationPause }
    }
}
