import Primitives

extension Form<String> {
    /// A `sip:` or `sips:` URI; with a user if `user` says so. It may stand in angle brackets.
    static func uri(user: Bool) -> Form {
        let what = user ? "a URI such as sip:100@pbx.example.org" : "a SIP URI such as sip:100@pbx.example.org"
        return Form("SIP URI", expected: what, write: { $0 }) { text in
            let text = text.bare
            guard let shape = SIPURIShape(text), shape.user != nil || !user else { return nil }
            return text
        }
    }

    /// `host[:port]` or a `sip:` or `sips:` URI without user; read as the URI.
    static let server = Form(
        "host[:port], or SIP URI without user", expected: "a host such as pbx.example.org:5060", write: { $0 }
    ) { text in
        let bare = text.bare
        let address = IPAddress(bare).flatMap { $0.isV6 ? "sip:[\($0)]" : nil }
        let uri = bare.isSIPURI ? bare : address ?? "sip:\(bare)"
        guard let shape = SIPURIShape(uri), shape.user == nil else { return nil }
        return uri
    }

    /// The user part of a SIP URI.
    static let user = Form("user", expected: "a user such as 100", write: \.enclosed) { text in
        text.bare.isSIPUser ? text.bare : nil
    }

    /// The name of a network interface: 1–15 octets, no blank, no `/`.
    static let interface = Form("interface", expected: "an interface such as eth0", write: { $0 }) { text in
        text.utf8.count <= 15 && text.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "/") } ? text : nil
    }

    /// The path of a Unix socket, which the kernel bounds.
    static let socket = Form("path", expected: "a path of at most 107 octets", write: { $0 }) { text in
        text.utf8.count <= 107 ? text : nil
    }

    /// `https:` or `file:` anywhere, `http:` to loopback; `{mac}` is the one word in braces that is replaced.
    static let provisioningURL = Form(
        "URL: https, file, or http to loopback",
        expected: "an https or file URL, or http to loopback, with no braces but {mac}", write: { $0 }
    ) { text in
        let octets = Array(text.utf8)
        guard octets.count <= 2048, octets.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        var rest = octets[...]
        while let brace = rest.firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }) {
            guard rest[brace...].starts(with: "{mac}".utf8) else { return nil }
            rest = rest[(brace + 5)...]
        }
        if let place = text.suffix(after: "file://") {
            let path = place.suffix(after: "localhost") ?? place
            return path.utf8.first == UInt8(ascii: "/") ? text : nil
        }
        for (scheme, loopbackOnly) in [("https://", false), ("http://", true)] {
            guard let address = text.suffix(after: scheme) else { continue }
            let authority = String(octets: address.utf8.prefix { !"/?#".utf8.contains($0) })
            // A name and password before the host may not pass for the host itself.
            let host = authority.parts(at: UInt8(ascii: "@")).last ?? ""
            guard let shape = SIPURIShape("sip:\(host)"), shape.isBareHost || shape.port != nil else { return nil }
            let isLoopback = shape.host == "localhost" || IPAddress(shape.host)?.isLoopback == true
            return loopbackOnly && !isLoopback ? nil : text
        }
        return nil
    }
}

extension Form<UInt16> {
    static let port = Form("port; 0: any free one", expected: "a port from 0 to 65535") { text in
        text.utf8.allSatisfy(\.isDigit) ? UInt16(text) : nil
    }
}

extension Form<ClosedRange<UInt16>> {
    static let ports = Form(
        "range of ports", expected: "ports such as 16384-16483, an even one and the next at least",
        write: { "\($0.lowerBound)-\($0.upperBound)" }
    ) { text in
        let parts = text.parts(at: UInt8(ascii: "-")).map(\.trimmed)
        guard parts.count == 2, let low = UInt16(parts[0]), let high = UInt16(parts[1]), low > 0, low < high,
            low.isMultiple(of: 2) || high - low > 1
        else { return nil }
        return low...high
    }
}

extension Form<KeyPin> {
    static let keyPin = Form(
        "SHA-256 in base64", expected: "the SHA-256 of a public key in base64, 44 characters", write: \.description
    ) { KeyPin($0) }
}

