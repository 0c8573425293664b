internal import Primitives

/// What a person or program can ask of a running appliance: the same whether it comes from the command line, a
/// script or a browser.
package enum ControlRequest: Equatable, Sendable {
    case status
    /// Why the accounts are not registered, and why the last calls went as they did.
    case explain
    /// The last calls.
    case history
    case press(button: String, for: Duration?)
    case dial(target: String, via: String?, headers: [String])
    /// Acts on the call named, else on the one that the word can apply to.
    case call(CallAction, id: String?)
    case open(door: String)
    case speaker(device: String)
    case volume(of: VolumeControl, level: VolumeLevel)
    /// nil: all accounts.
    case register(account: String?)
    case unregister(account: String?)
    case network(NetworkOverride)
    case reload
    /// Level and domain in the words of `portero log`; no domain: all.
    case log(level: String, domain: String?)
}

/// What can be done to a call.
package enum CallAction: Equatable, Sendable {
    case answer
    case reject(code: Int?)
    case hangup, hold, resume
    case mute(Bool)
    case dtmf(digits: String)
    /// To a contact, a URI, or the id of another call.
    case transfer(target: String)
}

/// Whose level is set.
package enum VolumeControl: String, Sendable { case speaker, microphone, ringer }

/// 0–100, or a step up or down.
package enum VolumeLevel: Equatable, Sendable {
    case absolute(Int)
    case step(Int)

    /// Reads `70`, `+5`, `-5`; nil for anything else or out of range.
    package init?(_ text: String) {
        guard let number = Int(text), (-100...100).contains(number) else { return nil }
        self = text.hasPrefix("+") || text.hasPrefix("-") ? .step(number) : .absolute(number)
    }

    package var text: String {
        switch self {
        case .absolute(let level): String(level)
        case .step(let step): step < 0 ? String(step) : "+\(step)"
        }
    }
}

/// What is believed of the network; `auto`: what its monitor sees.
package enum NetworkOverride: String, Sendable { case up, down, auto }

/// What the appliance answers.
package enum ControlResult: Equatable, Sendable {
    case done(JSON?)
    /// A call was made.
    case created(JSON)
    /// No account, button, call, door or target of that name.
    case unknown(String)
    /// Understood, but not possible now.
    case impossible(String)
    /// Not understood.
    case malformed(String)
    /// A configuration with faults.
    case faulty(String, faults: [String])
}

// MARK: - HTTP form

/// A request as it travels: INTERFACE section 6.
package struct ControlMessage: Equatable, Sendable {
    package var method: String
    package var path: String
    package var body: JSON?

    package init(_ method: String, _ path: String, _ body: JSON? = nil) {
        self.method = method
        self.path = path
        self.body = body
    }
}

extension ControlRequest {
    /// Stands for "the one that the word can apply to", and for all accounts.
    private static let any = "-"

    /// How the command line sends it.
    package var message: ControlMessage {
        switch self {
        case .status: return ControlMessage("GET", "/v1/status")
        case .explain: return ControlMessage("GET", "/v1/explain")
        case .history: return ControlMessage("GET", "/v1/calls")
        case .press(let button, let time):
            return .post(["buttons", button, "press"], .members(["for": time.map { .number($0.inSeconds) }]))
        case .dial(let target, let via, let headers):
            return .post(
                ["calls"],
                .members([
                    "target": .string(target), "via": via.map { .string($0) },
                    "headers": headers.isEmpty ? nil : .array(headers.map { .string($0) }),
                ]))
        case .call(let action, let id):
            let (word, body) = action.form
            return .post(["calls", id ?? Self.any, word], body)
        case .open(let door): return .post(["doors", door, "open"])
        case .speaker(let device): return .post(["speaker"], .members(["device": .string(device)]))
        case .volume(let control, let level):
            return .post(["volume"], .members(["of": .string(control.rawValue), "level": .string(level.text)]))
        case .register(let account): return .post(["accounts", account ?? Self.any, "register"])
        case .unregister(let account): return .post(["accounts", account ?? Self.any, "unregister"])
        case .network(let state): return .post(["network"], .members(["state": .string(state.rawValue)]))
        case .reload: return .post(["reload"])
        case .log(let level, let domain):
            return .post(["log"], .members(["level": .string(level), "domain": domain.map { .string($0) }]))
        }
    }

