import Dispatch
import EventLoop
import Glibc

import class Foundation.FileManager

/// A network namespace of the test's own: what runs inside sees no other network.
enum Namespace {
    /// Whether this user may make one.
    static let isPossible: Bool = {
        guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: "/sbin/ip") else { return false }
        let result = Box(false)
        let done = DispatchSemaphore(value: 0)
        try? Thread.start("namespace") {
            result.value = enter()
            done.signal()
        }
        done.wait()
        return result.value
    }()

    /// Runs the body on a thread whose network is a fresh namespace, and waits for it.
    static func run(_ body: @escaping @Sendable () throws -> Void) throws {
        let failure = Box<(any Error)?>(nil)
        let done = DispatchSemaphore(value: 0)
        try Thread.start("namespace") {
            do {
                if !enter() { throw SystemError.last("namespace", "unshare") }
                try ip("link set lo up")
                try body()
            } catch {
                failure.value = error
            }
            done.signal()
        }
        done.wait()
        if let error = failure.value { throw error }
    }

    /// Runs `ip` inside.
    static func ip(_ words: String) throws {
        if try Program.run("/sbin/ip", words.split(separator: " ").map { String($0) }) != 0 {
            throw SystemError("ip \(words)", "run", number: EINVAL)
        }
    }

    private static func enter() -> Bool {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = dlsym(nil, "unshare") else { return false }
        let newNetwork: Int32 = 0x4000_0000
        return unsafeBitCast(symbol, to: Unshare.self)(newNetwork) == 0
    }
}

private final class Box<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}
