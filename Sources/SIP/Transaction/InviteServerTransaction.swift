package import Primitives

/// Server side of an INVITE transaction (RFC 3261 §17.2.1 figure 7, RFC 6026 §7.1).
///
/// It knows times and states; the messages are kept beside it. Responses of 2xx are repeated by the user (T3).
package struct InviteServerTransaction: Sendable {
    package enum State: Hashable, Sendable { case proceeding, completed, accepted, confirmed, terminated }

    package enum Input: Sendable {
        /// The INVITE came.
        case start
        /// The INVITE came again.
        case repeated
        /// The user answers.
        case respond(status: Int)
        /// An ACK with this transaction's branch came.
        case acknowledged
        case deadlineReached
    }

    package enum Output: Equatable, Sendable {
        /// Send the user's last response, again and again.
        case send
        /// Send 100 Trying (T6).
        case sendTrying
        /// The ACK is for the user: it belongs to a 2xx.
        case deliver
    }

    package private(set) var state = State.proceeding
    private let isReliable: Bool
    private var interval = TransactionTimers.t1
    private var hasResponded = false
    /// 100 Trying, then timer G.
    private var sendAt: Instant?
    /// Timers H, I and L; before a final response the time after which no user can be there any more (D20).
    private var endAt: Instant?

    /// `isReliable`: the transport is a stream.
    package init(isReliable: Bool) { self.isReliable = isReliable }

    /// When `deadlineReached` is next due; nil while nothing is pending.
    package var deadline: Instant? { earliest(sendAt, endAt) }

    package mutating func handle(_ input: Input, at now: Instant, _ out: inout [Output]) {
        switch (state, input) {
        case (.proceeding, .start):
            sendAt = now + TransactionTimers.trying
            endAt = now + TransactionTimers.undecided
        case (.proceeding, .repeated):
            sendAt = nil
            out.append(hasResponded ? .send : .sendTrying)
        case (.completed, .repeated): out.append(.send)

        case (.proceeding, .respond(let status)):
            hasResponded = true
            sendAt = nil
            if status >= 200 {
                endAt = now + TransactionTimers.timeout
                state = status < 300 ? .accepted : .completed
                if status >= 300, !isReliable { sendAt = now + interval }
            }
            out.append(.send)
        case (.accepted, .respond(let status)) where 200..<300 ~= status: out.append(.send)

        case (.completed, .acknowledged):
            state = .confirmed
            sendAt = nil
            endAt = now + TransactionTimers.t4
            if isReliable { end() }
        case (.accepted, .acknowledged): out.append(.deliver)

        case (_, .deadlineReached):
            if let endAt, now >= endAt {
                end()
            } else if let sendAt, now >= sendAt {
                if state == .proceeding {
                    self.sendAt = nil
                    out.append(.sendTrying)
                } else {
                    interval = min(interval * 2, TransactionTimers.t2)
                    self.sendAt = now + interval
                    out.append(.send)
                }
            }
        default: break
        }
    }

    private mutating func end() {
        state = .terminated
        sendAt = nil
        endAt = nil
    }
}
