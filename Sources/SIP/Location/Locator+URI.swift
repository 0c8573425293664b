extension Locator.Destination {
    /// A `sip` or `sips` URI: `maddr` stands for its host. nil for any other URI and for unknown transports.
    /// - Parameters:
    ///   - transport: Counts where the URI names none.
    ///   - isSecure: TLS whatever the URI says.
    package init?(_ uri: SIPURI, transport: Transport? = nil, isSecure: Bool = false) {
        guard uri.isSIP, let host = uri.host else { return nil }
        let named = uri.transport.flatMap { Transport(rawValue: $0) }
        if uri.transport != nil, named == nil { return nil }
        let isSecure = isSecure || uri.scheme == .sips
        self.init(
            host: uri.parameter("maddr").flatMap { Host($0)?.text } ?? host.text, port: uri.port,
            transport: isSecure ? nil : named ?? transport, isSecure: isSecure)
    }
}
