internal import Configuration
internal import SIP
internal import UserAgent

/// Callers who are sent elsewhere (`forward`).
extension Intercom {
    /// Sends the caller to a URI instead of ringing on.
    /// - Returns: whether there is one.
    mutating func forward(_ call: CallKey, to text: String?, _ why: String, _ out: inout [IntercomOutput]) -> Bool {
        guard let uri = text.flatMap({ try? SIPURI($0) }) else { return false }
        calls[call]?.isEnding = true
        note(.notice, call, "sent to \(uri): forward \(why)", &out)
        out.append(.redirect(call, to: uri))
        return true
    }

    func forwarding(of account: String) -> Forwarding {
        configuration.account(named: account)?.forwarding ?? Forwarding()
    }
}
