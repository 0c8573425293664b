import Primitives
import SIP

/// A registrar that answers as it is told, with a small delay.
final class Registrar {
    enum Answer {
        /// 200 with the Contact, and this time granted; nil: without any time.
        case accept(UInt32?)
        case acceptWithoutContact
        case status(Int, [(HeaderName, String)])
        case silence

        static func status(_ code: Int) -> Answer { .status(code, []) }
    }

    /// Used up one by one; the last one stays.
    var script: [Answer]
    /// Demanded by digest; nil: nobody is asked.
    var nonce: String?
    var stale = false
    /// Added to each 200.
    var headers: [(HeaderName, String)] = []
    /// Added to each Contact in a 200.
    var contactParameters: [String: String] = [:]
    private(set) var seen: [Request] = []
    /// Bindings by Contact URI.
    private(set) var bindings: [SIPURI] = []

    init(_ script: Answer...) { self.script = script }

    func answer(_ request: Request, _ flow: Flow) -> [(after: Duration, Response)] {
        guard request.method == .register else { return [] }
        seen.append(request)
        if let nonce, request.headers.first(.authorization)?.contains("nonce=\"\(nonce)\"") != true {
            var response = request.response(401, toTag: "r")
            response.headers.append(
                .wwwAuthenticate,
                "Digest realm=\"pbx\", nonce=\"\(nonce)\", qop=\"auth\"" + (stale ? ", stale=true" : ""))
            return [(.milliseconds(5), response)]
        }
        let answer = script.count > 1 ? script.removeFirst() : script[0]
        switch answer {
        case .silence: return []
        case .status(let code, let headers):
            var response = request.response(code, toTag: "r")
            for (name, value) in headers { response.headers.append(name, value) }
            return [(.milliseconds(5), response)]
        case .accept(let granted):
            for contact in request.contacts {
                bindings.removeAll { $0 == contact.uri }
                if contact.expires != 0 { bindings.append(contact.uri) }
            }
            var response = request.response(200, toTag: "r")
            for contact in request.contacts where contact.expires != 0 {
                var contact = contact
                contact.parameters["expires"] = granted.map { String($0) }
                for (name, value) in contactParameters { contact.parameters[name] = value }
                response.headers.append(.contact, contact.description)
            }
            for (name, value) in headers { response.headers.append(name, value) }
            return [(.milliseconds(5), response)]
        case .acceptWithoutContact: return [(.milliseconds(5), request.response(200, toTag: "r"))]
        }
    }
}