extension Form<CallerPattern> {
    static let caller = Form(
        "pattern of callers", expected: "a pattern of callers such as sip:2*@pbx.example.org",
        write: \.description.enclosed
    ) { CallerPattern($0.bare) }
}

extension Form<AcceptFrom> {
    static let acceptFrom = Form(
        "registrar, anyone, or list of hosts, networks and patterns of callers",
        write: { value in
            switch value {
            case .registrar: "registrar"
            case .anyone: "anyone"
            case .sources(let sources): sources.map(\.description.enclosed).joined(separator: ", ")
            }
        }
    ) { (text: String) throws(Mismatch) -> AcceptFrom in
        if text == "registrar" { return .registrar }
        if text == "anyone" { return .anyone }
        let source = Form<CallSource>("", expected: "a host, a network or a pattern of callers") { text in
            text == "anyone" ? nil : CallSource(text.bare)
        }
        // The registrar may be named beside the others; it may call in any case.
        let sources = try Form<[CallSource]>.list(source).read(text).filter { $0 != .host("registrar") }
        return sources.isEmpty ? .registrar : .sources(sources)
    }
}

extension Form<CodeFrom> {
    static let codeFrom = Form(
        "any, or list of patterns of callers",
        write: { value in
            switch value {
            case .any: "any"
            case .callers(let patterns): patterns.map(\.description.enclosed).joined(separator: ", ")
            }
        }
    ) { (text: String) throws(Mismatch) -> CodeFrom in
        text == "any" ? .any : .callers(try Form<[CallerPattern]>.list(.caller).read(text))
    }
}

extension Form<ContactUser> {
    static let contactUser = Form("random, account, auth, or a word", expected: "random, account, auth or a user") {
        switch $0 {
        case "random": .random
        case "account": .account
        case "auth": .authUser
        default: $0.isSIPUser ? .fixed($0) : nil
        }
    }
}

extension Form<HeaderField> {
    /// Fields that the stack writes itself, with their compact forms; a second one would break the request.
    private static let owned: Set<String> = [
        "via", "v", "from", "f", "to", "t", "call-id", "i", "cseq", "contact", "m", "content-length", "l",
        "content-type", "c", "content-encoding", "e", "max-forwards", "route", "record-route", "require",
        "proxy-require", "supported", "k", "allow", "authorization", "proxy-authorization",
    ]

    /// `Name: value`; control characters are refused.
    static let header = Form("Name: value", isText: true, write: \.description) {
        (text: String) throws(Mismatch) -> HeaderField in
        let octets = Array(text.utf8)
        guard !octets.contains(where: \.isControl) else { throw Mismatch("the header holds a control character") }
        guard let colon = octets.firstIndex(of: UInt8(ascii: ":")) else {
            throw .expected("a header such as X-Door: front", found: text)
        }
        let name = octets[..<colon].trimmed
        guard !name.isEmpty, octets.count <= 1024,
            name.allSatisfy({ $0.isLetter || $0.isDigit || "-.!%*_+`'~".utf8.contains($0) })
        else { throw .expected("a header such as X-Door: front", found: text) }
        guard !owned.contains(String(octets: name.map(\.lowercased))) else {
            throw Mismatch("the header \(String(octets: name)) is written by the stack itself")
        }
        return HeaderField(name: String(octets: name), value: String(octets: octets[(colon + 1)...].trimmed))
    }
}

extension Form<TransferPermission> {
    static let acceptTransfer = Form(
        "no, yes, or list of patterns of callers",
        write: { value in
            switch value {
            case .nobody: "no"
            case .everybody: "yes"
            case .callers(let patterns): patterns.map(\.description.enclosed).joined(separator: ", ")
            }
        }
    ) { (text: String) throws(Mismatch) -> TransferPermission in
        if let word = try? Form<Bool>.boolean.read(text) { return word ? .everybody : .nobody }
        return .callers(try Form<[CallerPattern]>.list(.caller).read(text))
    }
}
