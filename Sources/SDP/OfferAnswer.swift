package import Primitives

/// Offer and answer for one call or early dialog (RFC 3264, RFC 6337). A value: copy it for each forked leg (D5), and
/// to preview an answer in an unreliable 18x without ending the exchange (D12).
///
/// Set `local` before an offer or answer: its direction is our own wish, so holding is `local.direction = .sendonly`
/// and a new offer, resuming is `.sendrecv` and a new offer; a hold of the other side is kept apart from it (S4).
package struct OfferAnswer: Sendable {
    /// What we offer and accept from now on.
    package var local: LocalMedia
    package private(set) var state = NegotiationState.fresh
    /// `o=` identity; the version is counted in `session`.
    private let identity: UInt64
    private var session = Session()
    /// Our pending offer: what it was made of, and the session to return to if it is refused.
    private var pending: (local: LocalMedia, before: Session)?

    package init(local: LocalMedia, randomness: inout Randomness) {
        self.local = local
        identity = randomness.next() >> 2
    }

    /// What the media engine shall do; nil before the first answer and while `nameToResolve` is set. While our offer is
    /// out it is still that of the last exchange.
    package var plan: MediaPlan? { nameToResolve == nil ? current.plan : nil }

    /// The name in the peer's `c=` line, if its address is not known yet: look it up, then call `resolved`.
    package var nameToResolve: String? { current.name }

    private var current: Session { pending?.before ?? session }

    /// Our description as last sent; empty before that. For a repeated 2xx or ACK (T3, T4).
    package var localDescription: [UInt8] { session.described?.octets ?? [] }

    /// Makes an offer: every codec of `local`, not only the negotiated one. `o=` rises by one if it differs from our
    /// last description (S1). `repeating`: our last description as it is, to refresh the session (D13). Throws
    /// `wrongState` while an earlier one is out.
    package mutating func makeOffer(repeating: Bool = false) throws(NegotiationError) -> [UInt8] {
        guard state != .offered else { throw .wrongState(state) }
        let before = session
        if !repeating || session.described == nil {
            session.describe(session.offer(local), local: local, address: local.address, identity: identity)
        }
        pending = (local, before)
        state = .offered
        return localDescription
    }

    /// Our offer was refused, or the request that carried it ended without an answer: all is as before it (D8).
    package mutating func withdrawOffer() {
        guard let pending else { return }
        session = pending.before
        self.pending = nil
        state = session.plan == nil ? .fresh : .agreed
    }

    /// Answers the peer's offer and returns our answer. When it throws nothing has changed: the session before stays in
    /// force, and the error's `status` is the response.
    package mutating func answer(_ offer: [UInt8]) throws(NegotiationError) -> [UInt8] {
        guard state != .offered else { throw .wrongState(state) }
        let offer = try SessionDescription(offer)
        guard offer.media.count >= session.lines.count else { throw .notAcceptable("fewer m-lines than before") }
        var next = session
        let (media, address) = try next.accept(offer, local: local)
        next.describe(media, local: local, address: address, identity: identity)
        session = next
        state = .agreed
        return localDescription
    }

    /// Takes the peer's answer to our offer. When it throws our offer is still out: another answer may follow (an 18x
    /// was only a preview), or `withdrawOffer` gives up.
    package mutating func apply(answer: [UInt8]) throws(NegotiationError) {
        guard let pending else { throw .wrongState(state) }
        let answer = try SessionDescription(answer)
        var next = session
        try next.conclude(answer, local: pending.local)
        session = next
        self.pending = nil
        state = .agreed
    }

    /// The address of `nameToResolve`. It is used for that name again when a later description repeats it.
    package mutating func resolved(_ address: IPAddress) {
        pending?.before.resolve(to: address)
        session.resolve(to: address)
    }
}
