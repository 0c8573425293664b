/// A key in the body of an INFO request: `application/dtmf-relay` and `application/dtmf`, which no RFC describes.
package enum DTMFInfo {
    /// Octets of a body, more than which are not read.
    package static let sizeLimit = 512

    /// Which kind of body it is.
    package enum Format: Hashable, Sendable {
        /// `Signal=5` and `Duration=160` lines.
        case relay
        /// The digit alone.
        case plain

        /// From a Content-Type value, its parameters aside, in any case; nil for any other type.
        package init?(contentType: String) {
            let type = contentType.utf8.prefix { $0 != 0x3B && $0 != 0x20 && $0 != 0x09 }.map(\.lowercased)
            if type.elementsEqual("application/dtmf-relay".utf8) {
                self = .relay
            } else if type.elementsEqual("application/dtmf".utf8) {
                self = .plain
            } else {
                return nil
            }
        }

        package var contentType: String { self == .relay ? "application/dtmf-relay" : "application/dtmf" }
    }

    /// The key; nil if there is not exactly one, to be answered with 400. Of several `Signal` lines the first counts.
    package static func signal(in body: [UInt8], format: Format) -> DTMFSignal? {
        guard body.count <= sizeLimit else { return nil }
        if format == .plain { return signal(of: trimmed(body[...])) }
        for line in body.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            guard let equals = line.firstIndex(of: 0x3D),
                trimmed(line[..<equals]).map(\.lowercased).elementsEqual("signal".utf8)
            else { continue }
            return signal(of: trimmed(line[(equals + 1)...]))
        }
        return nil
    }

    /// A body for sending; nil for flash as plain text, which has no form. `duration` in milliseconds.
    package static func body(_ signal: DTMFSignal, milliseconds: Int, format: Format) -> [UInt8]? {
        guard let character = signal.character else {
            return format == .relay ? Array("Signal=hf\r\nDuration=\(milliseconds)\r\n".utf8) : nil
        }
        guard format == .relay else { return [character] }
        return Array("Signal=".utf8) + [character] + Array("\r\nDuration=\(milliseconds)\r\n".utf8)
    }

    /// A character, an event number (10 `*`, 11 `#`, 12–15 `A`–`D`, 16 flash), or `hf`, `flash`, `!`.
    private static func signal(of word: ArraySlice<UInt8>) -> DTMFSignal? {
        guard let first = word.first else { return nil }
        if word.count == 1 { return first == 0x21 ? .flash : DTMFSignal(character: first) }
        let lower = word.map(\.lowercased)
        if lower.elementsEqual("hf".utf8) || lower.elementsEqual("flash".utf8) { return .flash }
        guard word.count == 2, first == 0x31, let second = word.last, second.isDigit else { return nil }
        return DTMFSignal(event: 10 + second - 0x30)
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (octet: UInt8) in octet == 0x20 || octet == 0x09 || octet == 0x0D || octet == 0x0A }
        var slice = text.drop(while: isSpace)
        while let last = slice.last, isSpace(last) { slice.removeLast() }
        return slice
    }
}
