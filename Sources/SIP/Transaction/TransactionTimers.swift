/// Timer values of RFC 3261 §17 (appendix A), with the corrections of RFC 6026.
package enum TransactionTimers {
    /// Estimate of the round trip.
    package static let t1 = Duration.milliseconds(500)
    /// Ceiling of the retransmission interval, except for INVITE requests.
    package static let t2 = Duration.seconds(4)
    /// How long a message may stay in the network.
    package static let t4 = Duration.seconds(5)
    /// Timers B, D, F, H, J, L and M: 64*T1.
    package static let timeout = Duration.seconds(32)
    /// When 100 Trying is sent by itself (T6).
    package static let trying = Duration.milliseconds(200)
    /// An INVITE with a provisional response, but without a final one, is cancelled after this time (D20).
    package static let ringing = Duration.seconds(600)
    /// An INVITE of the peer without a final response is forgotten after this time (D20).
    package static let undecided = Duration.seconds(900)
}

/// Why a client transaction ended without a final response.
package enum TransactionFailure: Error, Hashable, Sendable {
    /// Nobody answered within 64*T1: counts as 408 (RFC 3261 §8.1.3.1).
    case timeout
    /// The octets did not leave, or the way back is gone: counts as 503 (D19).
    case transport(TransportFailure)
}
