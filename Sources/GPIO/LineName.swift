/// Which line the operator means (`line =`, `relay =`).
package enum LineName: Hashable, Sendable, CustomStringConvertible {
    /// The name that the board gives the line.
    case named(String)
    /// A chip by its label, and the line's number on it.
    case chip(String, offset: UInt32)
    /// A line that needs no hardware.
    case simulated(String)

    /// Reads `BELL`, `CHIP:OFFSET` or `sim:NAME`; nil for an empty name.
    package init?(_ text: some StringProtocol) {
        let text = String(text)
        if text.hasPrefix("sim:") {
            let name = text.dropFirst(4)
            if name.isEmpty { return nil }
            self = .simulated(String(name))
        } else if let colon = text.lastIndex(of: ":"), colon != text.startIndex,
            let offset = UInt32(text[text.index(after: colon)...])
        {
            self = .chip(String(text[..<colon]), offset: offset)
        } else if text.isEmpty {
            return nil
        } else {
            self = .named(text)
        }
    }

    package var description: String {
        switch self {
        case .named(let name): name
        case .chip(let label, let offset): "\(label):\(offset)"
        case .simulated(let name): "sim:\(name)"
        }
    }
}

/// What pulls an input that nothing drives.
package enum Bias: String, Sendable {
    case asIs = "as-is"
    case disabled
    case pullUp = "pull-up"
    case pullDown = "pull-down"
}

/// Why a line is of no use at present. It is looked for again by itself.
package enum LineFault: Error, Hashable, Sendable, CustomStringConvertible {
    case notFound
    /// Lines of this name on several chips, named by their labels.
    case ambiguous([String])
    /// Another program has it; its name where the kernel tells.
    case busy(consumer: String)
    /// Its chip was taken away.
    case gone
    /// Chips that may not be opened, and the kernel's word.
    case notPermitted(String)
    case other(String)

    package var description: String {
        switch self {
        case .notFound: "there is no such line"
        case .ambiguous(let labels): "several chips have a line of this name (\(labels.joined(separator: ", ")))"
        case .busy(let consumer): consumer.isEmpty ? "it is in use" : "it is in use by \(consumer)"
        case .gone: "its chip is gone"
        case .notPermitted(let path): "\(path) may not be opened"
        case .other(let text): text
        }
    }
}
