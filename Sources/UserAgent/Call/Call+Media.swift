import Primitives
import SDP
import SIP

/// The sound of a call: its port, the plan in force, and names that stand for addresses.
extension Call {
    /// Starts, changes or stops the media; equal plans restart nothing (S6).
    mutating func show(_ next: MediaPlan?, _ out: inout [Output]) {
        status.plan = next
        guard next != plan else { return }
        plan = next
        out.append(.media(next))
    }

    /// Takes the negotiated media into force, once the address of the peer is known.
    mutating func showNegotiated(at now: Instant, _ out: inout [Output]) {
        guard phase == .established, let negotiation else { return }
        if let name = negotiation.nameToResolve {
            ask(name, &out)
        } else {
            show(negotiation.plan, &out)
            if !holds { heldByPeer = negotiation.plan?.heldByPeer ?? false }
        }
        showHold(at: now)
    }

    private mutating func ask(_ name: String, _ out: inout [Output]) {
        guard nameAsked != name else { return }
        nameAsked = name
        out.append(.lookUp(name: name, isV6: negotiation?.local.address.isV6 ?? false))
    }

    mutating func resolved(_ address: IPAddress?, at now: Instant, _ out: inout [Output]) {
        guard let name = nameAsked else { return }
        nameAsked = nil
        guard phase == .established, negotiation?.nameToResolve == name else { return }
        guard let address else {
            out.append(.note(.warning, "no address for \(name), where the peer wants its audio"))
            sayBye(nil, &out)
            return end(nil, "no address for the peer's audio", .failed, at: now, &out)
        }
        leg?.negotiation.resolved(address)
        showNegotiated(at: now, &out)
    }

    /// Our side of the media on this flow; nil if no port is left (MED9).
    mutating func localMedia(on flow: Flow) -> LocalMedia? {
        let address = flow.local.address
        if port?.address != address {
            guard let number = capabilities.reservePort(key, address) else { return nil }
            port = (address, number)
        }
        guard let port else { return nil }
        var local =
            negotiation?.local
            ?? LocalMedia(
                codecs: account.codecs, address: address, port: port.number, telephoneEvents: account.dtmf != .info,
                opusBitRate: account.opusBitRate)
        local.address = address
        local.port = port.number
        return local
    }
}
