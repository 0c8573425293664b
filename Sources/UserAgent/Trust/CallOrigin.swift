import Configuration
import Primitives
import SIP

/// How well an account knows the source of a request (SEC1); better ones are greater.
enum Standing: Int, Comparable {
    /// Nobody in particular, but the account takes calls from anyone.
    case anyone
    /// Named by `accept-from`.
    case listed
    /// From outside the flow, with the account's credentials (A5).
    case authenticated
    /// The account's registrar or proxy.
    case flow

    static func < (left: Standing, right: Standing) -> Bool { left.rawValue < right.rawValue }
}

/// Who calls, as far as it is believed (I7).
struct AssertedCaller {
    var uri: SIPURI
    var name: String

    /// P-Asserted-Identity counts from the account's own servers only, From otherwise.
    init(_ request: Request, standing: Standing) {
        let asserted = standing == .flow ? request.assertedIdentities : []
        let identity = asserted.first { $0.uri.isSIP } ?? asserted.first ?? request.from
        uri = identity.uri.addressOfRecord
        let name = identity.displayName ?? request.from.displayName ?? ""
        self.name = String(String.UnicodeScalarView(name.unicodeScalars.filter { !$0.properties.isControl }))
    }

    func matches(_ patterns: [CallerPattern]) -> Bool { uri.matches(patterns) }
}

extension SIPURI {
    /// Whether a caller of this address is one of these.
    func matches(_ patterns: [CallerPattern]) -> Bool {
        let user = scheme == .tel ? numberDigits : escapedUser
        return patterns.contains { $0.matches(user: user, host: host?.description ?? "") }
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isControl: Bool { generalCategory == .control || generalCategory == .format }
}

extension Account {
    /// What is done with a call that passed every check, and why; nil: refused, for its sender insists on what it may
    /// not (I2).
    func answer(
        _ request: Request, caller: AssertedCaller, standing: Standing
    ) -> (answer: IncomingCall.Answer?, why: String) {
        let asked = AutoAnswerRequest(request)
        let (isAllowed, why) = mayAnswer(asked, caller, standing)
        if isAllowed {
            return (.automatic(after: max(autoAnswerAfter, asked?.delay ?? .zero)), "is answered by itself: \(why)")
        }
        if let asked, asked.isRequired { return (nil, "\(asked.by) insists on an answer by itself: \(why)") }
        return (.ring, "rings: \(why)")
    }

    private func mayAnswer(
        _ asked: AutoAnswerRequest?, _ caller: AssertedCaller, _ standing: Standing
    ) -> (Bool, why: String) {
        func named() -> (Bool, why: String) {
            let isNamed = caller.matches(autoAnswerFrom)
            return (isNamed, "auto-answer-from \(isNamed ? "names" : "does not name") \(caller.uri)")
        }
        switch autoAnswer {
        case .never: return (false, "auto-answer = never")
        case .always: return (true, "auto-answer = always")
        case .list: return named()
        case .header:
            guard let asked else { return (false, "auto-answer = header, and no header asks for an answer") }
            if !autoAnswerFrom.isEmpty { return named() }
            if standing >= .authenticated { return (true, "\(asked.by) asks for it") }
            return (false, "\(asked.by) asks for an answer, but comes from outside the registered flow")
        }
    }
}
