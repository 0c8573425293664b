/// The text of a log line: literals stand as they are, interpolated values are escaped and cut (SEC6).
package struct LogText: ExpressibleByStringInterpolation, Sendable {
    /// So many octets of a value are shown (SEC6).
    package static let valueLimit = 256

    package let text: String

    package init(stringLiteral value: String) { text = value }
    package init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += LogText.escaped(value.description, limit: LogText.valueLimit)
        }

        package mutating func appendInterpolation(_ error: any Error) {
            text += LogText.escaped("\(error)", limit: LogText.valueLimit)
        }

        /// A whole text of several lines, such as a SIP message without its secrets: line ends stay, other control
        /// characters are escaped, nothing is cut.
        package mutating func appendInterpolation(lines value: String) {
            text += LogText.escaped(value, limit: .max, keepingLines: true)
        }
    }

    /// Control characters and the backslash as `\xNN`, the rest as it is; what is over the limit ends in `…`.
    static func escaped(_ value: String, limit: Int, keepingLines: Bool = false) -> String {
        var text = ""
        var count = 0
        for scalar in value.unicodeScalars {
            count += UTF8.width(scalar)
            if count > limit { return text + "…" }
            if keepingLines, scalar == "\n" {
                text.unicodeScalars.append(scalar)
            } else if keepingLines, scalar == "\r" {
                continue
            } else if scalar.properties.generalCategory == .control || scalar.isLineOrDirectionMark || scalar == "\\" {
                text +=
                    scalar.value < 0x100 ? "\\x" + twoDigits(scalar.value) : "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func twoDigits(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return digits.utf8.count < 2 ? "0" + digits : digits
    }
}

extension UTF8 {
    fileprivate static func width(_ scalar: Unicode.Scalar) -> Int { UTF8.encode(scalar)?.count ?? 3 }
}

extension Unicode.Scalar {
    /// Line and paragraph separators, and marks that turn the direction of what follows.
    fileprivate var isLineOrDirectionMark: Bool {
        (0x2028...0x202E).contains(value) || (0x2066...0x2069).contains(value)
    }
}
