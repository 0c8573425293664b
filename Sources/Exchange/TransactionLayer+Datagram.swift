import Primitives
import SIP

extension TransactionLayer {
    /// Takes a datagram: keep-alives and what cannot be understood nor refused end here (P8, P10).
    mutating func received(datagram octets: [UInt8], on flow: Flow, at now: Instant, _ out: inout [Output]) {
        do throws(ParseError) {
            guard let message = try Message.parse(datagram: octets) else { return }
            received(message, on: flow, at: now, &out)
        } catch {
            guard var refusal = error.refusal, var via = refusal.vias.first else { return }
            via.received = flow.remote.address
            if via.wantsRport { via.rport = flow.remote.port }
            refusal.vias[0] = via
            var back = flow
            if !via.wantsRport { back.remote.port = via.port ?? flow.transport.defaultPort }
            out.append(.send(refusal.serialized(), back))
        }
    }
}

extension Via {
    /// The Via of a request that leaves along a flow, with a fresh branch (T5, T8).
    init(leavingBy flow: Flow, random: inout Randomness) {
        self.init(
            transport: flow.transport.viaName, host: Host(flow.local.address), port: flow.local.port,
            branch: Via.magicCookie + random.token(bits: 96))
        parameters.setFlag("rport")
    }
}
