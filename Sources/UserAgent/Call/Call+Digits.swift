import Primitives
import SIP

/// DTMF by INFO in both directions (I3).
extension Call {
    mutating func sendDigit(_ digit: UInt8) {
        guard phase == .established, leg?.waiting.count ?? 0 < Self.waitingLimit else { return }
        leg?.waiting.append(.digit(digit))
    }

    /// Digits count in a confirmed dialog only (I5).
    func info(_ request: Request, _ id: ServerTransactionID, _ out: inout [Output]) {
        switch DigitInfo(request) {
        case .digit(let digit):
            respond(200, to: request, id, &out)
            if phase == .established { out.append(.digit(digit)) }
        case .nothing: respond(200, to: request, id, &out)
        case .malformed: respond(400, to: request, id, &out)
        case .unsupported: respond(415, to: request, id, &out)
        }
    }
}
