package import Primitives

/// What both sides agreed about refreshing a session (RFC 4028, D13): how often, by whom, and when the session is given
/// up for lack of it.
package struct SessionTimer: Equatable, Sendable {
    /// The shortest interval that we take, seconds (RFC 4028 §4).
    package static let minimum: UInt32 = 90
    /// The longest one.
    package static let maximum: UInt32 = 86_400

    /// The interval.
    package let seconds: UInt32
    /// The refreshes are ours to send.
    package let isRefresher: Bool
    private var refreshAt: Instant?
    private let endAt: Instant

    /// Begins anew with each refresh.
    package init(seconds: UInt32, isRefresher: Bool, at now: Instant) {
        self.seconds = seconds
        self.isRefresher = isRefresher
        let interval = Duration.seconds(Int64(seconds))
        if isRefresher { refreshAt = now + interval / 2 }
        endAt = now + interval - min(.seconds(32), interval / 3)
    }

    package enum Step: Sendable {
        case wait
        /// Refresh the session now.
        case refresh
        /// Nobody did: BYE.
        case expire
    }

    /// When `deadlineReached` is next due.
    package var deadline: Instant { min(refreshAt ?? endAt, endAt) }

    package mutating func deadlineReached(at now: Instant) -> Step {
        if now >= endAt { return .expire }
        guard let refreshAt, now >= refreshAt else { return .wait }
        self.refreshAt = nil
        return .refresh
    }

    /// Our refresh was refused: another one after half of the time that is left.
    package mutating func refreshFailed(at now: Instant) {
        guard isRefresher, now < endAt else { return }
        refreshAt = now + (endAt - now) / 2
    }
}

/// What we want of session timers, in requests of ours and in answers to the peer's.
package struct SessionTimerTerms: Sendable {
    /// Seconds; 0: never offered, though a peer's wish is followed.
    package var interval: UInt32
    /// Not below this: a 422 raised it.
    package private(set) var minimum = SessionTimer.minimum

    package init(interval: UInt32) { self.interval = interval }

    /// How a received INVITE or UPDATE is answered.
    package enum Verdict: Equatable, Sendable {
        /// 422 with this Min-SE.
        case refuse(UInt32)
        case withoutTimer
        /// The 2xx has this Session-Expires. `isSupported`: the peer understands it, so the 2xx requires `timer`.
        case timer(SessionExpires, isSupported: Bool)
    }

    /// - Parameter current: The timer that runs: its roles stay where the request names none.
    package func verdict(on request: Request, current: SessionTimer?) -> Verdict {
        let isSupported = request.supported.contains("timer") || request.require.contains("timer")
        let role: SessionExpires.Refresher = !isSupported || current?.isRefresher == true ? .uas : .uac
        guard let wish = request.sessionExpires else {
            guard isSupported, interval > 0 || current != nil else { return .withoutTimer }
            let wanted = max(current?.seconds ?? interval, request.minSE ?? 0, SessionTimer.minimum)
            let seconds = min(wanted, SessionTimer.maximum)
            return .timer(SessionExpires(seconds: seconds, refresher: role), isSupported: true)
        }
        if wish.seconds < SessionTimer.minimum, isSupported { return .refuse(SessionTimer.minimum) }
        let least = min(max(request.minSE ?? 0, SessionTimer.minimum), SessionTimer.maximum)
        let most = interval > 0 ? max(interval, least) : SessionTimer.maximum
        return .timer(
            SessionExpires(
                seconds: min(max(wish.seconds, least), most), refresher: isSupported ? wish.refresher ?? role : .uas),
            isSupported: isSupported)
    }

    /// Adds what an INVITE or UPDATE of ours says about the timer.
    package func offer(in request: inout Request, current: SessionTimer?) {
        guard interval > 0 || current != nil else { return }
        let seconds = max(current?.seconds ?? interval, minimum)
        let role = current.map { $0.isRefresher ? SessionExpires.Refresher.uac : .uas }
        request.headers.append(.sessionExpires, SessionExpires(seconds: seconds, refresher: role).description)
        if minimum > SessionTimer.minimum { request.headers.append(.minSE, String(minimum)) }
    }

    /// The timer after a 2xx to our request; the refresher is us unless the answer says otherwise. Without a
    /// Session-Expires nothing is expected of the peer any more.
    package func timer(after response: Response, current: SessionTimer?, at now: Instant) -> SessionTimer? {
        guard let agreed = response.sessionExpires else {
            guard let current, current.isRefresher else { return nil }
            return SessionTimer(seconds: current.seconds, isRefresher: true, at: now)
        }
        let seconds = min(max(agreed.seconds, SessionTimer.minimum), SessionTimer.maximum)
        return SessionTimer(seconds: seconds, isRefresher: agreed.refresher != .uas, at: now)
    }

    /// Takes the Min-SE of a 422; false: it asks for nothing new, or too much.
    package mutating func follow(_ refusal: Response) -> Bool {
        guard let asked = refusal.minSE, asked > minimum, asked <= SessionTimer.maximum else { return false }
        minimum = asked
        return true
    }
}
