import SIP

/// The stable words for how a call ended (`cause` of `CallStatus`).
enum CallCause: String {
    case normal, busy, declined, cancelled, unreachable, refused, failed, shutdown, transferred
    case noAnswer = "no-answer"
    case answeredElsewhere = "answered-elsewhere"
    case mediaTimeout = "media-timeout"
    case tooLong = "too-long"

    /// Of the final response to an INVITE of ours (D9).
    init(status: Int) {
        switch status {
        case 200..<300: self = .normal
        case 486, 600: self = .busy
        case 603, 607, 608: self = .declined
        case 408, 480, 487: self = .noAnswer
        case 404, 410, 484, 485, 502, 503, 504, 604, 430: self = .unreachable
        case 401, 402, 403, 407: self = .refused
        default: self = .failed
        }
    }

    /// Of an INVITE that never got a final response.
    init(failure: RequestFailure, wasRinging: Bool) {
        switch failure {
        case .timeout where wasRinging: self = .noAnswer
        case .cancelled: self = .cancelled
        default: self = .unreachable
        }
    }

    /// Of a call that we end.
    init(_ reason: HangUpReason, wasAnswered: Bool) {
        switch reason {
        case .normal: self = wasAnswered ? .normal : .cancelled
        case .answeredElsewhere: self = .answeredElsewhere
        case .mediaTimeout: self = .mediaTimeout
        case .tooLong: self = .tooLong
        case .shutdown: self = .shutdown
        case .transferred: self = .transferred
        }
    }

    /// Of an incoming call that we refuse with this status.
    init(rejecting status: Int) {
        switch status {
        case 486, 600: self = .busy
        case 408, 480: self = .noAnswer
        default: self = .declined
        }
    }

    /// Of an incoming call that the caller gave up, by the reasons in its CANCEL or BYE.
    init(givenUp reasons: [Reason]) {
        self = reasons.contains { $0.isAnsweredElsewhere } ? .answeredElsewhere : .cancelled
    }
}

extension Reason {
    /// Another phone took the call: said by SIP, or by the telephone network ("non-selected user clearing").
    var isAnsweredElsewhere: Bool {
        let name = protocolName.lowercased()
        return name == "sip" && cause == 200 || name == "q.850" && cause == 26
    }
}

extension HangUpReason {
    /// The Reason header of a CANCEL or BYE (RFC 3326, I6, MED3); nil: none.
    var header: String? {
        switch self {
        case .normal, .transferred: nil
        case .answeredElsewhere: Reason(cause: 200, text: "Call completed elsewhere").description
        case .mediaTimeout: Reason(cause: 408, text: "media timeout").description
        case .tooLong: Reason(protocolName: "Q.850", cause: 16, text: "longest duration of a call").description
        case .shutdown: Reason(cause: 503, text: "shutdown").description
        }
    }

    /// The refusal of an incoming call that is still ringing.
    var status: Int { self == .shutdown || self == .mediaTimeout ? 480 : 486 }
}
