import Primitives
import SIP

/// A globally routable URI of this device (RFC 5627).
struct GRUU {
    let uri: SIPURI
    /// Of the probe that is on its way.
    let probe: String
    /// The probe came back: requests in a dialog find us by it.
    var isProven = false
}

/// GRUUs are used where they are given, and never needed.
///
/// Some registrars give one though their proxies route by it only what begins a dialog: ACK and BYE would get lost.
/// So a GRUU is tried before it stands in a Contact: a request as in a dialog goes to it along the flow and, where all
/// is well, comes back here.
extension Registration {
    mutating func take(gruuOf own: NameAddress, _ flow: Flow, random: inout Randomness, _ out: inout [Output]) {
        guard let text = own.parameters["pub-gruu"], let uri = try? SIPURI(text), uri.isSIP,
            uri.parameters.contains("gr")
        else { return gruu = nil }
        guard gruu?.uri != uri else { return }
        gruu = GRUU(uri: uri, probe: random.token(bits: 128))
        guard let gruu else { return }
        var hop = SIPURI(host: Host(flow.remote.address), port: flow.remote.port)
        if flow.transport != .udp { hop.setParameter("transport", flow.transport.rawValue) }
        let aor = account.uri.addressOfRecord
        var request = Request(
            .options, uri, from: NameAddress(aor, parameters: ["tag": random.token(bits: 96)]),
            to: NameAddress(uri, parameters: ["tag": random.token(bits: 96)]), callID: gruu.probe, cseq: 1)
        let routes = serviceRoutes.isEmpty ? [NameAddress.looseRoute(hop)] : serviceRoutes
        for route in routes { request.headers.append(.route, route.description) }
        out.append(.probe(request, RequestPath(to: uri, routes: routes, flow: flow)))
    }

    /// A request came in: is it the probe? It is answered as every loop is.
    mutating func heard(_ request: Request) -> Bool {
        guard let gruu, request.method == .options, request.callID == gruu.probe else { return false }
        self.gruu?.isProven = true
        return true
    }
}
