/// A request method (RFC 3261 §7.1). Case-sensitive: `invite` is not INVITE.
package struct SIPMethod: Hashable, Sendable, CustomStringConvertible {
    package let name: String

    package init(_ name: String) { self.name = name }

    package static let invite = SIPMethod("INVITE")
    package static let ack = SIPMethod("ACK")
    package static let bye = SIPMethod("BYE")
    package static let cancel = SIPMethod("CANCEL")
    package static let register = SIPMethod("REGISTER")
    package static let options = SIPMethod("OPTIONS")
    package static let info = SIPMethod("INFO")
    package static let prack = SIPMethod("PRACK")
    package static let update = SIPMethod("UPDATE")
    package static let refer = SIPMethod("REFER")
    package static let notify = SIPMethod("NOTIFY")
    package static let subscribe = SIPMethod("SUBSCRIBE")
    package static let message = SIPMethod("MESSAGE")
    package static let publish = SIPMethod("PUBLISH")

    /// Every method that an RFC in the profile defines.
    private static let defined: Set<SIPMethod> = [
        .invite, .ack, .bye, .cancel, .register, .options, .info, .prack, .update, .refer, .notify, .subscribe,
        .message, .publish,
    ]

    /// Whether an RFC of the profile defines it: otherwise the answer is 501 (P13), not 405.
    package var isDefined: Bool { Self.defined.contains(self) }

    package var description: String { name }
}
