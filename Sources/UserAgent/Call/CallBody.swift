import Primitives
import SIP

extension MessageFields {
    /// The session description of the message, alone or as a part of a multipart body; nil if there is none.
    var sessionDescription: [UInt8]? {
        guard !body.isEmpty else { return nil }
        guard let type = contentType else { return headers.contains(.contentType) ? nil : body }
        return BodyPart(type: type, content: body[...]).sessionDescription(depth: 0)
    }
}

/// A body, or a part of a multipart body (RFC 2046, RFC 5621).
private struct BodyPart {
    /// Nesting of multiparts, and parts of one (SEC3).
    static let depthLimit = 3
    static let partLimit = 16

    var type: MediaType
    var content: ArraySlice<UInt8>

    func sessionDescription(depth: Int) -> [UInt8]? {
        if type.name == "application/sdp" { return Array(content) }
        guard type.name.utf8.starts(with: "multipart/".utf8), depth < Self.depthLimit else { return nil }
        for part in parts {
            if let description = part.sessionDescription(depth: depth + 1) { return description }
        }
        return nil
    }

    private var parts: [BodyPart] {
        guard let boundary = type.parameters["boundary"], !boundary.isEmpty else { return [] }
        let delimiter = Array("--".utf8) + Array(boundary.utf8)
        var parts: [BodyPart] = []
        var start: Int?
        var index = content.startIndex
        while index < content.endIndex, parts.count < Self.partLimit {
            let end = content[index...].firstIndex(of: 0x0A).map { $0 + 1 } ?? content.endIndex
            let line = content[index..<end]
            if line.starts(with: delimiter) {
                if let start, let part = BodyPart(octets: content[start..<index]) { parts.append(part) }
                start = line.dropFirst(delimiter.count).starts(with: "--".utf8) ? nil : end
            }
            index = end
        }
        return parts
    }

    private init?(octets: ArraySlice<UInt8>) {
        var type: MediaType?
        var index = octets.startIndex
        while index < octets.endIndex {
            let end = octets[index...].firstIndex(of: 0x0A).map { $0 + 1 } ?? octets.endIndex
            let line = octets[index..<end].prefix { $0 != 0x0D && $0 != 0x0A }
            index = end
            if line.isEmpty { break }
            if let colon = line.firstIndex(of: 0x3A), HeaderName(Self.text(line[..<colon])) == .contentType {
                type = try? MediaType(Self.text(line[(colon + 1)...]))
            }
        }
        guard let type else { return nil }
        // The line end before the delimiter belongs to it.
        var content = octets[index...]
        if content.last == 0x0A { content.removeLast() }
        if content.last == 0x0D { content.removeLast() }
        self.type = type
        self.content = content
    }

    init(type: MediaType, content: ArraySlice<UInt8>) {
        self.type = type
        self.content = content
    }

    /// Without blanks at its ends.
    private static func text(_ octets: ArraySlice<UInt8>) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let trimmed = octets.drop(while: isBlank)
        let end = trimmed.lastIndex { !isBlank($0) }
        return String(decoding: end.map { trimmed[...$0] } ?? [], as: UTF8.self)
    }
}

/// What an INFO says about a key of the peer's phone (I3).
enum DigitInfo: Equatable {
    /// `0`–`9`, `*`, `#`, `A`–`D` as ASCII.
    case digit(UInt8)
    /// Understood, but no digit: a hook flash, or no body.
    case nothing
    /// The body is malformed: 400.
    case malformed
    /// The body is of another type: 415.
    case unsupported

    init(_ request: Request) {
        guard !request.body.isEmpty else {
            self = .nothing
            return
        }
        switch request.contentType?.name {
        case "application/dtmf-relay":
            let value = Self.lines(request.body).lazy.compactMap(Self.signal).first
            self = value.map { Self.read($0) } ?? .malformed
        case "application/dtmf": self = Self.read(Self.lines(request.body).first { !$0.isEmpty } ?? [])
        default: self = .unsupported
        }
    }

    private static func lines(_ body: [UInt8]) -> [ArraySlice<UInt8>] {
        body.split(maxSplits: 32, omittingEmptySubsequences: true) { $0 == 0x0D || $0 == 0x0A }
    }

    /// The value of a `Signal=` line, without blanks.
    private static func signal(_ line: ArraySlice<UInt8>) -> [UInt8]? {
        let parts = line.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].filter({ $0 != 0x20 }).map(\.lowercased).elementsEqual("signal".utf8) else {
            return nil
        }
        return Array(parts[1])
    }

    private static func read(_ value: some Sequence<UInt8>) -> DigitInfo {
        let text = value.filter { $0 != 0x20 && $0 != 0x09 }.map(\.lowercased)
        switch text.count {
        case 1:
            switch text[0] {
            case 0x30...0x39, 0x2A, 0x23: return .digit(text[0])
            case 0x61...0x64: return .digit(text[0] - 0x20)
            default: return .malformed
            }
        case 2:
            // Events by the numbers of RFC 4733.
            switch String(decoding: text, as: UTF8.self) {
            case "10": return .digit(0x2A)
            case "11": return .digit(0x23)
            case "12": return .digit(0x41)
            case "13": return .digit(0x42)
            case "14": return .digit(0x43)
            case "15": return .digit(0x44)
            case "16", "hf": return .nothing
            default: return .malformed
            }
        default: return text.elementsEqual("flash".utf8) ? .nothing : .malformed
        }
    }
}
