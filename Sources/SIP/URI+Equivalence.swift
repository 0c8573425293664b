import Primitives

extension SIPURI {
    /// Parameters that make a difference when only one of two URIs has them (RFC 3261 §19.1.4).
    private static let significant = ["user", "ttl", "method", "maddr", "transport"]

    /// RFC 3261 §19.1.4 for `sip` and `sips`, RFC 3966 §4 for `tel`. Addresses are compared by value (P14).
    ///
    /// Not transitive: an unknown parameter in one of the two does not count.
    package func isEquivalent(to other: SIPURI) -> Bool {
        guard scheme == other.scheme else { return false }
        switch scheme {
        case .other: return opaque == other.opaque
        case .tel: return isSameNumber(as: other)
        case .sip, .sips: break
        }
        guard Self.isSame(escapedUser, other.escapedUser), Self.isSame(escapedPassword, other.escapedPassword),
            host == other.host, port == other.port
        else { return false }
        for name in Self.significant where parameters.contains(name) != other.parameters.contains(name) {
            return false
        }
        for parameter in parameters.list where other.parameters.contains(parameter.name) {
            guard
                equalIgnoringCase(self.parameter(parameter.name) ?? "", other.parameter(parameter.name) ?? "")
            else { return false }
        }
        return hasSameHeaders(as: other)
    }

    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left == right || percentDecodedOctets(left) == percentDecodedOctets(right)
        default: false
        }
    }

    private func hasSameHeaders(as other: SIPURI) -> Bool {
        guard headers.count == other.headers.count else { return false }
        return headers.allSatisfy { header in
            other.headers.contains {
                equalIgnoringCase($0.name, header.name) && Self.isSame($0.text ?? "", header.text ?? "")
            }
        }
    }

    private func isSameNumber(as other: SIPURI) -> Bool {
        guard let digits = numberDigits, let otherDigits = other.numberDigits, equalIgnoringCase(digits, otherDigits),
            parameters.list.count == other.parameters.list.count
        else { return false }
        return parameters.list.allSatisfy { parameter in
            other.parameters.contains(parameter.name)
                && equalIgnoringCase(
                    self.parameter(parameter.name) ?? "", other.parameter(parameter.name) ?? "")
        }
    }
}
