/// Text that never shows: its description, debug description and reflection are dots.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, for the one place that computes with it. Compare codes in constant time (I5).
    package let revealed: String

    package init(_ text: String) { revealed = text }

    package var description: String { "••••" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where the password of an account comes from.
package enum PasswordSource: Hashable, Sendable {
    /// The text in the configuration file.
    case literal(Secret)
    /// A file whose first line is the password; its path.
    case file(String)
    /// The name of a systemd credential (`LoadCredential=`), a file in `$CREDENTIALS_DIRECTORY`.
    case credential(String)
}
