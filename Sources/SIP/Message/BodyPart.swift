import Primitives

/// A body, or a part of a multipart one (RFC 5621, RFC 2046 §5.1).
package struct BodyPart: Hashable, Sendable {
    /// Nil if there is no Content-Type, or a malformed one.
    package var contentType: MediaType?
    /// As the headers say: `session`, `render` …; `handling=optional` among its parameters.
    package var disposition: ParameterizedToken?
    /// Content-Encoding in lower case, without `identity`.
    package var encodings: [String]
    package var octets: [UInt8]

    /// How deep multipart bodies may be nested (SEC3).
    package static let maximumDepth = 3
    /// Parts in all (SEC3).
    package static let maximumCount = 16

    /// Whether a receiver that does not understand the part may ignore it (RFC 3204 §4, RFC 5621 §8.2).
    package var isOptional: Bool {
        disposition?.parameters["handling"].map { equalIgnoringCase($0, "optional") } ?? false
    }

    init(headers: Headers, octets: [UInt8]) {
        contentType = headers.first(.contentType).flatMap { try? MediaType($0) }
        disposition = headers.first(.contentDisposition).flatMap { try? ParameterizedToken($0) }
        encodings = headers.tokens(.contentEncoding).filter { $0 != "identity" }
        self.octets = octets
    }

    /// Itself, or the parts of a multipart body; throws where they cannot be told apart or are too many.
    func flattened(depth: Int = 0) throws(ParseError) -> [BodyPart] {
        guard let contentType, contentType.name.hasPrefix("multipart/"), encodings.isEmpty else { return [self] }
        guard depth < Self.maximumDepth else { throw ParseError("body is nested too deeply") }
        guard let boundary = contentType.parameters["boundary"], !boundary.isEmpty else {
            throw ParseError("multipart body has no boundary")
        }
        var parts: [BodyPart] = []
        for range in try Self.split(octets, boundary: Array("--\(boundary)".utf8)) {
            parts += try Self.read(octets, range).flattened(depth: depth + 1)
            if parts.count > Self.maximumCount { throw ParseError("body has too many parts") }
        }
        return parts
    }

    /// What lies between the delimiter lines; the line end before a delimiter belongs to it.
    private static func split(_ octets: [UInt8], boundary: [UInt8]) throws(ParseError) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var partStart: Int?
        var lineStart = 0
        while lineStart < octets.count {
            let lineEnd = octets[lineStart...].firstIndex(of: 0x0A) ?? octets.count
            if octets[lineStart..<lineEnd].starts(with: boundary) {
                var rest = octets[(lineStart + boundary.count)..<lineEnd]
                let isClosing = rest.starts(with: [0x2D, 0x2D])
                if isClosing { rest = rest.dropFirst(2) }
                if rest.allSatisfy({ $0.isBlank || $0 == 0x0D }) {
                    if let start = partStart {
                        var end = lineStart - 1
                        if end > start, octets[end - 1] == 0x0D { end -= 1 }
                        ranges.append(start..<max(start, end))
                        if ranges.count > maximumCount { throw ParseError("body has too many parts") }
                    }
                    if isClosing { return ranges }
                    partStart = min(lineEnd + 1, octets.count)
                }
            }
            lineStart = lineEnd + 1
        }
        throw ParseError("multipart body does not end")
    }

    private static func read(_ octets: [UInt8], _ range: Range<Int>) throws(ParseError) -> BodyPart {
        var lines = HeaderLines(octets, range)
        var headers = Headers()
        while let line = try lines.next() { headers.append(line.name, line.text) }
        return BodyPart(headers: headers, octets: Array(octets[lines.position..<range.upperBound]))
    }
}

extension MessageFields {
    /// The body, or the parts of a multipart one, nested ones flattened; none if there is no body. Throws `malformed`
    /// for a multipart body that cannot be taken apart, or beyond the limits of SEC3.
    package func bodyParts() throws(ParseError) -> [BodyPart] {
        body.isEmpty ? [] : try BodyPart(headers: headers, octets: body).flattened()
    }
}
