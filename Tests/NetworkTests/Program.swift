import EventLoop
import Glibc

/// Other programs. Foundation's `Process` waits on a run loop, which threads of a test's own do not have.
final class Program {
    private let process: pid_t

    /// Starts a program; it ends with this object.
    init(_ path: String, _ arguments: [String], folder: String? = nil) throws {
        let command = (folder.map { ["/usr/bin/env", "-C", $0] } ?? []) + [path] + arguments
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in 0...2 as ClosedRange<Int32> {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var process = pid_t()
        let result = posix_spawn(&process, command[0], &actions, nil, words, environ)
        if result != 0 { throw SystemError(path, "start", number: result) }
        self.process = process
    }

    deinit {
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// Runs a program to its end and returns its wait status, 0 for success.
    static func run(_ path: String, _ arguments: [String], folder: String? = nil) throws -> Int32 {
        let program = try Program(path, arguments, folder: folder)
        var status: Int32 = -1
        waitpid(program.process, &status, 0)
        return status
    }
}
