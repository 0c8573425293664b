package import Primitives

/// Client side of an INVITE transaction (RFC 3261 §17.1.1 figure 5, RFC 6026 §7.2), with the CANCEL that may end it (D6).
///
/// It knows times and states; the messages are kept beside it.
package struct InviteClientTransaction: Sendable {
    package enum State: Hashable, Sendable { case calling, proceeding, completed, accepted, terminated }

    package enum Input: Sendable {
        case start
        case response(status: Int)
        /// CANCEL goes out now or with the first provisional response.
        case cancel
        case transportFailed(TransportFailure)
        case deadlineReached
    }

    package enum Output: Equatable, Sendable {
        /// Send the INVITE, again and again.
        case send
        /// Send an ACK for this failure.
        case acknowledge
        /// The response is for the user.
        case deliver
        /// Send a CANCEL in a transaction of its own.
        case cancel
        case failed(TransactionFailure)
    }

    package private(set) var state = State.calling
    private let isReliable: Bool
    private var interval = TransactionTimers.t1
    /// Timer A.
    private var resendAt: Instant?
    /// Timers B, D and M; after a provisional response the limit of ringing, after CANCEL 64*T1.
    private var endAt: Instant?
    private var cancelling = false

    /// `isReliable`: the transport is a stream.
    package init(isReliable: Bool) { self.isReliable = isReliable }

    /// When `deadlineReached` is next due; nil while nothing is pending.
    package var deadline: Instant? { earliest(resendAt, endAt) }

    package mutating func handle(_ input: Input, at now: Instant, _ out: inout [Output]) {
        switch (state, input) {
        case (.calling, .start):
            if !isReliable { resendAt = now + interval }
            endAt = now + TransactionTimers.timeout
            out.append(.send)

        case (.calling, .response(let status)) where status < 200:
            state = .proceeding
            resendAt = nil
            endAt = now + (cancelling ? TransactionTimers.timeout : TransactionTimers.ringing)
            if cancelling { out.append(.cancel) }
            out.append(.deliver)
        case (.proceeding, .response(let status)) where status < 200:
            if !cancelling { endAt = now + TransactionTimers.ringing }
            out.append(.deliver)
        case (.calling, .response(let status)), (.proceeding, .response(let status)):
            resendAt = nil
            if status < 300 {
                state = .accepted
                endAt = now + TransactionTimers.timeout
            } else {
                state = .completed
                endAt = now + (isReliable ? .zero : TransactionTimers.timeout)
                out.append(.acknowledge)
            }
            out.append(.deliver)
            if state == .completed, isReliable { end() }
        case (.completed, .response(let status)) where status >= 300: out.append(.acknowledge)
        case (.accepted, .response(let status)) where 200..<300 ~= status: out.append(.deliver)

        case (.calling, .cancel): cancelling = true
        case (.proceeding, .cancel) where !cancelling: cancel(at: now, &out)

        case (.calling, .transportFailed(let failure)), (.proceeding, .transportFailed(let failure)):
            end()
            out.append(.failed(.transport(failure)))
        case (_, .transportFailed): end()

        case (_, .deadlineReached):
            if let endAt, now >= endAt {
                if state == .proceeding, !cancelling { return cancel(at: now, &out) }
                if state == .calling || state == .proceeding { out.append(.failed(.timeout)) }
                end()
            } else if let resendAt, now >= resendAt {
                interval *= 2
                self.resendAt = now + interval
                out.append(.send)
            }
        default: break
        }
    }

    private mutating func cancel(at now: Instant, _ out: inout [Output]) {
        cancelling = true
        endAt = now + TransactionTimers.timeout
        out.append(.cancel)
    }

    private mutating func end() {
        state = .terminated
        resendAt = nil
        endAt = nil
    }
}
