import Glibc

/// A descriptor that log lines are written to, standard error above all. A reader that stopped reading never stops the
/// loop: what finds no room is counted, and the count written once there is room again.
struct LogStream {
    let descriptor: Int32
    private(set) var lost = 0
    /// `PIPE_BUF`: a pipe that is writable has room for so many octets.
    private static let piece = 4096

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Writes a line, given without its end.
    mutating func write(_ line: String) {
        if lost > 0, put("\(lost) lines were lost: nobody read them") { lost = 0 }
        if lost > 0 || !put(line) { lost += 1 }
    }

    /// False if there was no room for its beginning.
    private func put(_ line: String) -> Bool {
        let octets = Array(line.utf8) + [0x0A]
        var done = 0
        while done < octets.count, hasRoom {
            let written = octets.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress.map { $0 + done }, min(buffer.count - done, Self.piece))
            }
            guard written > 0 else { break }
            done += written
        }
        return done > 0
    }

    private var hasRoom: Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, 0) == 1 && request.revents & Int16(POLLOUT) != 0
    }
}
