import CCurl
import CLinux
package import EventLoop
import Primitives

/// Fetches small documents: `https:`, `http:` to the loopback alone, and `file:` (SEC10). On the loop; files on the
/// helper thread.
package final class HTTPClient {
    package struct Request: Sendable {
        package var url: String
        /// The tag of what is there already.
        package var etag: String?
        /// File of the only trusted authorities; nil: the system's.
        package var authorities: String?
        /// Octets of the document.
        package var limit = 1 << 20
        package var timeLimit: Duration = .seconds(60)

        package init(url: String) { self.url = url }
    }

    package enum Answer: Equatable, Sendable {
        case document([UInt8], etag: String?)
        /// What is there already is what it is.
        case notModified
        /// Why, in words; never with the URL, which may hold a password.
        case failed(String)
    }

    /// libcurl's version.
    package static var libraryVersion: String { String(cString: portero_http_version()) }

    private let loop: EventLoop
    private let helper: HelperThread
    private let userAgent: String
    private var http: OpaquePointer?
    private var waiting: [UInt64: (Answer) -> Void] = [:]
    private var last: UInt64 = 0
    private var watches: [Int32: Watch] = [:]
    private var timer: LoopTimer?

    package init(on loop: EventLoop, helper: HelperThread, userAgent: String) throws(SystemError) {
        self.loop = loop
        self.helper = helper
        self.userAgent = userAgent
        timer = try loop.timer { [unowned self] in portero_http_process(http, -1, 0, 0) }
        var callbacks = portero_http_callbacks()
        callbacks.context = Unmanaged.passUnretained(self).toOpaque()
        callbacks.watch = { context, descriptor, readable, writable in
            HTTPClient.from(context)?.watch(descriptor, readable != 0, writable != 0)
        }
        callbacks.timer = { context, milliseconds in HTTPClient.from(context)?.setTimer(milliseconds) }
        callbacks.finished = { context, number, result in
            guard let result = result?.pointee else { return }
            HTTPClient.from(context)?.finish(number, HTTPClient.answer(result))
        }
        http = portero_http_create(&callbacks)
        if http == nil { throw SystemError("http client", "create", number: ENOMEM) }
    }

    deinit {
        watches = [:]
        portero_http_destroy(http)
    }

    /// Fetches; the answer comes in a later turn, exactly once unless this object goes before.
    package func get(_ request: Request, then answer: @escaping (Answer) -> Void) {
        switch Self.place(of: request.url) {
        case .refused(let why): loop.nextTurn { answer(.failed(why)) }
        case .file(let path):
            let limit = request.limit
            helper.run({ Self.read(path, limit) }, then: answer)
        case .web(let isEncrypted):
            last += 1
            let number = last
            waiting[number] = answer
            if let failure = begin(number, request, isEncrypted) {
                loop.nextTurn { [weak self] in self?.finish(number, .failed(failure)) }
            }
        }
    }

    private func begin(_ number: UInt64, _ request: Request, _ isEncrypted: Bool) -> String? {
        // The C side copies what it is given.
        withCString(request.etag) { etag in
            withCString(request.authorities) { authorities in
                request.url.withCString { url in
                    userAgent.withCString { userAgent in
                        var native = portero_http_request(
                            url: url, is_encrypted: isEncrypted ? 1 : 0, etag: etag, authorities: authorities,
                            user_agent: userAgent, limit: request.limit,
                            time_limit: Int(request.timeLimit.inMilliseconds))
                        return portero_http_get(http, number, &native).map { String(cString: $0) }
                    }
                }
            }
        }
    }

    private func finish(_ number: UInt64, _ answer: Answer) {
        guard let handler = waiting.removeValue(forKey: number) else { return }
        loop.nextTurn { handler(answer) }
    }

    private func watch(_ descriptor: Int32, _ readable: Bool, _ writable: Bool) {
        // libcurl may have closed a descriptor and opened another of the same number: never change, always anew. What is
        // called back for comes from the watch's own handler, where it would outlive its place in the table.
        watches.removeValue(forKey: descriptor)?.end()
        guard readable || writable else { return }
        var events: Events = []
        if readable { events.insert(.readable) }
        if writable { events.insert(.writable) }
        watches[descriptor] = try? loop.watch(descriptor, events) { [unowned self] ready in
            let isReadable = !ready.isDisjoint(with: [.readable, .failed, .hungUp])
            portero_http_process(http, descriptor, isReadable ? 1 : 0, ready.contains(.writable) ? 1 : 0)
        }
    }

    private func setTimer(_ milliseconds: Int) {
        timer?.set(deadline: milliseconds < 0 ? nil : loop.now + .milliseconds(milliseconds))
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPClient? {
        context.map { Unmanaged<HTTPClient>.fromOpaque($0).takeUnretainedValue() }
    }
}

// MARK: - What is asked and what is answered

extension HTTPClient {
    enum Place: Equatable {
        case web(isEncrypted: Bool)
        case file(String)
        case refused(String)
    }

    /// Which way a URL goes.
    static func place(of url: String) -> Place {
        guard let colon = url.utf8.firstIndex(of: 0x3A) else { return .refused("no URL") }
        let scheme = url[..<colon].lowercased()
        let rest = url[url.index(after: colon)...]
        guard rest.hasPrefix("//"), url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return .refused("no URL") }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest.dropFirst(2 + authority.count)
        switch scheme {
        case "https": return authority.isEmpty ? .refused("no host in the URL") : .web(isEncrypted: true)
        case "http":
            return isLoopback(authority)
                ? .web(isEncrypted: false) : .refused("http is for this machine alone: use https")
        case "file":
            guard authority.isEmpty || authority == "localhost", let path = unescaped(path), path.hasPrefix("/") else {
                return .refused("no path in the URL")
            }
            return .file(path)
        default: return .refused("only https, file, and http to this machine")
        }
    }

    private static func isLoopback(_ authority: Substring) -> Bool {
        let place = authority.utf8.lastIndex(of: 0x40).map { authority[authority.index(after: $0)...] } ?? authority
        var host = place
        if place.hasPrefix("[") {
            guard let end = place.utf8.firstIndex(of: 0x5D) else { return false }
            host = place[...end]
        } else if let colon = place.utf8.firstIndex(of: 0x3A) {
            host = place[..<colon]
        }
        return host.lowercased() == "localhost" || IPAddress(host)?.isLoopback ?? false
    }

    /// Percent-escapes decoded; nil if one is malformed or gives a zero octet.
    private static func unescaped(_ text: Substring) -> String? {
        var octets: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            guard octet == 0x25 else {
                octets.append(octet)
                continue
            }
            guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue, high | low != 0 else {
                return nil
            }
            octets.append(high << 4 | low)
        }
        return String(validating: octets, as: UTF8.self)
    }

    private static func read(_ path: String, _ limit: Int) -> Answer {
        do throws(SystemError) {
            return .document(try SmallFile.read(path, limit: limit), etag: nil)
        } catch {
            return .failed(error.number == EFBIG ? "too large" : error.description)
        }
    }

    private static func answer(_ result: portero_http_result) -> Answer {
        if let failure = result.failure { return .failed(String(cString: failure)) }
        switch result.status {
        case 200:
            let body = Array(UnsafeBufferPointer(start: result.body, count: result.count))
            return .document(body, etag: result.etag.map { String(cString: $0) })
        case 304: return .notModified
        default: return .failed("the server answered \(result.status)")
        }
    }
}

private func withCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString { body($0) }
}
