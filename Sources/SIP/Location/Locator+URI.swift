extension Locator.Destination {
    /// A `sip` or `sips` URI: `maddr` stands for its host. nil for any other URI and for unknown transports.
    /// - Parameter transport: Counts where the URI names none.
    package init?(_ uri: SIPURI, transport: Transport? = nil) {
        guard uri.isSIP, let host = uri.host else { return nil }
        let named = uri.transport.flatMap { Transport(rawValue: $0) }
        if uri.transport != nil, named == nil { return nil }
        self.init(
            host: uri.parameter("maddr").flatMap { Host($0)?.text } ?? host.text, port: uri.port,
            transport: uri.scheme == .sips ? nil : named ?? transport, isSecure: uri.scheme == .sips)
    }
}
