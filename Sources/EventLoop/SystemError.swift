import CLinux
import Glibc

/// A call to the kernel or a C library that failed, with the thing that it was about.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    /// What the operator knows: a path, an address, a line; empty if there is no such thing.
    package var subject: String
    /// What was tried: `open`, `bind`.
    package var action: String
    /// The kernel's error number.
    package var number: Int32

    package init(_ subject: String, _ action: String, number: Int32) {
        self.subject = subject
        self.action = action
        self.number = number
    }

    /// With the thread's `errno`: to be made straight after the call that failed.
    package static func last(_ subject: String, _ action: String) -> SystemError {
        SystemError(subject, action, number: errno)
    }

    /// `/etc/portero/portero.ini: open: Permission denied`
    package var description: String {
        (subject.isEmpty ? "" : subject + ": ") + action + ": " + Self.text(number)
    }

    /// The C library's words for an error number.
    package static func text(_ number: Int32) -> String { String(cString: portero_error_text(number)) }
}
