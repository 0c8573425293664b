import CLinux
import Glibc

/// Whole small files.
package enum SmallFile {
    /// A pipe is waited for so long, milliseconds.
    private static let patience: Int32 = 2000

    /// Reads a file, or a pipe to its end, of at most `limit` octets. May block: not for network file systems on the
    /// loop.
    /// - Throws: what failed with the path; `EFBIG` if the file is larger than `limit`, `ETIMEDOUT` if nobody writes
    ///   into a pipe.
    package static func read(_ path: String, limit: Int = 1 << 20) throws(SystemError) -> [UInt8] {
        let file = try FileDescriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), path, "open")
        var octets: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16_384)
        while true {
            var ready = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
            if poll(&ready, 1, patience) == 0 { throw SystemError(path, "read", number: ETIMEDOUT) }
            let count = Glibc.read(file.number, &block, block.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .last(path, "read")
            }
            if count == 0 { return octets }
            guard octets.count + count <= limit else { throw SystemError(path, "read", number: EFBIG) }
            octets += block[..<count]
        }
    }
}

/// What is another one when a file, or the names in a folder, were changed.
package struct FileStamp: Hashable, Sendable, CustomStringConvertible {
    private let values: [Int64]

    /// Nil if there is no such file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        values = [
            Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), Int64(truncatingIfNeeded: status.st_ino),
            Int64(status.st_size),
        ]
    }

    package var description: String { values.map { String($0) }.joined(separator: ".") }
}

/// Replaces files so that a power cut leaves the old or the new content, never a part.
package enum AtomicFile {
    /// Writes beside the file, syncs, renames over it and syncs the folder. Blocks for as long as the disk takes: on
    /// the loop give it to ``HelperThread``.
    package static func replace(_ path: String, _ octets: [UInt8], mode: UInt32 = 0o640) throws(SystemError) {
        let temporary = path + ".new"
        unlink(temporary)
        do throws(SystemError) {
            try write(temporary, octets, mode)
            if rename(temporary, path) != 0 { throw .last(path, "rename") }
        } catch {
            unlink(temporary)
            throw error
        }
        let name = path.utf8.lastIndex(of: 0x2F).map { String(path[..<$0]) } ?? "."
        let folder = name.isEmpty ? "/" : name
        let descriptor = try FileDescriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder, "open")
        if fsync(descriptor.number) != 0 { throw .last(folder, "sync") }
    }

    private static func write(_ path: String, _ octets: [UInt8], _ mode: UInt32) throws(SystemError) {
        let file = try FileDescriptor(
            open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode), path, "create")
        var done = 0
        while done < octets.count {
            let count = octets.withUnsafeBytes { buffer in
                Glibc.write(file.number, buffer.baseAddress.map { $0 + done }, buffer.count - done)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw .last(path, "write")
            }
            done += count
        }
        if fsync(file.number) != 0 { throw .last(path, "sync") }
    }
}