    /// Reads what came in. `malformed` names the key.
    package init(_ message: ControlMessage) throws(ControlError) {
        var parts: [String] = []
        for part in message.path.utf8.split(separator: 0x2F) {
            guard let name = decodedPercent(part) else { throw .malformed("path: bad percent-encoding") }
            parts.append(name)
        }
        let body = message.body ?? .object([])
        guard parts.first == "v1" else { throw .noSuchPath }
        parts.removeFirst()
        if message.method == "GET" {
            switch parts {
            case ["status"]: self = .status
            case ["explain"]: self = .explain
            case ["calls"]: self = .history
            default: throw .noSuchPath
            }
            return
        }
        guard message.method == "POST" else { throw .methodNotAllowed }
        switch (parts.count, parts.first) {
        case (1, "calls"):
            var headers: [String] = []
            if let list = body["headers"] {
                guard case .array(let elements) = list else {
                    throw .malformed("headers: expected a list of texts")
                }
                for element in elements {
                    guard let header = element.string else { throw .malformed("headers: expected a list of texts") }
                    headers.append(header)
                }
            }
            self = .dial(target: try body.text("target"), via: try body.optionalText("via"), headers: headers)
        case (3, "calls"):
            let id = parts[1] == Self.any ? nil : parts[1]
            self = .call(try CallAction(word: parts[2], body), id: id)
        case (3, "buttons") where parts[2] == "press":
            let seconds = body["for"]
            if seconds != nil, seconds?.number.map({ (0.001...3600).contains($0) }) != true {
                throw .malformed("for: expected seconds between 0.001 and 3600")
            }
            self = .press(button: parts[1], for: seconds?.number.map { .seconds($0) })
        case (3, "doors") where parts[2] == "open": self = .open(door: parts[1])
        case (3, "accounts") where parts[2] == "register":
            self = .register(account: parts[1] == Self.any ? nil : parts[1])
        case (3, "accounts") where parts[2] == "unregister":
            self = .unregister(account: parts[1] == Self.any ? nil : parts[1])
        case (1, "speaker"): self = .speaker(device: try body.text("device"))
        case (1, "volume"):
            guard let control = VolumeControl(rawValue: try body.text("of")) else {
                throw .malformed("of: expected speaker, microphone or ringer")
            }
            guard let level = VolumeLevel(try body.text("level")) else {
                throw .malformed("level: expected 0 to 100, +N or -N")
            }
            self = .volume(of: control, level: level)
        case (1, "network"):
            guard let state = NetworkOverride(rawValue: try body.text("state")) else {
                throw .malformed("state: expected up, down or auto")
            }
            self = .network(state)
        case (1, "reload"): self = .reload
        case (1, "log"): self = .log(level: try body.text("level"), domain: try body.optionalText("domain"))
        default: throw .noSuchPath
        }
    }
}

/// Why a message is no request: answered with 404, 405 and 400.
package enum ControlError: Error, Equatable, Sendable {
    case noSuchPath
    case methodNotAllowed
    case malformed(String)
}

extension CallAction {
    fileprivate var form: (word: String, body: JSON?) {
        switch self {
        case .answer: ("answer", nil)
        case .reject(let code): ("reject", .members(["code": code.map { .integer($0) }]))
        case .hangup: ("hangup", nil)
        case .hold: ("hold", nil)
        case .resume: ("resume", nil)
        case .mute(let on): ("mute", .members(["on": .bool(on)]))
        case .dtmf(let digits): ("dtmf", .members(["digits": .string(digits)]))
        case .transfer(let target): ("transfer", .members(["target": .string(target)]))
        }
    }

    fileprivate init(word: String, _ body: JSON) throws(ControlError) {
        switch word {
        case "answer": self = .answer
        case "reject":
            let code = body["code"]
            if code != nil, code?.integer.map({ (400...699).contains($0) }) != true {
                throw .malformed("code: expected 400 to 699")
            }
            self = .reject(code: code?.integer)
        case "hangup": self = .hangup
        case "hold": self = .hold
        case "resume": self = .resume
        case "mute":
            guard let on = body["on"]?.bool else { throw .malformed("on: expected true or false") }
            self = .mute(on)
        case "dtmf":
            let digits = try body.text("digits")
            guard !digits.isEmpty, digits.utf8.count <= 64,
                digits.utf8.allSatisfy({ $0.isDigit || "*#ABCDabcd".utf8.contains($0) })
            else { throw .malformed("digits: expected up to 64 of 0-9 * # A-D") }
            self = .dtmf(digits: digits)
        case "transfer": self = .transfer(target: try body.text("target"))
        default: throw .noSuchPath
        }
    }
}

extension JSON {
    fileprivate func text(_ name: String) throws(ControlError) -> String {
        guard let text = self[name]?.string else { throw .malformed("\(name): expected a text") }
        return text
    }

    fileprivate func optionalText(_ name: String) throws(ControlError) -> String? {
        self[name] == nil ? nil : try text(name)
    }
}

extension ControlMessage {
    fileprivate static func post(_ parts: [String], _ body: JSON? = nil) -> ControlMessage {
        ControlMessage("POST", "/v1/" + parts.map(encodedPercent).joined(separator: "/"), body)
    }
}

/// RFC 3986 percent-encoding of one path segment.
private func encodedPercent(_ text: String) -> String {
    var encoded: [UInt8] = []
    for octet in text.utf8 {
        if octet.isDigit || octet.isLetter || "-._~+:@".utf8.contains(octet) {
            encoded.append(octet)
        } else {
            encoded.append(0x25)
            encoded += Array(hexadecimal([octet]).utf8)
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}

private func decodedPercent(_ text: Substring.UTF8View) -> String? {
    var decoded: [UInt8] = []
    var rest = text[...]
    while let octet = rest.popFirst() {
        guard octet == 0x25 else {
            decoded.append(octet)
            continue
        }
        guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else { return nil }
        decoded.append(high << 4 | low)
    }
    return String(validating: decoded, as: UTF8.self)
}

extension ControlResult {
    /// HTTP status and body.
    package var form: (status: Int, body: JSON?) {
        switch self {
        case .done(let body): (200, body ?? .object([]))
        case .created(let body): (201, body)
        case .malformed(let text): (400, .members(["error": .string(text)]))
        case .unknown(let text): (404, .members(["error": .string(text)]))
        case .impossible(let text): (409, .members(["error": .string(text)]))
        case .faulty(let text, let faults):
            (422, .members(["error": .string(text), "faults": .array(faults.map { .string($0) })]))
        }
    }
}
