internal import CLinux
internal import CMicrohttpd
package import EventLoop
internal import Glibc
internal import Primitives

/// The appliance's face to programs: HTTP on the control socket (INTERFACE section 6), on the loop and without a
/// thread of its own.
///
/// The socket's mode (0660, group of the folder) is the authority: who may open it may ask.
package final class ControlServer {
    /// Connections at once; more wait in the listen queue.
    private static let connectionLimit: UInt32 = 64
    /// Octets of a request's body.
    private static let bodyLimit = 256 * 1024
    /// Connections that follow the events; the others stay for requests.
    private static let followerLimit = 32
    /// So often each follower is sent something, or it would not be noticed that one has gone.
    private static let heartbeat: Duration = .seconds(15)
    /// A follower that takes nothing for so long is let go, seconds.
    private static let followerPatience: UInt32 = 600

    /// Answers a request, at once.
    package var perform: (ControlRequest) -> ControlResult
    /// Makes the line that tells a follower how many events it missed.
    package var missedLine: (Int) -> String

    private let path: String
    private let loop: EventLoop
    private var daemon: OpaquePointer?
    private var watch: Watch?
    private var timer: LoopTimer?
    private var heartbeatTimer: LoopTimer?
    private var followers: [ObjectIdentifier: Follower] = [:]

    /// Listens at `path`. A socket that nobody serves any more is replaced; one that is served is an error.
    package init(
        loop: EventLoop, path: String, missedLine: @escaping (Int) -> String,
        perform: @escaping (ControlRequest) -> ControlResult
    ) throws(SystemError) {
        self.loop = loop
        self.path = path
        self.perform = perform
        self.missedLine = missedLine
        let socket = try listenOnUnixSocket(path)
        daemon = portero_http_start(
            socket,
            { context, connection, url, method, _, data, size, state in
                guard let context, let connection, let size, let state else { return .NO }
                let server = Unmanaged<ControlServer>.fromOpaque(context).takeUnretainedValue()
                return server.received(connection, url: url, method: method, data: data, size: size, state: state)
            },
            { _, _, state, _ in
                guard let state, let pending = state.pointee else { return }
                Unmanaged<Pending>.fromOpaque(pending).release()
                state.pointee = nil
            },
            { context, _, _, change in
                // Where all connections were taken, who waits is let in by the next run only.
                guard let context, change.rawValue == PORTERO_HTTP_CLOSED else { return }
                Unmanaged<ControlServer>.fromOpaque(context).takeUnretainedValue().runSoon()
            },
            Unmanaged.passUnretained(self).toOpaque(), Self.connectionLimit, 30)
        guard let daemon else {
            close(socket)
            throw SystemError("control socket \(path)", "serve", number: EINVAL)
        }
        timer = try loop.timer { [weak self] in self?.run() }
        heartbeatTimer = try loop.timer { [weak self] in self?.beat() }
        watch = try loop.watch(portero_http_descriptor(daemon), .readable) { [weak self] _ in self?.run() }
    }

    /// Ends every connection and removes the socket.
    package func stop() {
        guard let daemon else { return }
        self.daemon = nil
        watch = nil
        timer = nil
        heartbeatTimer = nil
        // What waits is sent first, as far as the followers take it.
        MHD_run(daemon)
        for follower in followers.values { follower.end() }
        MHD_run(daemon)
        MHD_stop_daemon(daemon)
        followers = [:]
        unlink(path)
    }

    deinit { stop() }

    /// Sends one event, a line of JSON, to everybody who follows: in the next turn, for a run of the library answers
    /// requests too, and what publishes is in the middle of something.
    package func publish(_ line: String) {
        guard !followers.isEmpty else { return }
        for follower in followers.values { follower.append(line, missedLine) }
        runSoon()
    }

    private func runSoon() {
        if willRun { return }
        willRun = true
        loop.nextTurn { [weak self] in
            self?.willRun = false
            self?.run()
        }
    }

    private func beat() {
        for follower in followers.values { follower.beat() }
        runSoon()
        armHeartbeat()
    }

    private func armHeartbeat() {
        heartbeatTimer?.set(deadline: followers.isEmpty ? nil : loop.now + Self.heartbeat)
    }

    private var willRun = false
    /// The library calls back from within its run: never run it in itself.
    private var isRunning = false
    private var runsAgain = false

    private func run() {
        guard let daemon else { return }
        if isRunning {
            runsAgain = true
            return
        }
        isRunning = true
        repeat {
            runsAgain = false
            MHD_run(daemon)
        } while runsAgain
        isRunning = false
        let wait = portero_http_timeout(daemon)
        timer?.set(deadline: wait < 0 ? nil : loop.now + .milliseconds(max(1, wait)))
    }

    // MARK: One request

    /// A request on its way in.
    private final class Pending {
        var body: [UInt8] = []
        var isTooLarge = false
    }

    private func received(
        _ connection: OpaquePointer, url: UnsafePointer<CChar>?, method: UnsafePointer<CChar>?,
        data: UnsafePointer<CChar>?, size: UnsafeMutablePointer<Int>,
        state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result {
        guard let known = state.pointee else {
            state.pointee = Unmanaged.passRetained(Pending()).toOpaque()
            return .YES
        }
        let pending = Unmanaged<Pending>.fromOpaque(known).takeUnretainedValue()
        if size.pointee > 0 {
            if let data, pending.body.count + size.pointee <= Self.bodyLimit {
                pending.body += UnsafeRawBufferPointer(start: data, count: size.pointee)
            } else {
                pending.isTooLarge = true
            }
            size.pointee = 0
            return .YES
        }
        let path = url.map { String(cString: $0) } ?? ""
        let word = method.map { String(cString: $0) } ?? ""
        if pending.isTooLarge { return respond(connection, 413, .members(["error": .string("body: over 256 KiB")])) }
        if word == "GET", path == "/v1/events" { return follow(connection) }
        let (status, body) = answer(word, path, pending.body)
        return respond(connection, status, body)
    }

    private func answer(_ method: String, _ path: String, _ octets: [UInt8]) -> (Int, JSON?) {
        func refused(_ status: Int, _ text: String) -> (Int, JSON?) { (status, .members(["error": .string(text)])) }
        var body: JSON?
        if !octets.isEmpty {
            do throws(JSONError) {
                body = try JSON.parse(octets)
            } catch {
                return refused(400, "body: \(error)")
            }
        }
        do throws(ControlError) {
            return perform(try ControlRequest(ControlMessage(method, path, body))).form
        } catch {
            switch error {
            case .malformed(let text): return refused(400, text)
            case .noSuchPath: return refused(404, "\(path): no such path")
            case .methodNotAllowed: return refused(405, "\(method): not for this path")
            }
        }
    }

    private func respond(
        _ connection: OpaquePointer, _ status: Int, _ body: JSON?, closing: Bool = false
    ) -> MHD_Result {
        var octets = Array((body?.text ?? "").utf8)
        octets.append(0x0A)
        let response = octets.withUnsafeMutableBytes {
            MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
        }
        guard let response else { return .NO }
        defer { MHD_destroy_response(response) }
        MHD_add_response_header(response, "Content-Type", "application/json")
        if closing { MHD_add_response_header(response, "Connection", "close") }
        return MHD_queue_response(connection, UInt32(status), response)
    }

    // MARK: Followers

    /// One connection that is sent events until it goes.
    private final class Follower {
        weak var server: ControlServer?
        let connection: OpaquePointer
        var feed = EventFeed()
        var isSuspended = false
        var hasEnded = false

        init(_ server: ControlServer, _ connection: OpaquePointer) {
            self.server = server
            self.connection = connection
        }

        func append(_ line: String, _ missedLine: (Int) -> String) {
            feed.append(line, missedLine: missedLine)
            resume()
        }

        func beat() {
            feed.beat()
            resume()
        }

        func end() {
            hasEnded = true
            resume()
        }

        private func resume() {
            guard isSuspended else { return }
            isSuspended = false
            MHD_resume_connection(connection)
        }

        /// Called by the library when it can send; with nothing to send the connection sleeps until there is.
        func read(_ buffer: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
            guard let server, !hasEnded else { return -1 }
            let octets = feed.take(upTo: count, missedLine: server.missedLine)
            guard !octets.isEmpty else {
                isSuspended = true
                MHD_suspend_connection(connection)
                return 0
            }
            octets.withUnsafeBytes { source in
                UnsafeMutableRawBufferPointer(start: buffer, count: count).copyMemory(from: source)
            }
            return octets.count
        }
    }

    private func follow(_ connection: OpaquePointer) -> MHD_Result {
        guard followers.count < Self.followerLimit else {
            let text = "\(Self.followerLimit) programs follow the events already"
            return respond(connection, 503, .members(["error": .string(text)]), closing: true)
        }
        let follower = Follower(self, connection)
        let context = Unmanaged.passRetained(follower).toOpaque()
        let response = MHD_create_response_from_callback(
            PORTERO_HTTP_SIZE_UNKNOWN, 4096,
            { context, _, buffer, count in
                guard let context, let buffer else { return -1 }
                return Unmanaged<Follower>.fromOpaque(context).takeUnretainedValue().read(buffer, count)
            }, context,
            { context in
                guard let context else { return }
                let follower = Unmanaged<Follower>.fromOpaque(context).takeRetainedValue()
                follower.server?.followers[ObjectIdentifier(follower)] = nil
            })
        guard let response else {
            Unmanaged<Follower>.fromOpaque(context).release()
            return .NO
        }
        defer { MHD_destroy_response(response) }
        followers[ObjectIdentifier(follower)] = follower
        if followers.count == 1 { armHeartbeat() }
        portero_http_set_timeout(connection, Self.followerPatience)
        MHD_add_response_header(response, "Content-Type", "text/event-stream")
        MHD_add_response_header(response, "Cache-Control", "no-store")
        return MHD_queue_response(connection, 200, response)
    }
}

/// A listening Unix socket of mode 0660 at `path`.
private func listenOnUnixSocket(_ path: String) throws(SystemError) -> Int32 {
    let what = "control socket \(path)"
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < room else { throw SystemError(what, "name", number: ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
    func open() throws(SystemError) -> Int32 {
        let socket = Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        if socket < 0 { throw SystemError(what, "open", number: errno) }
        return socket
    }
    let probe = try open()
    // A queue that is full is somebody's too.
    let isServed = with { connect(probe, $0, $1) } == 0 || errno == EAGAIN
    close(probe)
    if isServed { throw SystemError(what, "listen: another appliance serves it", number: EADDRINUSE) }
    // Never anything else than a socket that was left behind.
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
    let socket = try open()
    guard with({ bind(socket, $0, $1) }) == 0, chmod(path, 0o660) == 0, listen(socket, SOMAXCONN) == 0 else {
        let number = errno
        close(socket)
        throw SystemError(what, "listen", number: number)
    }
    return socket
}
