package import Primitives
package import SIP

/// Where a user is to be reached (RFC 3261 §10).
package struct Binding: Hashable, Sendable {
    /// As registered, without its `expires`.
    package var contact: NameAddress
    /// The way that the REGISTER came along; requests go back along it, whatever the Contact says.
    package var flow: Flow
    /// `+sip.instance` (RFC 5626).
    package var instance: String?
    /// `reg-id`, a number of that instance's flow.
    package var registration: String?
    package var callID: String
    package var sequence: UInt32
    package var refreshed: Instant
    package var expires: Instant

    /// Whether a Contact in a REGISTER means this binding: the same URI, or the same flow of the same instance.
    func isSame(as other: Binding) -> Bool {
        if let instance, instance == other.instance, registration == other.registration { return true }
        return contact.uri.isEquivalent(to: other.contact.uri)
    }
}
