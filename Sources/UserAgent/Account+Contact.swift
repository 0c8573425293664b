import SIP

extension Account {
    /// Our Contact on a flow (R1): its real local address, or the GRUU. Whoever asks by `sips` is answered so
    /// (RFC 5630 §5).
    func contact(on flow: Flow, for peer: SIPURI? = nil) -> SIPURI {
        if let gruu, peer?.scheme != .sips || gruu.scheme == .sips { return gruu }
        var contact = SIPURI(user: contactUser, host: Host(flow.local.address), port: flow.local.port)
        if flow.transport == .tls, uri.scheme == .sips || peer?.scheme == .sips {
            contact.scheme = .sips
        } else if flow.transport != .udp {
            contact.setParameter("transport", flow.transport.rawValue)
        }
        if usesOutbound { contact.parameters.setFlag("ob") }
        return contact
    }
}
