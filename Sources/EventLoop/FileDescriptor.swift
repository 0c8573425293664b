import Glibc

/// Owns a descriptor and closes it at its end.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32

    /// Takes over an open descriptor.
    package init(owning number: Int32) { self.number = number }

    /// Takes over the result of a call that opens a descriptor.
    /// - Throws: the thread's error number if the result is negative.
    package init(_ number: Int32, _ subject: String, _ action: String) throws(SystemError) {
        if number < 0 { throw .last(subject, action) }
        self.number = number
    }

    /// Gives the descriptor away: the caller closes it.
    package consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    deinit { close(number) }
}
