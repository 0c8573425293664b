/// Someone who may register and call. Never printed with the password.
package struct User: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// User part of the address of record, and user name of the credentials.
    package var name: String
    package var password: String

    package init(name: String, password: String) {
        self.name = name
        self.password = password
    }

    package var description: String { name }
    package var debugDescription: String { name }
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
