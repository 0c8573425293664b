import EventLoop
import Glibc

/// A folder that goes away with its owner, with all that is in it.
final class TemporaryFolder {
    let path: String

    /// Makes it in `$TMPDIR`, else in `/tmp`, for this user alone.
    init() throws(SystemError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/portero-demo-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError.last(parent, "make a folder in it") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    /// Never follows a link out of the folder.
    private static func remove(_ path: String) {
        if unlink(path) == 0 || errno == ENOENT { return }
        for name in FolderListing.names(in: path) { remove(path + "/" + name) }
        rmdir(path)
    }
}
