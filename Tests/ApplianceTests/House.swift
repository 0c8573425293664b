import API
import EventLoop
import Foundation
import Network
import Primitives
import Synchronization
import Testing

@testable import Appliance
@testable import Configuration

/// A whole appliance on simulated lines and silent devices, on a loop of the test's own, with a registrar and phone
/// beside it that a test scripts.
final class House {
    let loop: EventLoop
    let pbx: PBX
    /// Of the configuration, the state and the control socket.
    let folder: URL
    private var built: Appliance?
    var appliance: Appliance {
        guard let built else { preconditionFailure("used before it was built") }
        return built
    }
    private(set) var eventLines: [String] = []
    private(set) var log: [String] = []

    var file: URL { folder.appendingPathComponent("portero.ini") }
    var socket: String { folder.appendingPathComponent("s").path }
    var stateFolder: URL { folder.appendingPathComponent("state") }

    /// What every test's file says, after which comes what it adds.
    func text(port: UInt16 = 0, account: String = "", rest: String = "") -> String {
        """
        [device]
        name = House
        socket = \(socket)
        state-directory = \(stateFolder.path)
        [network]
        sip-port = \(port)
        ipv6 = no
        [account house]
        uri = sip:door@127.0.0.1:\(pbx.port)
        password = \(Self.password)
        \(account)
        [audio]
        speaker = silent
        microphone = tone:440
        [ringer]
        device = silent
        [button bell]
        line = sim:bell
        press = dial sip:100@127.0.0.1:\(pbx.port)
        [led status]
        line = sim:status
        idle = off
        registered = on
        unregistered = blink
        [door front]
        relay = sim:relay
        open-time = 1h
        code = \(Self.code)
        \(rest)

        """
    }

    static let password = "geheim-pw-8823"
    static let code = "8823"

    /// - Parameter build: the file's text; nil: `text()`.
    init(_ build: ((House) -> String)? = nil) throws {
        Signal.blockAll()
        loop = try EventLoop()
        pbx = try PBX(on: loop)
        folder = URL(fileURLWithPath: "/tmp/portero-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(build?(self) ?? text())
        let source = ConfigurationSource(path: file.path)
        let reading = Configuration.read(files: try source.load())
        #expect(reading.faults.map(\.description) == [])
        var options = Appliance.Options()
        options.localAddress = LocalAddress { $0.isV6 ? nil : .loopbackV4 }
        options.log = .lines { [unowned self] in log.append($0) }
        options.observer = { [unowned self] in eventLines.append($0) }
        let appliance = try Appliance(
            loop: loop, source: source, configuration: try #require(reading.configuration), state: .current,
            options: options)
        built = appliance
        try appliance.start()
    }

    deinit {
        built?.finish()
        try? FileManager.default.removeItem(at: folder)
    }

    func write(_ text: String) throws { try Data(text.utf8).write(to: file) }

    // MARK: Driving

    struct TimedOut: Error, CustomStringConvertible { let description: String }

    /// Turns the loop until something holds.
    func until(_ what: String, seconds: Int64 = 60, _ holds: () throws -> Bool) throws {
        let end = loop.now + .seconds(seconds)
        while try !holds() {
            guard loop.now < end else { throw TimedOut(description: "\(what)\n\(log.joined(separator: "\n"))") }
            try loop.turn(atMost: .milliseconds(20))
        }
    }

    /// Turns the loop for a while: for what must not happen.
    func run(for time: Duration) throws {
        let end = loop.now + time
        while loop.now < end { try loop.turn(atMost: .milliseconds(20)) }
    }

    struct Answer: Sendable {
        var status: Int
        var body: JSON
    }

    /// Asks over the control socket, as the command line does.
    @discardableResult
    func ask(_ method: String, _ path: String, _ body: String? = nil) throws -> Answer {
        let result = Shared<Result<Answer, any Error>>()
        let client = ControlClient(socket: socket)
        Thread.detachNewThread {
            result.value = Result {
                let (status, octets) = try client.send(method, path, body: body)
                return Answer(status: status, body: (try? JSON.parse(octets)) ?? .null)
            }
        }
        try until("an answer to \(method) \(path)") { result.value != nil }
        return try #require(result.value).get()
    }

    @discardableResult func post(_ path: String, _ body: String? = nil) throws -> Answer {
        try ask("POST", "/v1/" + path, body)
    }

    /// Replaces the file and asks for a reload.
    @discardableResult func reload(_ text: String) throws -> Answer {
        try write(text)
        return try post("reload")
    }

    // MARK: Looking

    var events: [JSON] { eventLines.compactMap { try? JSON.parse(Array($0.utf8)) } }

    func events(_ name: String) -> [JSON] { events.filter { $0["event"] == .string(name) } }

    var status: JSON { appliance.statusDocument }

    var call: JSON? { status["calls"]?.elements.first }

    var faults: [String] { status["faults"]?.elements.compactMap { $0["what"]?.string } ?? [] }

    var accountStates: [String: String] {
        var states: [String: String] = [:]
        for account in status["accounts"]?.elements ?? [] {
            if let name = account["name"]?.string { states[name] = account["state"]?.string }
        }
        return states
    }

    /// The level of a simulated line.
    func level(_ line: String) -> Bool? { appliance.simulation?.level(line) }

    func untilRegistered() throws {
        try until("registered") { accountStates.values.allSatisfy { $0 == "registered" } }
    }

    /// Presses the bell and waits until the phone has answered.
    func untilTalking() throws {
        try post("buttons/bell/press")
        try until("talking") { call?["state"] == .string("talking") }
    }
}

/// A value from another thread.
final class Shared<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)
    var value: Value? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
