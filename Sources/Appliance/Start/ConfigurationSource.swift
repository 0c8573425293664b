package import Configuration
internal import EventLoop
internal import Glibc

/// Where the operator's configuration lies: a file, the drop-ins beside it, and what provisioning brought.
package struct ConfigurationSource: Equatable, Sendable {
    /// `/etc/portero/portero.ini`
    package static let defaultPath = "/etc/portero/portero.ini"

    package var path: String
    /// The provisioned file; nil: there is none.
    package var provisioned: ConfigurationFile?

    package init(path: String, provisioned: ConfigurationFile? = nil) {
        self.path = path
        self.provisioned = provisioned
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.path == right.path && left.provisioned?.octets == right.provisioned?.octets
    }

    /// The file and its drop-ins in the order of reading: the file's own name with `.d` for `.ini`, in name order.
    package func load() throws(UnreadableFile) -> [ConfigurationFile] {
        var files = [try Self.read(path)]
        let folder = (path.hasSuffix(".ini") ? String(path.dropLast(4)) : path) + ".d"
        for name in try Self.names(in: folder) where name.hasSuffix(".ini") && !name.hasPrefix(".") {
            files.append(try Self.read(folder + "/" + name))
        }
        if let provisioned { files.append(provisioned) }
        return files
    }

    /// A folder that is not there has no drop-ins; one that cannot be read may have some that matter.
    private static func names(in folder: String) throws(UnreadableFile) -> [String] {
        do throws(SystemError) {
            return try FolderListing.read(folder)
        } catch {
            if error.number == ENOENT { return [] }
            throw UnreadableFile(path: folder, reason: SystemError.text(error.number))
        }
    }

    private static func read(_ path: String) throws(UnreadableFile) -> ConfigurationFile {
        do throws(SystemError) {
            return ConfigurationFile(name: path, octets: try SmallFile.read(path))
        } catch {
            throw UnreadableFile(path: path, reason: SystemError.text(error.number))
        }
    }
}

/// A file of the configuration that is missing or cannot be read; written like any other fault.
package struct UnreadableFile: Error, Equatable, CustomStringConvertible {
    package var path: String
    package var reason: String
    package var description: String { "\(path):1: \(reason)" }
}

/// The names in a folder.
enum FolderListing {
    /// In name order; none if the folder cannot be read.
    static func names(in folder: String) -> [String] { (try? read(folder)) ?? [] }

    /// In name order.
    static func read(_ folder: String) throws(SystemError) -> [String] {
        guard let stream = opendir(folder) else { throw .last(folder, "open") }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
