import Primitives
package import SIP

/// What a caller asks about answering by itself, in any of the dialects in use (I1).
package struct AutoAnswerRequest: Equatable, Sendable {
    /// Longer waits are cut.
    package static let longestDelay = Duration.seconds(60)

    /// Words and URIs of Alert-Info that ask for an answer.
    private static let alerts = [
        "alert-autoanswer", "auto answer", "autoanswer", "auto-answer", "ring answer", "ring-answer", "ringanswer",
        "intercom", "intercom=true",
    ]

    package var delay: Duration = .zero
    /// The caller wants no ringing instead (RFC 5373 `require`): 403 if it is not allowed.
    package var isRequired = false
    /// What asks for it: the name of a header, or the Request-URI.
    package private(set) var by = ""

    /// nil if the INVITE asks for nothing.
    package init?(_ request: Request) {
        for (name, mode) in [(HeaderName.answerMode, request.answerMode), (.privAnswerMode, request.privAnswerMode)] {
            guard let mode, mode.hasToken("Auto") else { continue }
            by = name.spelling
            if mode.parameters.contains("require") { isRequired = true }
        }
        for name in [HeaderName.callInfo, .alertInfo] {
            for value in request.headers.list(name) {
                guard let delay = name == .callInfo ? Self.callInfo(value) : Self.alert(value) else { continue }
                by = name.spelling
                self.delay = max(self.delay, delay)
            }
        }
        if let value = request.headers.first(.pAutoAnswer), value.lowercased() == "normal" {
            by = HeaderName.pAutoAnswer.spelling
        }
        if request.uri.parameter("intercom")?.lowercased() == "true" { by = "the Request-URI" }
        if by.isEmpty { return nil }
    }

    /// The delay that a Call-Info value asks for; nil if it asks for no answer.
    private static func callInfo(_ value: String) -> Duration? {
        let parameters = parameters(of: value)
        if let delay = answerAfter(parameters) { return delay }
        guard parameters["info"]?.lowercased() == "alert-autoanswer" else { return nil }
        return seconds(parameters["delay"]) ?? .zero
    }

    /// The delay that an Alert-Info value asks for; nil if it asks for no answer.
    private static func alert(_ value: String) -> Duration? {
        let parameters = parameters(of: value)
        if let delay = answerAfter(parameters) { return delay }
        // URI or text before the parameters, without brackets and quotes.
        let end = value.firstIndex(of: ">") ?? value.firstIndex(of: ";") ?? value.endIndex
        let head = value[..<end].lowercased().filter { !"<\"".contains($0) }
        let words = head.hasPrefix("http://") || head.hasPrefix("https://") ? "" : head
        let info = parameters["info"]?.lowercased() ?? ""
        guard alerts.contains(info) || alerts.contains(where: { words == $0 || words.hasSuffix(":" + $0) }) else {
            return nil
        }
        return seconds(parameters["delay"]) ?? .zero
    }

    private static func answerAfter(_ parameters: [String: String]) -> Duration? {
        seconds(parameters["answer-after"])
    }

    private static func seconds(_ text: String?) -> Duration? {
        text.flatMap { deltaSeconds($0) }.map { min(.seconds(Int64($0)), longestDelay) }
    }

    /// Parameters behind a URI in brackets, or behind the first semicolon; names in lower case, values without quotes.
    private static func parameters(of value: String) -> [String: String] {
        let start = value.firstIndex(of: ">").map { value.index(after: $0) } ?? value.startIndex
        var parameters: [String: String] = [:]
        for part in value[start...].split(separator: ";") {
            guard let equals = part.firstIndex(of: "=") else { continue }
            let name = part[..<equals].lowercased().filter { $0 != " " }
            let text = part[part.index(after: equals)...].filter { $0 != "\"" }
            parameters[name] = String(text.drop { $0 == " " })
        }
        return parameters
    }
}
