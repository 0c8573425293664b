import Glibc

/// Secrets that systemd hands over (`LoadCredential=`) in the folder `$CREDENTIALS_DIRECTORY`.
package struct Credentials: Sendable {
    /// Nil when the service has none.
    package let directory: String?

    package init(directory: String?) { self.directory = directory }

    /// Those of this process.
    package static var ofProcess: Credentials {
        Credentials(directory: getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) })
    }

    /// The octets of a credential without one line end at their end.
    /// - Throws: `ENOENT` where there is no such credential or no folder, `EINVAL` for a name that is a path, and
    ///   what reading gives.
    package func read(_ name: String) throws(SystemError) -> [UInt8] {
        let subject = "credential \(name)"
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(0x2F), !name.utf8.contains(0) else {
            throw SystemError(subject, "read", number: EINVAL)
        }
        guard let directory else { throw SystemError(subject, "read", number: ENOENT) }
        do throws(SystemError) {
            return Self.withoutLineEnd(try SmallFile.read(directory + "/" + name))
        } catch {
            throw SystemError(subject, error.action, number: error.number)
        }
    }

    /// A password file's octets without one LF or CR LF at their end.
    package static func withoutLineEnd(_ octets: [UInt8]) -> [UInt8] {
        var octets = octets
        if octets.last == 0x0A {
            octets.removeLast()
            if octets.last == 0x0D { octets.removeLast() }
        }
        return octets
    }
}
