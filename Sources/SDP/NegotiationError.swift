/// Why a description cannot be used.
package enum NegotiationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The text is no session description: 400 or 488. The part says what was wrong.
    case malformed(String)
    /// More octets than are read (S10).
    case tooLarge(String)
    /// More m-lines, attributes or formats than are read (S10); the part says which.
    case tooMany(String)
    /// Nothing in it that we can take. The part says what was missing.
    case notAcceptable(String)
    /// An offer while ours is out (491), or an answer without an offer: by the order of the calls, not by the text.
    case wrongState(NegotiationState)

    /// The final response to an INVITE or UPDATE with this description.
    package var status: Int {
        switch self {
        case .malformed, .notAcceptable, .tooMany: 488
        case .tooLarge: 413
        case .wrongState(.offered): 491
        case .wrongState: 500
        }
    }

    package var description: String {
        switch self {
        case .malformed(let part): "session description: \(part)"
        case .tooLarge(let part): "session description too large: \(part)"
        case .tooMany(let part): "session description with too many \(part)"
        case .notAcceptable(let part): "session description not acceptable: \(part)"
        case .wrongState(.offered): "our own offer is not answered yet"
        case .wrongState: "an answer came without an offer"
        }
    }
}
