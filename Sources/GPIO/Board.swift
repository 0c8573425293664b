import CGPIO
import CLinux
package import EventLoop
import Glibc

/// One line of a chip, as it was when it was listed (`portero probe`).
package struct LineDescription: Hashable, Sendable {
    /// `/dev/gpiochip0`; changes from start to start.
    package var path: String
    package var label: String
    package var offset: UInt32
    /// Empty if the board gives none.
    package var name: String
    package var isUsed: Bool
    /// The program that uses it; empty if the kernel does not tell.
    package var consumer: String
    package var isOutput: Bool

    package init(
        path: String, label: String, offset: UInt32, name: String, isUsed: Bool = false, consumer: String = "",
        isOutput: Bool = false
    ) {
        self.path = path
        self.label = label
        self.offset = offset
        self.name = name
        self.isUsed = isUsed
        self.consumer = consumer
        self.isOutput = isOutput
    }
}

/// The chips and lines of this board at one time.
package struct Board: Sendable {
    package var lines: [LineDescription] = []
    /// Chips that could not be opened, and why: by path.
    package var refused: [String: SystemError] = [:]

    package init() {}

    /// Asks the kernel, without taking any line.
    package static func current() -> Board {
        final class Entries { var board = Board() }
        let entries = Entries()
        portero_gpio_list(
            { context, line in
                guard let context, let line = line?.pointee else { return }
                let description = LineDescription(
                    path: text(line.path), label: text(line.label), offset: line.offset, name: text(line.name),
                    isUsed: line.is_used != 0, consumer: text(line.consumer), isOutput: line.is_output != 0)
                Unmanaged<Entries>.fromOpaque(context).takeUnretainedValue().board.lines.append(description)
            },
            { context, path, number in
                guard let context, let path else { return }
                let device = String(cString: path)
                Unmanaged<Entries>.fromOpaque(context).takeUnretainedValue().board
                    .refused[device] = SystemError(device, "open", number: number)
            }, Unmanaged.passUnretained(entries).toOpaque())
        return entries.board
    }

    /// libgpiod's version.
    package static var libraryVersion: String { String(cString: portero_gpio_version()) }

    /// The one line that the name means.
    package func find(_ name: LineName) throws(LineFault) -> LineDescription {
        let found = lines.filter { line in
            switch name {
            case .named(let name): line.name == name
            case .chip(let label, let offset): line.label == label && line.offset == offset
            case .simulated: false
            }
        }
        if found.count > 1 { throw .ambiguous(found.map(\.label)) }
        if let line = found.first { return line }
        if let path = refused.filter({ $0.value.number == EACCES || $0.value.number == EPERM }).keys.min() {
            throw .notPermitted(path)
        }
        throw .notFound
    }
}

/// The text of a fixed C array.
private func text(_ octets: some Any) -> String {
    withUnsafeBytes(of: octets) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
