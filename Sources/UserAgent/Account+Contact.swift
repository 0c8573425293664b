import SIP

extension Account {
    /// Our Contact on a flow (R1): its real local address.
    func contact(on flow: Flow) -> SIPURI {
        var uri = SIPURI(user: contactUser, host: Host(flow.local.address), port: flow.local.port)
        if flow.transport != .udp { uri.setParameter("transport", flow.transport.rawValue) }
        return uri
    }
}
