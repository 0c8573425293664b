import API
import Appliance
import Configuration
import Glibc
import Network
import Primitives

/// The daemon, the command line and the demo in one.
@main enum Portero {
    static func main() {
        let code: ExitCode
        do throws(UsageError) {
            let invocation = try Invocation(Array(CommandLine.arguments.dropFirst()))
            code = perform(invocation)
        } catch {
            complain("portero: \(error)")
            code = .usage
        }
        exit(code.rawValue)
    }

    private static func perform(_ invocation: Invocation) -> ExitCode {
        let file = invocation.configuration ?? ConfigurationSource.defaultPath
        switch invocation.task {
        case .help:
            write(Invocation.help)
            return .done
        case .version:
            write(Version.text)
            return .done
        case .check: return check(file)
        case .run:
            return ExitCode(rawValue: Appliance.run(configurationPath: file, socket: invocation.socket)) ?? .failed
        case .rest: return restOutputs(file)
        case .hashCode: return hashCode()
        case .probe:
            write(Probe.text())
            return .done
        case .demo: return Demo.run(stays: invocation.stays) { write($0) } ? .done : .failed
        case .status, .explain, .history, .events, .request:
            let client = ControlClient(socket: socket(invocation, file))
            switch invocation.task {
            case .status: return show(client, .status, statusText, json: invocation.json)
            case .explain: return show(client, .explain, explainText, json: invocation.json)
            case .history: return show(client, .history, historyText, json: invocation.json)
            case .events: return events(client, json: invocation.json)
            case .request(let request): return ask(client, request)
            default: return .usage
            }
        }
    }

    /// `--socket`, else the `socket` of `--config`, else `$PORTERO_SOCKET`, else the default.
    private static func socket(_ invocation: Invocation, _ file: String) -> String {
        if let socket = invocation.socket { return socket }
        if invocation.configuration != nil, let files = try? ConfigurationSource(path: file).load() {
            return Configuration.read(files: files).socket
        }
        let variable = getenv("PORTERO_SOCKET").map { String(cString: $0) } ?? ""
        return variable.isEmpty ? DeviceSettings().socket : variable
    }

    // MARK: Without an appliance

    private static func check(_ file: String) -> ExitCode {
        let files: [ConfigurationFile]
        do throws(UnreadableFile) {
            files = try ConfigurationSource(path: file).load()
        } catch {
            write("\(error)\n")
            return .failed
        }
        let reading = Configuration.read(files: files)
        for warning in reading.warnings { complain(warning.warningDescription) }
        for fault in reading.faults { write("\(fault)\n") }
        return reading.faults.isEmpty ? .done : .failed
    }

    private static func restOutputs(_ file: String) -> ExitCode {
        let problems = Rest.outputs(configurationPath: file)
        for problem in problems { complain("portero: \(problem)") }
        return problems.isEmpty ? .done : .failed
    }

    /// The digits never stand on a command line, which others can read.
    private static func hashCode() -> ExitCode {
        guard let text = readLine().flatMap({ HashedCode.text(for: $0) }) else {
            complain("portero: expected a code of 1 to 16 of the digits 0-9, *, #, A-D on standard input")
            return .failed
        }
        write(text + "\n")
        return .done
    }

    // MARK: With one

    private static func show(
        _ client: ControlClient, _ request: ControlRequest, _ text: (JSON) -> String, json: Bool
    ) -> ExitCode {
        send(client, request) { document in write(json ? document.text + "\n" : text(document)) }
    }

    private static func ask(_ client: ControlClient, _ request: ControlRequest) -> ExitCode {
        send(client, request) { answer in
            if let id = answer["id"]?.string { write(id + "\n") }
            for note in answer["notes"]?.elements ?? [] { complain(note.string ?? "") }
        }
    }

    private static func send(_ client: ControlClient, _ request: ControlRequest, _ done: (JSON) -> Void) -> ExitCode {
        let message = request.message
        do throws(ControlClient.Failure) {
            let (status, body) = try client.send(message.method, message.path, body: message.body?.text)
            let answer = (try? JSON.parse(body)) ?? .null
            if (200...299).contains(status) {
                done(answer)
                return .done
            }
            complain("portero: " + (answer["error"]?.string ?? "the appliance answered \(status)"))
            for fault in answer["faults"]?.elements ?? [] { complain(fault.string ?? "") }
            return status == 400 ? .usage : .failed
        } catch {
            return explain(error, client)
        }
    }

    private static func events(_ client: ControlClient, json: Bool) -> ExitCode {
        let lines = EventLines()
        do throws(ControlClient.Failure) {
            try client.follow("/v1/events") { octets in
                lines.take(octets).allSatisfy { line in
                    write(json ? line + "\n" : eventText((try? JSON.parse(Array(line.utf8))) ?? .null))
                }
            }
            return .done
        } catch {
            return explain(error, client)
        }
    }

    private static func explain(_ failure: ControlClient.Failure, _ client: ControlClient) -> ExitCode {
        switch failure {
        case .notRunning:
            complain("portero: no appliance is running at \(client.socket)")
            return .notRunning
        case .failed(let text):
            complain("portero: \(client.socket): \(text)")
            return .failed
        }
    }

    // MARK: Output

    /// Everything, or false if nobody reads any more.
    @discardableResult private static func write(_ text: String, to descriptor: Int32 = 1) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func complain(_ line: String) { write(line + "\n", to: 2) }
}

/// INTERFACE section 1.
enum ExitCode: Int32 {
    case done = 0
    /// Understood, and failed.
    case failed = 1
    /// The words are wrong.
    case usage = 2
    case notRunning = 3
    /// `run` found no configuration that it can start from.
    case noConfiguration = 78
}

/// Puts the lines of server-sent events together again.
final class EventLines {
    private var rest: [UInt8] = []

    func take(_ octets: UnsafeRawBufferPointer) -> [String] {
        rest += octets
        var lines: [String] = []
        while let end = rest.firstIndex(of: 0x0A) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest.removeSubrange(...end)
            if line.hasPrefix("data: ") { lines.append(String(line.dropFirst(6))) }
        }
        return lines
    }
}
