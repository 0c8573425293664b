import Foundation
import Testing

/// The program itself: words, outputs, exit codes.
@Suite(.serialized) struct CommandLineTests {
    private let folder: URL

    init() throws {
        folder = URL(fileURLWithPath: "/tmp/portero-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    struct Outcome: Equatable {
        var code: Int32
        var output: String
        var error: String
    }

    /// Beside the tests' own program.
    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent("portero")

    private func start(_ words: [String], environment: [String: String] = [:]) throws -> (Process, Pipe, Pipe) {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = words
        process.environment = ["PATH": "/usr/bin:/bin", "PORTERO_SOCKET": path("none")].merging(environment) { $1 }
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        try process.run()
        return (process, output, error)
    }

    private func run(_ words: String..., environment: [String: String] = [:]) throws -> Outcome {
        let (process, output, error) = try start(words, environment: environment)
        let texts = [output, error].map {
            String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
        process.waitUntilExit()
        return Outcome(code: process.terminationStatus, output: texts[0], error: texts[1])
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @discardableResult private func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        return path(name)
    }

    private var settings: String {
        """
        [device]
        socket = \(path("s"))
        state-directory = \(path("state"))
        [network]
        sip-port = 0
        [audio]
        speaker = silent
        microphone = silent
        [door front]
        relay = sim:relay
        [led l]
        line = sim:led
        idle = on

        """
    }

    @Test(arguments: [
        [], ["fly"], ["--fly", "status"], ["press"], ["press", "a", "b"], ["volume", "speaker"],
        ["volume", "speaker", "101"], ["mute", "perhaps"], ["network", "sideways"], ["reject", "--code", "200"],
        ["press", "bell", "--for", "soon"], ["press", "bell", "--for"], ["status", "--for", "1s"],
        ["press", "bell", "--json"], ["status", "--stay"], ["run", "file"], ["check", "a", "b"],
        ["status", "--socket", "a", "--socket", "b"], ["status", "--socket", ""], ["status", "--config="],
        ["open", "front", "--header", "X: y"], ["log"],
    ])
    func wrongWordsEndWithTwo(words: [String]) throws {
        let (process, output, error) = try start(words)
        let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(output.fileHandleForReading.readDataToEndOfFile().isEmpty)
        process.waitUntilExit()
        #expect(process.terminationStatus == 2, "\(words)")
        #expect(text.hasPrefix("portero: "))
        #expect(text.filter { $0 == "\n" }.count == 1)
    }

    @Test func nobodyThereEndsWithThree() throws {
        for words in [["status"], ["open", "front"], ["events"], ["reload"]] {
            let (process, _, error) = try start(words)
            let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 3)
            #expect(text == "portero: no appliance is running at \(path("none"))\n")
        }
        // The socket of the file that is named goes before the environment's; the file's other faults do not matter.
        let file = try write("faulty.ini", "[device]\nsocket = \(path("named"))\n[fly]\n")
        #expect(try run("--config", file, "status").error.contains(path("named")))
        #expect(try run("status", "--config=" + file).error.contains(path("named")))
        #expect(try run("status", "--config", file, "--socket", path("own")).error.contains(path("own")))
    }

    @Test func checkSaysWhatIsWrong() throws {
        let good = try write("good.ini", settings)
        #expect(try run("check", good) == Outcome(code: 0, output: "", error: ""))
        #expect(try run("--config", good, "check") == Outcome(code: 0, output: "", error: ""))
        let warned = try write("warned.ini", settings + "[led m]\nline = sim:m\n")
        #expect(try run("check", warned).code == 0)
        #expect(try run("check", warned).error.hasPrefix(warned + ":14: warning: "))
        let bad = try write("bad.ini", settings + "[led m]\nline = sim:led\nidl = on\n[x]\n")
        let outcome = try run("check", bad)
        #expect(outcome.code == 1)
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.hasPrefix(bad + ":") })
        #expect(outcome.output.contains(":16: ") && outcome.output.contains("idle"))
        let missing = try run("check", path("missing.ini"))
        #expect(missing.code == 1)
        #expect(missing.output.hasPrefix(path("missing.ini") + ":1: "))
        // It touches nothing.
        #expect(!FileManager.default.fileExists(atPath: path("state")))
        #expect(!FileManager.default.fileExists(atPath: path("s")))
    }

    @Test func helpIsGivenWhereverItIsAskedFor() throws {
        let help = try run("help")
        for words in [["--help"], ["-h"], ["status", "--help"], ["--help", "status"]] {
            let (process, output, _) = try start(words)
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(words)")
            #expect(text == help.output, "\(words)")
        }
    }

    @Test func twoDashesEndTheOptions() throws {
        #expect(try run("press", "--", "--json").code == 3)
        #expect(try run("press", "--", "a", "b").code == 2)
    }

    @Test func anEmptyVariableIsNone() throws {
        let outcome = try run("status", environment: ["PORTERO_SOCKET": ""])
        #expect(!outcome.error.contains("running at \n"))
        #expect(try run("status", "--socket", String(repeating: "x", count: 200)).error.contains("too long"))
    }

    /// A drop-in folder that cannot be read may hold what matters.
    @Test func aDropInFolderThatIsNoneIsAFault() throws {
        let file = try write("good.ini", settings)
        try write("good.d", "")
        #expect(try run("check", file) == Outcome(code: 1, output: path("good.d") + ":1: Not a directory\n", error: ""))
    }

    @Test func aPipeIsReadToItsEnd() throws {
        let pipe = path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let (process, output, _) = try start(["check", pipe])
        let writer = try #require(FileHandle(forWritingAtPath: pipe))
        try writer.write(contentsOf: Data("[log]\n".utf8))
        usleep(50_000)
        try writer.write(contentsOf: Data("[x]\n".utf8))
        try writer.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text == pipe + ":2: unknown section [x]\n")
        #expect(try run("check", pipe).output == pipe + ":1: Connection timed out\n", "nobody writes")
    }

    @Test func aFaultyFileAndNoLastGoodOneEndWith78() throws {
        let bad = try write("bad.ini", settings + "[x]\n")
        let outcome = try run("run", "--config", bad)
        #expect(outcome.code == 78)
        #expect(outcome.error.hasPrefix(bad + ":14: unknown section [x]"))
        #expect(try run("run", "--config", path("missing.ini")).code == 78)
        // A last good file that is damaged is none.
        try FileManager.default.createDirectory(atPath: path("state"), withIntermediateDirectories: true)
        try write("state/last-good.ini", "[device]\nnam")
        #expect(try run("run", "--config", bad).code == 78)
    }

    @Test func restNeedsNoAppliance() throws {
        let good = try write("good.ini", settings)
        #expect(try run("rest", "--config", good) == Outcome(code: 0, output: "", error: ""))
        let line = try write("line.ini", settings + "[led n]\nline = NO_SUCH_LINE\n")
        let outcome = try run("rest", "--config", line)
        #expect(outcome.code == 1)
        #expect(outcome.error.hasPrefix("portero: led n: line NO_SUCH_LINE: "))
        #expect(try run("rest", "--config", path("missing.ini")).code == 1)
    }

    /// What it prints opens the door of which the file knows the hash alone.
    @Test func aCodeIsHashedFromStandardInput() throws {
        func hash(_ input: String) throws -> (Int32, String) {
            let process = Process()
            process.executableURL = Self.program
            process.arguments = ["hash-code"]
            let (keyed, output) = (Pipe(), Pipe())
            process.standardInput = keyed
            process.standardOutput = output
            process.standardError = Pipe()
            try process.run()
            keyed.fileHandleForWriting.write(Data(input.utf8))
            try keyed.fileHandleForWriting.close()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, text)
        }
        let (code, text) = try hash("471100\n")
        #expect(code == 0 && text.hasPrefix("pbkdf2-sha256$6$") && !text.contains("471100"))
        #expect(try hash("471100\n").1 != text, "salted")
        let file = try write("hash.ini", settings + "[door back]\nrelay = sim:b\ncode-hash = post:\(text)")
        #expect(try run("check", file) == Outcome(code: 0, output: "", error: ""))
        for input in ["", "secret\n", "12345678901234567\n"] { #expect(try hash(input).0 == 1) }
    }

    @Test func probeWritesAFileToStartFrom() throws {
        let outcome = try run("probe")
        #expect(outcome.code == 0)
        let file = try write("probe.ini", outcome.output)
        #expect(try run("check", file) == Outcome(code: 0, output: "", error: ""))
    }

    /// Waits for something of another process, without a limit that a slow machine would reach.
    private func until(_ what: String, _ holds: () throws -> Bool) throws {
        for _ in 0..<6000 {
            if try holds() { return }
            usleep(10_000)
        }
        Issue.record("\(what) did not happen in a minute")
    }

    /// A file that became faulty, state that was damaged, a state folder that is none: the door works.
    @Test func aBadFileNeverBricksADoor() throws {
        let file = try write("portero.ini", settings)
        let last = path("state/last-good.ini")
        var (process, output, _) = try start(["run", "--config", file])
        try until("the last good file") { FileManager.default.fileExists(atPath: last) }
        try until("an answer") { try run("status", "--config", file).code == 0 }
        // Another appliance at the same socket gives up and leaves the first alone.
        #expect(try run("run", "--config", file).code == 1)
        #expect(try run("status", "--config", file).code == 0)
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(output.fileHandleForReading.readDataToEndOfFile().isEmpty)

        try write("portero.ini", settings + "[x]\n")
        try write("state/identity.json", "{\"instance\":3,\"contacts\":[")
        try write(
            "state/lock-out.json",
            "{\"saved-at\":-9223372036854775808,\"remaining\":9223372036854775807,"
                + "\"times\":9223372036854775807,\"attempts\":[{\"caller\":\"a\",\"age\":-9223372036854775808}]}")
        (process, output, _) = try start(["run", "--config", file])
        try until("an answer") { try run("status", "--config", file).code == 0 }
        let status = try run("status", "--json", "--config", file).output
        #expect(status.contains("\"state\":\"last-good\""))
        #expect(status.contains("running on the last good one: \(file):14: unknown section [x]"))
        #expect(try run("reload", "--config", file).code == 1)
        try write("portero.ini", settings)
        #expect(try run("reload", "--config", file) == Outcome(code: 0, output: "", error: ""))
        #expect(try run("status", "--json", "--config", file).output.contains("\"state\":\"current\""))
        #expect(try run("open", "front", "--config", file).code == 0)
        #expect(try run("open", "back", "--config", file).code == 1)
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)

        // The state folder is a file, the socket's folder is missing.
        try FileManager.default.removeItem(atPath: path("state"))
        try write("state", "")
        try write("portero.ini", settings.replacingOccurrences(of: path("s") + "\n", with: path("missing/s") + "\n"))
        (process, output, _) = try start(["run", "--config", file])
        try FileManager.default.createDirectory(atPath: path("missing"), withIntermediateDirectories: true)
        try until("the socket") { try run("status", "--config", file).code == 0 }
        #expect(try run("status", "--config", file).output.contains("fault: state-directory: "))
        // Once there is room, a reload keeps everything that was not kept.
        try FileManager.default.removeItem(atPath: path("state"))
        #expect(try run("reload", "--config", file).code == 0)
        try until("the state") { try !run("status", "--config", file).output.contains("state-directory") }
        #expect(FileManager.default.fileExists(atPath: last))
        #expect(FileManager.default.fileExists(atPath: path("state/identity.json")))
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
