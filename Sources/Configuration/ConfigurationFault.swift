/// What is wrong, or doubtful, in a configuration, with the place.
package struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file's name as it was handed in.
    package let file: String
    /// From 1.
    package let line: Int
    /// `[button bell]`; nil outside any section.
    package let section: String?
    package let key: String?
    /// Never holds a secret.
    package let message: String

    /// `FILE:LINE: [button bell] debounce: expected a duration such as 20ms, found "fast"`
    package var description: String { "\(file):\(line): \(text)" }

    /// The description of a warning: `FILE:LINE: warning: …`
    package var warningDescription: String { "\(file):\(line): warning: \(text)" }

    private var text: String {
        let place = [section, key].compactMap { $0 }.joined(separator: " ")
        return place.isEmpty ? message : "\(place): \(message)"
    }
}
