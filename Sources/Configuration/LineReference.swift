/// A GPIO line as the configuration names it.
package enum LineReference: Hashable, Sendable, CustomStringConvertible {
    /// By the line's own name; a name on two chips is refused when lines are opened.
    case named(String)
    /// By the chip's label and the line's offset on it.
    case chip(String, offset: UInt32)
    /// `sim:NAME`: no hardware, the same path.
    case simulated(String)

    /// As written in the file: `BELL`, `pinctrl-bcm2711:17`, `sim:bell`.
    package var description: String {
        switch self {
        case .named(let name): name
        case .chip(let label, let offset): "\(label):\(offset)"
        case .simulated(let name): "sim:\(name)"
        }
    }

    /// Reads the form of `description`; nil for an empty name or label.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        if let name = text.suffix(after: "sim:") {
            guard !name.isEmpty else { return nil }
            self = .simulated(name)
        } else if let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            let offset = UInt32(text[text.utf8.index(after: colon)...])
        {
            guard colon != text.startIndex else { return nil }
            self = .chip(String(text[..<colon]), offset: offset)
        } else {
            self = .named(text)
        }
    }
}

/// The electrical level that means pressed, lit or energised.
package enum ActiveLevel: String, CaseIterable, Sendable { case low, high }

/// The resistor that the line's own pad switches on.
package enum LineBias: String, CaseIterable, Sendable {
    case pullUp = "pull-up"
    case pullDown = "pull-down"
    case disabled
    /// The pad stays as it was found.
    case asIs = "as-is"
}
