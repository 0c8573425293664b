import CLinux
import Glibc

/// Tells when a file is written, replaced or removed, by inotify on its folder: so a file may come later.
package final class FolderWatch {
    private let descriptor: FileDescriptor
    private let handler: () -> Void
    private var names: [Int32: Set<String>] = [:]
    private var watch: Watch?

    /// - Parameters:
    ///   - files: paths whose folders exist (others are left out). An empty name (`/dev/`) stands for every
    ///     file of the folder.
    ///   - contents: also when a file is closed after it was open for writing; not wanted for devices, which
    ///     everybody opens so.
    package init(
        on loop: EventLoop, files: [String], contents: Bool = true, _ handler: @escaping () -> Void
    ) throws(SystemError) {
        self.handler = handler
        descriptor = try FileDescriptor(
            inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)), files.first ?? "folder", "inotify")
        for file in files {
            guard let slash = file.utf8.lastIndex(of: 0x2F) else { continue }
            let folder = slash == file.startIndex ? "/" : String(file[..<slash])
            let entries = UInt32(IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_ONLYDIR)
            let events = contents ? entries | UInt32(IN_CLOSE_WRITE) : entries
            let number = inotify_add_watch(descriptor.number, folder, events)
            if number >= 0 { names[number, default: []].insert(String(file[file.index(after: slash)...])) }
        }
        watch = try loop.watch(descriptor.number, .readable) { [weak self] _ in self?.read() }
    }

    /// The path itself and what it links to.
    package static func places(of path: String) -> [String] {
        guard let real = realpath(path, nil) else { return [path] }
        defer { free(real) }
        let target = String(cString: real)
        return target == path ? [path] : [path, target]
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor.number, &buffer, buffer.count)
        var index = 0
        var concerns = false
        let header = MemoryLayout<inotify_event>.size
        while index + header <= count {
            let event = buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index, as: inotify_event.self) }
            let end = min(index + header + Int(event.len), count)
            let name = String(decoding: buffer[(index + header)..<end].prefix { $0 != 0 }, as: UTF8.self)
            let overflowed = event.mask & UInt32(IN_Q_OVERFLOW) != 0
            if overflowed || names[event.wd].map({ $0.contains(name) || $0.contains("") }) ?? false { concerns = true }
            index = end
        }
        if concerns { handler() }
    }
}
