import API
import Configuration
import EventLoop
import Exchange
import Glibc
import Primitives
import SIP

/// `portero demo`: the whole appliance on loopback with a simulated panel, an exchange and a phone that answers.
///
/// Each step is told when it was observed, from outside of the appliance where there is an outside: in the exchange's
/// bindings, at the phone, on the simulated wires, in the recording of the loudspeaker.
package final class Demo {
    /// A step that was not observed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How long a step may take that waits for nothing but the machine.
    static let patience = Duration.seconds(20)
    /// How long the phone rings, so that the light is seen.
    static let ringing = Duration.seconds(3)
    /// The door's microphone and the phone's voice, hertz.
    static let doorTone = 440.0
    static let phoneTone = 1000.0
    /// A tone of a quarter of full scale came through if more than this arrives, about -20 dB.
    static let audible = 0.1
    /// The two accounts, and the addresses before and after the change.
    static let accounts = ["frontdoor", "garden"]
    static let addresses = (first: IPAddress.v4(0x7F00_0002), second: IPAddress.v4(0x7F00_0003))

    let loop: EventLoop
    let write: (String) -> Void
    let start: Instant
    let folder: TemporaryFolder
    let address = DemoAddress(addresses.first)
    let exchange: DemoExchange
    let appliance: Appliance

    var recording: DemoRecording
    var phoneEvents: [Phone.Event] = []
    var hearing: Hearing?
    var events: [JSON] = []
    /// How often the light went on or off since the last step that counts it.
    var lightChanges = 0
    var steps = 0
    /// The end has come that was asked for; any other is an interruption.
    var isLeaving = false
    /// Waits between the steps for a reader.
    let pauses: Bool

    /// Runs the demo.
    /// - Parameters:
    ///   - stays: go on after the steps, until interrupted.
    ///   - pauses: take the time that a reader needs.
    ///   - write: takes the transcript, a line with its end at a time.
    /// - Returns: whether each step was observed.
    package static func run(stays: Bool, pauses: Bool = true, _ write: @escaping (String) -> Void) -> Bool {
        Signal.blockAll()
        do {
            let demo = try Demo(pauses: pauses, write)
            do throws(Failure) {
                try demo.perform(stays: stays)
                return true
            } catch {
                demo.say("✗ \(error)")
                demo.abandon()
                return false
            }
        } catch {
            write("✗ the demo did not start: \(error)\n")
            return false
        }
    }

    private init(pauses: Bool, _ write: @escaping (String) -> Void) throws {
        self.write = write
        self.pauses = pauses
        loop = try EventLoop()
        start = loop.now
        folder = try TemporaryFolder()
        recording = DemoRecording(path: folder.path + "/speaker.wav")
        var random = Randomness.system
        let users = (Self.accounts + ["kitchen"]).map { User(name: $0, password: random.token(bits: 96)) }
        exchange = try DemoExchange(on: loop, users: users, phone: users[Self.accounts.count]) {
            $0.displayName = "Kitchen"
            $0.answersAfter = Self.ringing
            $0.tone = Self.phoneTone
            $0.listensFor = [Self.doorTone, Self.phoneTone]
        }
        let path = folder.path + "/portero.ini"
        let text = Self.configuration(folder: folder.path, exchange: exchange, users: users)
        try AtomicFile.replace(path, Array(text.utf8), mode: 0o600)
        let source = ConfigurationSource(path: path)
        let reading = Configuration.read(files: try source.load())
        guard let configuration = reading.configuration else {
            throw Failure(description: reading.faults.map(\.description).joined(separator: "\n"))
        }
        let told = Told()
        var options = Appliance.Options()
        options.localAddress = address.source
        options.isService = false
        options.log = .lines { told.log($0) }
        options.observer = { told.event($0) }
        appliance = try Appliance(
            loop: loop, source: source, configuration: configuration, state: .current, options: options)
        told.log = { [weak self] in self?.say("  log: \($0)") }
        told.event = { [weak self] in self?.happened($0) }
        exchange.phoneTold = { [weak self] in self?.happened($0) }
        appliance.panel?.lines.simulation.changed = { [weak self] name, _, _ in
            if name == "status" { self?.lightChanges += 1 }
        }
    }

    /// Where the appliance's words go, which begin before the demo is whole.
    private final class Told {
        var log: (String) -> Void = { _ in }
        var event: (String) -> Void = { _ in }
    }
}
