package import Primitives

/// Server side of any other transaction (RFC 3261 §17.2.2 figure 8, RFC 4320: no provisional response, no 408).
///
/// It knows times and states; the messages are kept beside it.
package struct NonInviteServerTransaction: Sendable {
    package enum State: Hashable, Sendable { case trying, completed, terminated }

    package enum Input: Sendable {
        /// The request came.
        case start
        /// The request came again.
        case repeated
        /// The user answers, always with a final response.
        case respond
        case deadlineReached
    }

    package enum Output: Equatable, Sendable {
        /// Send the user's response, again and again.
        case send
    }

    package private(set) var state = State.trying
    private let isReliable: Bool
    /// Timer J; before the answer the time after which nobody waits for it any more.
    package private(set) var deadline: Instant?

    /// `isReliable`: the transport is a stream.
    package init(isReliable: Bool) { self.isReliable = isReliable }

    package mutating func handle(_ input: Input, at now: Instant, _ out: inout [Output]) {
        switch (state, input) {
        case (.trying, .start): deadline = now + TransactionTimers.timeout
        case (.trying, .respond):
            state = .completed
            deadline = now + TransactionTimers.timeout
            out.append(.send)
            if isReliable { end() }
        case (.completed, .repeated): out.append(.send)
        case (_, .deadlineReached):
            if let deadline, now >= deadline { end() }
        default: break
        }
    }

    private mutating func end() {
        state = .terminated
        deadline = nil
    }
}
