package import Primitives

/// How the TLS connections of an account are secured (SEC8). Accounts with equal settings share connections (T13).
package struct TLSSettings: Hashable, Sendable {
    /// The account's domain and the proxies that it names, the one to ask for first: names in lower case, addresses
    /// without brackets. A server of the account proves to be one of them.
    package var names: [String] = []
    /// Whether chain, names and dates are checked.
    package var verifies = true
    /// File or folder of the CA certificates that count; nil: the system's store.
    package var authorities: String?
    /// SHA-256 of the public keys (SubjectPublicKeyInfo) of which the server has one; empty: any will do.
    package var pins: [[UInt8]] = []
    /// Our own certificate with its chain, a PEM file; nil: none.
    package var certificate: String?
    /// Its key, a PEM file; nil: in the same file.
    package var key: String?
    /// What changes when the content of these files does: other content is another trust.
    package var stamps: [String] = []
    /// Before the clock is set, the last time that is known stands in for it.
    package var toleratesClock = false

    package init() {}
}

/// Whom a TLS connection leads to (RFC 5922).
package struct TLSServer: Hashable, Sendable {
    package var settings: TLSSettings
    /// What the server is asked for (server_name); nil: an address has no name.
    package var name: String?
    /// Whoever proves to be one of these is the one.
    package var names: [String]

    /// - Parameters:
    ///   - host: where the request goes, as the URI says it: a name in any case, or an address without brackets.
    ///   - isProxy: whether the account or its servers named it, so that it may prove to be the account's domain; so may
    ///     an address, which has no name to prove.
    package init(_ settings: TLSSettings, host: String, isProxy: Bool) {
        let host = host.lowercasedASCII
        self.settings = settings
        let ownName = IPAddress(host) == nil ? host : nil
        let domain = settings.names.first { IPAddress($0) == nil }
        if settings.names.contains(host) {
            (name, names) = (ownName ?? domain, settings.names)
        } else if isProxy || ownName == nil {
            (name, names) = (domain ?? ownName, settings.names + [host])
        } else {
            (name, names) = (ownName, [host])
        }
    }

    /// Whether the certificate is for one of `names`: by a DNS name or a SIP URI of the whole domain, without wildcards
    /// (RFC 5922 §7.2); an address counts by an address alone.
    package func isNamed(in certificate: CertificateNames) -> Bool {
        names.contains { name in
            if let address = IPAddress(name) { return certificate.addresses.contains(address) }
            return certificate.domains.contains(name)
        }
    }
}

/// The subject alternative names of a certificate.
package struct CertificateNames: Equatable, Sendable {
    /// Domains by DNS names and `sip:` URIs without a user (RFC 5922 §7.1), in lower case.
    package private(set) var domains: [String] = []
    package private(set) var addresses: [IPAddress] = []

    package init() {}

    /// As they stand in the certificate; those that name no SIP domain are left out.
    package mutating func add(dns: String) { domains.append(dns.lowercasedASCII) }

    package mutating func add(uri text: String) {
        guard let uri = try? SIPURI(text), uri.scheme == .sip, uri.user == nil, let host = uri.host,
            host.address == nil
        else { return }
        domains.append(host.text.lowercasedASCII)
    }

    package mutating func add(address octets: [UInt8]) {
        if let address = IPAddress(octets: octets) { addresses.append(address) }
    }
}
