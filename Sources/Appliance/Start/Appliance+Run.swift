internal import API
internal import Configuration
internal import EventLoop
internal import Glibc

extension Appliance {
    /// `portero run`: starts from the file, or from the last good configuration where the file has faults.
    /// - Returns: the exit code; 78 if there is nothing to start from.
    package static func run(configurationPath path: String, socket: String?) -> Int32 {
        Signal.blockAll()
        let choice = StartChoice(path: path)
        if choice.state == .lastGood { for fault in choice.faults { complain(fault) } }
        guard let configuration = choice.configuration else {
            complain("portero: no configuration to start from")
            return 78
        }
        do throws(SystemError) {
            var options = Options()
            options.socket = socket
            let appliance = try Appliance(
                loop: EventLoop(), source: choice.source, configuration: configuration, state: choice.state,
                options: options)
            if choice.state == .lastGood {
                appliance.tellLastGood(choice.faults)
            } else {
                appliance.save(.lastGood, Array(configuration.text.utf8))
            }
            if let why = choice.leftOut { appliance.provisioning?.leftOut(why) }
            return try appliance.run()
        } catch {
            complain("portero: \(error)")
            return 1
        }
    }

    /// The faulty file is a fault of the appliance too, for as long as it runs on the last good configuration.
    private func tellLastGood(_ texts: [String]) {
        let more = texts.count > 1 ? " (and \(texts.count - 1) more)" : ""
        raise("configuration", "running on the last good one: \(texts.first ?? "")\(more)")
        publish(
            "configuration",
            ["state": .string(configurationState.rawValue), "faults": .array(texts.map { .string($0) })])
    }

    private static func complain(_ line: String) {
        var octets = Array((line + "\n").utf8)
        _ = write(2, &octets, octets.count)
    }
}
