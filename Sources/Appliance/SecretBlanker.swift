/// A SIP message for the log without what must not reach it (SEC6): credentials, keys, and the digits of an INFO.
func blankedSecrets(of octets: [UInt8]) -> String {
    let text = String(decoding: octets, as: UTF8.self)
    var shown: [Substring] = []
    var isBody = false
    // Digits may be a door's code, whatever the body is wrapped in.
    var hidesBody = text.hasPrefix("INFO ")
    // A header goes on in lines that begin with a blank.
    var hidesHeader = false
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
        let lower = line.lowercased()
        if isBody {
            if hidesBody { continue }
            let isSecret = ["a=crypto:", "a=ice-pwd:", "a=key-mgmt:", "k="].contains { lower.hasPrefix($0) }
            shown.append(isSecret ? line.prefix { $0 != ":" && $0 != "=" } + ": ••••" : line)
        } else if line.isEmpty {
            isBody = true
            shown.append(line)
            if hidesBody { shown.append("••••") }
        } else if line.first == " " || line.first == "\t" {
            if !hidesHeader { shown.append(line) }
        } else {
            hidesHeader = lower.hasPrefix("authorization") || lower.hasPrefix("proxy-authorization")
            if lower.hasPrefix("content-type") || lower.hasPrefix("c:") || lower.hasPrefix("c "),
                lower.contains("dtmf")
            {
                hidesBody = true
            }
            shown.append(hidesHeader ? line.prefix { $0 != ":" } + ": ••••" : line)
        }
    }
    return shown.joined(separator: "\n")
}
