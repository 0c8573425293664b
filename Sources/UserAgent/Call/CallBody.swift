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
        guard let format = request.contentType.flatMap({ DTMFInfo.Format(contentType: $0.name) }) else {
            self = .unsupported
            return
        }
        guard let signal = DTMFInfo.signal(in: request.body, format: format) else {
            self = .malformed
            return
        }
        self = signal.character.map { .digit($0) } ?? .nothing
    }
}
