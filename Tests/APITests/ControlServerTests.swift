import API
import EventLoop
import Foundation
import Network
import Primitives
import Synchronization
import Testing

/// The server on a loop of this thread, clients on threads of their own.
@Suite struct ControlServerTests {
    let loop: EventLoop
    let path: String

    init() throws {
        loop = try EventLoop()
        path = NSTemporaryDirectory() + "portero-\(UUID().uuidString.prefix(8)).sock"
    }

    /// Turns the loop until `body`, on another thread, is done.
    func whileServing<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let result = Mutex<Result<Value, any Error>?>(nil)
        let wake = try loop.wakeUp {}
        let wakeUp = wake.wakeUp
        let box = Box(result)
        Thread.detachNewThread {
            let value = Result { try body() }
            box.result.withLock { $0 = value }
            wakeUp.signal()
        }
        let end = loop.now + .seconds(30)
        while loop.now < end {
            try loop.turn(atMost: .milliseconds(5))
            if let value = box.result.withLock({ $0 }) { return try value.get() }
        }
        throw ControlClient.Failure.failed("no answer in 30 s")
    }

    final class Box<Value: Sendable>: Sendable {
        let result: Mutex<Result<Value, any Error>?>
        init(_ result: consuming sending Mutex<Result<Value, any Error>?>) { self.result = result }
    }

    func server(_ perform: @escaping (ControlRequest) -> ControlResult) throws -> ControlServer {
        try ControlServer(loop: loop, path: path, missedLine: { "missed \($0)" }, perform: perform)
    }

    @Test func answersRequests() throws {
        let server = try server { request in
            switch request {
            case .status: .done(.members(["a": .integer(1)]))
            case .open(let door): .unknown("no door named \(door)")
            case .dial: .created(.members(["id": .string("c1")]))
            case .reload: .faulty("faults", faults: ["x:1: bad"])
            default: .impossible("not now")
            }
        }
        defer { server.stop() }
        let client = ControlClient(socket: path)
        let answers = try whileServing {
            try [
                client.send("GET", "/v1/status", body: nil), client.send("POST", "/v1/doors/x/open", body: nil),
                client.send("POST", "/v1/calls", body: #"{"target":"x"}"#),
                client.send("POST", "/v1/reload", body: nil),
                client.send("POST", "/v1/calls/-/answer", body: nil), client.send("POST", "/v1/calls", body: "{"),
                client.send("PUT", "/v1/status", body: nil), client.send("GET", "/v2", body: nil),
                client.send("POST", "/v1/calls", body: String(repeating: " ", count: 300_000)),
            ].map { "\($0.status) \(String(decoding: $0.body, as: UTF8.self))" }
        }
        #expect(answers.map { $0.prefix(3) } == ["200", "404", "201", "422", "409", "400", "405", "404", "413"])
        #expect(answers[0] == "200 {\"a\":1}\n")
        #expect(answers[3] == "422 {\"error\":\"faults\",\"faults\":[\"x:1: bad\"]}\n")
    }

    @Test func followersGetEachEvent() throws {
        let server = try server { _ in .done(nil) }
        defer { server.stop() }
        let client = ControlClient(socket: path)
        // An event a turn; the turns begin before the follower is there, and end when it has the last.
        var sent = 0
        loop.afterTurn = {
            sent += 1
            server.publish("{\"n\":\(sent)}")
        }
        let text = try whileServing {
            let text = Collected()
            try client.follow("/v1/events") { octets in
                text.append(octets)
                return text.string.split(separator: "\n\n").count < 50
            }
            return text.string
        }
        let numbers = text.split(separator: "\n\n").compactMap { Int($0.filter(\.isNumber)) }
        #expect(numbers.count >= 50)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 + 1 == $1 })
    }

    /// A request whose answer publishes an event, while somebody follows.
    @Test func aRequestMayPublish() throws {
        var asked = 0
        let box = ServerBox()
        let server = try server { _ in
            asked += 1
            box.server?.publish("{\"asked\":\(asked)}")
            return .done(nil)
        }
        box.server = server
        defer { server.stop() }
        let client = ControlClient(socket: path)
        let text = try whileServing {
            let text = Collected()
            Thread.detachNewThread {
                while !text.hasEnded { _ = try? client.send("POST", "/v1/doors/x/open", body: nil) }
            }
            try client.follow("/v1/events") { octets in
                text.append(octets)
                text.hasEnded = text.string.split(separator: "\n\n").count >= 5
                return !text.hasEnded
            }
            return text.string
        }
        let numbers = text.split(separator: "\n\n").compactMap { Int($0.filter(\.isNumber)) }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 + 1 == $1 })
    }

    final class ServerBox {
        weak var server: ControlServer?
    }

    final class Collected: Sendable {
        private let state = Mutex<(octets: [UInt8], hasEnded: Bool)>(([], false))
        func append(_ part: UnsafeRawBufferPointer) { state.withLock { $0.octets += part } }
        var string: String { state.withLock { String(decoding: $0.octets, as: UTF8.self) } }
        var hasEnded: Bool {
            get { state.withLock { $0.hasEnded } }
            set { state.withLock { $0.hasEnded = newValue } }
        }
    }

    @Test func aSecondApplianceIsRefusedAndADeadSocketReplaced() throws {
        let first = try server { _ in .done(nil) }
        #expect(throws: SystemError.self) { try server { _ in .done(nil) } }
        first.stop()
        // A socket that nobody serves any more, as a crash leaves it.
        #expect(leaveSocket() == 0)
        #expect(FileManager.default.fileExists(atPath: path))
        let second = try server { _ in .done(nil) }
        second.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    private func leaveSocket() -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        return with(path) { bind(socket, $0, $1) }
    }

    private func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// A path that is wrong must not cost the operator a file.
    @Test func aFileThatIsNoSocketStays() throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        #expect(throws: SystemError.self) { try server { _ in .done(nil) } }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    /// Opens connections that say something and are left open or closed, from this thread: the kernel queues them.
    private func connections(_ count: Int, saying text: String) -> [Int32] {
        (0..<count).map { _ in
            let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            #expect(with(path) { connect(socket, $0, $1) } == 0)
            _ = text.withCString { send(socket, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
            return socket
        }
    }

    /// Whoever follows, stops in the middle of a request or vanishes: who asks is answered.
    @Test func aCrowdKeepsNobodyOut() throws {
        let server = try server { _ in .done(nil) }
        defer { server.stop() }
        let client = ControlClient(socket: path)
        let request = "GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n"
        var followers = connections(50, saying: request)
        for _ in 0..<20 { try loop.turn(atMost: .milliseconds(5)) }
        followers += connections(50, saying: request)
        #expect(try whileServing { try client.send("GET", "/v1/status", body: nil).status } == 200)
        for follower in followers { close(follower) }
        #expect(try whileServing { try client.send("GET", "/v1/status", body: nil).status } == 200)
        // Those that have gone are let go with the next event.
        server.publish("{}")
        let again = connections(20, saying: request)
        let halves = connections(20, saying: "POST /v1/calls HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
        #expect(try whileServing { try client.send("GET", "/v1/status", body: nil).status } == 200)
        for socket in again + halves { close(socket) }
    }

    @Test func namesAreDecodedOnce() throws {
        var asked: [ControlRequest] = []
        let server = try server { request in
            asked.append(request)
            return .done(nil)
        }
        defer { server.stop() }
        let client = ControlClient(socket: path)
        for name in ["50%25 ü", "..", "."] {
            let message = ControlRequest.open(door: name).message
            _ = try whileServing { try client.send(message.method, message.path, body: nil) }
        }
        #expect(asked == [.open(door: "50%25 ü"), .open(door: ".."), .open(door: ".")])
    }

    @Test func nobodyThere() {
        #expect(throws: ControlClient.Failure.notRunning) {
            try ControlClient(socket: path).send("GET", "/v1/status", body: nil)
        }
    }
}
