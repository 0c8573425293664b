package import Primitives

/// Client side of any other transaction (RFC 3261 §17.1.2, figure 6).
///
/// It knows times and states; the messages are kept beside it.
package struct NonInviteClientTransaction: Sendable {
    package enum State: Hashable, Sendable { case trying, proceeding, completed, terminated }

    package enum Input: Sendable {
        case start
        case response(status: Int)
        case transportFailed(TransportFailure)
        case deadlineReached
    }

    package enum Output: Equatable, Sendable {
        /// Send the request, again and again.
        case send
        /// The response is for the user.
        case deliver
        case failed(TransactionFailure)
    }

    package private(set) var state = State.trying
    private let isReliable: Bool
    private var interval = TransactionTimers.t1
    /// Timer E.
    private var resendAt: Instant?
    /// Timers F and K.
    private var endAt: Instant?

    /// `isReliable`: the transport is a stream.
    package init(isReliable: Bool) { self.isReliable = isReliable }

    /// When `deadlineReached` is next due; nil while nothing is pending.
    package var deadline: Instant? { earliest(resendAt, endAt) }

    package mutating func handle(_ input: Input, at now: Instant, _ out: inout [Output]) {
        switch (state, input) {
        case (.trying, .start):
            if !isReliable { resendAt = now + interval }
            endAt = now + TransactionTimers.timeout
            out.append(.send)

        case (.trying, .response(let status)) where status < 200,
            (.proceeding, .response(let status)) where status < 200:
            state = .proceeding
            out.append(.deliver)
        case (.trying, .response), (.proceeding, .response):
            state = .completed
            resendAt = nil
            endAt = now + TransactionTimers.t4
            out.append(.deliver)
            if isReliable { end() }

        case (.completed, .transportFailed): end()
        case (_, .transportFailed(let failure)) where state != .terminated:
            end()
            out.append(.failed(.transport(failure)))

        case (_, .deadlineReached):
            if let endAt, now >= endAt {
                if state != .completed { out.append(.failed(.timeout)) }
                end()
            } else if let resendAt, now >= resendAt {
                interval = state == .trying ? min(interval * 2, TransactionTimers.t2) : TransactionTimers.t2
                self.resendAt = now + interval
                out.append(.send)
            }
        default: break
        }
    }

    private mutating func end() {
        state = .terminated
        resendAt = nil
        endAt = nil
    }
}
