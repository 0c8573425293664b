internal import Configuration
package import EventLoop
internal import Glibc
internal import Primitives

/// What is kept over a restart (`state-directory`): the last good configuration, the provisioned file, the device's
/// identity and the door's lock-outs. Without a folder that can be written the appliance works, and forgets.
package struct StateFolder: Sendable {
    package let path: String
    /// Why nothing can be kept; nil: it can.
    package let problem: SystemError?

    /// Makes the folder (0750) if it is missing.
    package init(path: String) {
        self.path = path
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: true) {
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            mkdir(made, 0o750)
        }
        problem = access(path, W_OK | X_OK) == 0 ? nil : SystemError.last(path, "write")
    }

    package enum File: String, Sendable {
        case lastGood = "last-good.ini"
        case provisioned = "provisioned.ini"
        case provisionedTag = "provisioned.etag"
        case identity = "identity.json"
        case lockOut = "lock-out.json"
        case lastTime = "last-time"
        case codeUses = "code-uses.json"
    }

    /// The content of a file; nil if it is not there.
    package func read(_ file: File) -> [UInt8]? { try? SmallFile.read(path + "/" + file.rawValue) }

    /// Replaces a file whole (0600: it may hold passwords). Blocks until it is on the disk.
    package func replace(_ file: File, _ octets: [UInt8]) throws(SystemError) {
        if let problem { throw problem }
        try AtomicFile.replace(path + "/" + file.rawValue, octets, mode: 0o600)
    }

    /// A provisioned file of this content, by the name that it has here.
    func provisioned(_ octets: [UInt8]) -> ConfigurationFile {
        ConfigurationFile(name: path + "/" + File.provisioned.rawValue, octets: octets, isProvisioned: true)
    }

    package func remove(_ file: File) { unlink(path + "/" + file.rawValue) }
}
