import API
import Configuration
import Primitives

/// What the words of the command line ask for.
struct Invocation {
    enum Task {
        case run, demo, probe, rest, hashCode, version, help
        case check
        case status
        case explain
        case history
        case events
        case request(ControlRequest)
    }

    var task: Task
    /// `--config`, or the file that `check` names.
    var configuration: String?
    var socket: String?
    var json = false
    /// `--stay`: the demo goes on until interrupted.
    var stays = false

    /// The words of one command and what they mean, for `portero help`.
    static let help = """
        usage: portero [--config FILE] [--socket PATH] COMMAND

          run                          run the appliance in the foreground
          check [FILE]                 read a configuration and print its faults
          demo                         the whole appliance on loopback, nothing needed
          probe                        what this board has, and a configuration to start from
          status [--json]              accounts, calls, LEDs, doors, network, audio
          explain [--json]             why accounts are not registered and calls not answered
          history [--json]             the last calls
          events [--json]              follow events
          press BUTTON [--for TIME]    press a button
          dial TARGET [--via ACCOUNT] [--header 'Name: value']...
          answer | hangup | hold | resume [CALL]
          reject [--code CODE] [CALL]
          mute on|off [CALL]
          dtmf DIGITS [CALL]
          transfer TARGET [CALL]       to a contact, a URI, or the id of another call
          open DOOR                    open a door
          speaker DEVICE               switch the loudspeaker
          volume speaker|microphone|ringer LEVEL
          register [ACCOUNT] | unregister [ACCOUNT]
          network up|down|auto         override what the network monitor sees
          reload                       read the configuration again
          log LEVEL [DOMAIN]           error, warning, notice, info, debug, trace
          rest                         drive every output to its resting level
          hash-code                    read a door code on standard input, print what code-hash takes
          version

        """

    /// Reads the words after the program's name. The error is for standard error.
    init(_ arguments: [String]) throws(UsageError) {
        var words: [String] = []
        var headers: [String] = []
        var values: [String: String] = [:]
        var asksForHelp = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                // Everything after it is a word, whatever it begins with.
                words += rest
                break
            }
            guard argument.hasPrefix("--") else {
                // "-5" is a volume, not an option.
                if argument.hasPrefix("-"), argument.count > 1, Int(argument) == nil {
                    guard argument == "-h" else { throw UsageError("unknown option \(argument)") }
                    asksForHelp = true
                } else {
                    words.append(argument)
                }
                continue
            }
            var name = argument
            var value: String?
            if let equals = argument.firstIndex(of: "=") {
                name = String(argument[..<equals])
                value = String(argument[argument.index(after: equals)...])
            }
            switch name {
            case "--json" where value == nil: json = true
            case "--stay" where value == nil: stays = true
            case "--help" where value == nil: asksForHelp = true
            case "--version" where value == nil: words = ["version"]
            case "--config", "--socket", "--for", "--via", "--code", "--header":
                guard let value = value ?? rest.popFirst(), !value.isEmpty else {
                    throw UsageError("\(name) needs a value")
                }
                if name == "--header" {
                    headers.append(value)
                } else if values.updateValue(value, forKey: name) != nil {
                    throw UsageError("\(name) is given twice")
                }
            default: throw UsageError("unknown option \(argument)")
            }
        }
        configuration = values.removeValue(forKey: "--config")
        socket = values.removeValue(forKey: "--socket")
        if asksForHelp { words = ["help"] }
        guard let command = words.first else { throw UsageError("no command; see portero help") }
        let operands = Array(words.dropFirst())

        func count(_ range: ClosedRange<Int>) throws(UsageError) {
            if !range.contains(operands.count) {
                throw UsageError("\(command): wrong number of words; see portero help")
            }
        }
        func request(_ request: ControlRequest) -> Task { .request(request) }
        let call = operands.first
        switch command {
        case "run", "demo", "probe", "rest", "hash-code", "version", "help", "status", "explain", "history", "events",
            "reload":
            try count(0...0)
        case "answer", "hangup", "hold", "resume", "register", "unregister", "check", "reject": try count(0...1)
        case "press", "dial", "open", "speaker", "network": try count(1...1)
        case "mute", "dtmf", "transfer", "log": try count(1...2)
        case "volume": try count(2...2)
        default: throw UsageError("unknown command \(command); see portero help")
        }
        switch command {
        case "run": task = .run
        case "demo": task = .demo
        case "probe": task = .probe
        case "rest": task = .rest
        case "hash-code": task = .hashCode
        case "version": task = .version
        case "help": task = .help
        case "status": task = .status
        case "explain": task = .explain
        case "history": task = .history
        case "events": task = .events
        case "check":
            task = .check
            if let file = operands.first { configuration = file }
        case "reload": task = request(.reload)
        case "answer": task = request(.call(.answer, id: call))
        case "hangup": task = request(.call(.hangup, id: call))
        case "hold": task = request(.call(.hold, id: call))
        case "resume": task = request(.call(.resume, id: call))
        case "register": task = request(.register(account: call))
        case "unregister": task = request(.unregister(account: call))
        case "open": task = request(.open(door: operands[0]))
        case "speaker": task = request(.speaker(device: operands[0]))
        case "log": task = request(.log(level: operands[0], domain: operands.count > 1 ? operands[1] : nil))
        case "dtmf":
            task = request(.call(.dtmf(digits: operands[0]), id: operands.count > 1 ? operands[1] : nil))
        case "transfer":
            task = request(.call(.transfer(target: operands[0]), id: operands.count > 1 ? operands[1] : nil))
        case "dial":
            task = request(.dial(target: operands[0], via: values.removeValue(forKey: "--via"), headers: headers))
            headers = []
        case "reject":
            var code: Int?
            if let text = values.removeValue(forKey: "--code") {
                guard let number = Int(text), (400...699).contains(number) else {
                    throw UsageError("--code: expected 400 to 699, found \(text)")
                }
                code = number
            }
            task = request(.call(.reject(code: code), id: call))
        case "press":
            var time: Duration?
            if let text = values.removeValue(forKey: "--for") {
                guard let read = Duration(unitText: text), read > .zero, read <= .seconds(3600) else {
                    throw UsageError("--for: expected a time such as 250ms or 3s, found \(text)")
                }
                time = read
            }
            task = request(.press(button: operands[0], for: time))
        case "mute":
            guard operands[0] == "on" || operands[0] == "off" else { throw UsageError("mute: expected on or off") }
            task = request(.call(.mute(operands[0] == "on"), id: operands.count > 1 ? operands[1] : nil))
        case "network":
            guard let state = NetworkOverride(rawValue: operands[0]) else {
                throw UsageError("network: expected up, down or auto")
            }
            task = request(.network(state))
        default:  // volume
            guard let control = VolumeControl(rawValue: operands[0]), let level = VolumeLevel(operands[1]) else {
                throw UsageError("volume: expected speaker, microphone or ringer, and 0 to 100, +N or -N")
            }
            task = request(.volume(of: control, level: level))
        }
        if json, !["status", "explain", "history", "events"].contains(command) {
            throw UsageError("\(command): --json does not belong here")
        }
        if stays, command != "demo" { throw UsageError("\(command): --stay does not belong here") }
        if let left = values.keys.min() ?? (headers.isEmpty ? nil : "--header") {
            throw UsageError("\(command): \(left) does not belong here")
        }
    }
}

/// The words are wrong (exit code 2).
struct UsageError: Error, CustomStringConvertible {
    var description: String
    init(_ text: String) { description = text }
}
