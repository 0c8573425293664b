/// Why octets are not a message (or text not a URI, header value …), with what is needed to refuse them.
package struct ParseError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// Against the grammar, an integer out of range, a mandatory header missing or doubled (P6, P8, P9).
        case malformed
        /// `SIP/x` other than 2.0 (P13).
        case unsupportedVersion
        /// Request-URI over `Limits.uri` (SEC3).
        case uriTooLong
        /// Body over `Limits.body` (SEC3).
        case bodyTooLarge
        /// Header block, a line of it, or a number of headers over its limit (SEC3).
        case headersTooLarge
    }

    package var kind: Kind
    /// A short phrase in our words; it never contains octets of the peer.
    package var reason: String
    /// The answer to the request, present only where one may be given: not for responses or ACK, nor without a
    /// usable top Via (P8).
    package var refusal: Refusal?

    package init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    /// `malformed`.
    package init(_ reason: String) { self.init(.malformed, reason) }

    /// The status code that refuses such a request.
    package var status: Int {
        switch kind {
        case .malformed: 400
        case .unsupportedVersion: 505
        case .uriTooLong: 414
        case .bodyTooLarge: 413
        case .headersTooLarge: 513
        }
    }

    package var description: String { reason }
}

/// Limits for what a peer may send (SEC3). Lengths are in octets.
package enum Limits {
    /// The largest datagram.
    package static let datagram = 65_507
    /// Start line and header lines up to the empty line.
    package static let headerBlock = 65_536
    /// One header line with its continuation lines.
    package static let headerLine = 8192
    package static let headerLines = 256
    package static let vias = 70
    /// Route, and as many Record-Route.
    package static let routes = 32
    package static let body = 262_144
    package static let uri = 2048
    /// Values of one list header (Contact, Supported …) beyond which the rest is not read.
    package static let listValues = 256
}
