import CLinux
import EventLoop
import Foundation
import Primitives
import Testing

/// A notify socket of the test's own. Serialized: the protocol lives in environment variables.
@Suite(.serialized) struct ServiceTests {
    private final class Supervisor {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("notify-\(UUID().uuidString)").path
        let socket: Int32

        init() throws {
            socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0)
            setenv("NOTIFY_SOCKET", path, 1)
        }

        deinit {
            close(socket)
            unlink(path)
            unsetenv("NOTIFY_SOCKET")
            unsetenv("WATCHDOG_USEC")
            unsetenv("WATCHDOG_PID")
        }

        /// What has come; nil if nothing has.
        func next() -> String? {
            var octets = [UInt8](repeating: 0, count: 1000)
            let count = recv(socket, &octets, octets.count, Int32(MSG_DONTWAIT))
            return count < 0 ? nil : String(decoding: octets[..<count], as: UTF8.self)
        }
    }

    @Test func tellsItsStates() throws {
        let supervisor = try Supervisor()
        let notifier = ServiceNotifier(on: try EventLoop())
        notifier.ready()
        notifier.status("2 of 3 accounts\nregistered")
        notifier.status("2 of 3 accounts\nregistered")
        notifier.reloading()
        notifier.stopping()
        #expect(supervisor.next() == "READY=1")
        #expect(supervisor.next() == "STATUS=2 of 3 accounts registered")
        #expect(supervisor.next()?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
        #expect(supervisor.next() == "STOPPING=1")
        #expect(supervisor.next() == nil)
    }

    @Test func feedsTheWatchdogOnlyWhileTheRestLives() throws {
        let supervisor = try Supervisor()
        setenv("WATCHDOG_USEC", "20000", 1)
        setenv("WATCHDOG_PID", "\(getpid())", 1)
        let loop = try EventLoop()
        let notifier = ServiceNotifier(on: loop)
        var lives = true
        var asked = 0
        try notifier.feedWatchdog {
            asked += 1
            return lives
        }
        #expect(supervisor.next() == "WATCHDOG=1")
        #expect(try loop.turn(until: { asked >= 2 }))
        #expect(supervisor.next() == "WATCHDOG=1")
        lives = false
        while supervisor.next() != nil {}
        let before = asked
        #expect(try loop.turn(until: { asked >= before + 3 }))
        #expect(supervisor.next() == nil)
    }

    @Test func whatIsNoServiceSaysNothing() throws {
        let supervisor = try Supervisor()
        let notifier = ServiceNotifier(on: try EventLoop(), isService: false)
        notifier.ready()
        notifier.status("shown")
        #expect(supervisor.next() == nil)
    }

    @Test func withoutAWatchdogNothingIsFed() throws {
        let supervisor = try Supervisor()
        let notifier = ServiceNotifier(on: try EventLoop())
        try notifier.feedWatchdog { true }
        #expect(ServiceNotifier.watchdogInterval == nil)
        #expect(supervisor.next() == nil)
    }
}
