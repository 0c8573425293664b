internal import API
internal import Configuration
internal import EventLoop
internal import Glibc

extension Appliance {
    /// `portero run`: starts from the file, or from the last good configuration where the file has faults.
    /// - Returns: the exit code; 78 if there is nothing to start from.
    package static func run(configurationPath path: String, socket: String?) -> Int32 {
        Signal.blockAll()
        var source = ConfigurationSource(path: path)
        let (faults, configuration) = read(source)
        var state = ConfigurationState.current
        var chosen = configuration
        if let good = configuration {
            let folder = StateFolder(path: good.device.stateDirectory)
            // What provisioning brought is one more drop-in, as long as it fits.
            if good.provisioning.url != nil, let octets = folder.read(.provisioned) {
                source.provisioned = ConfigurationFile(
                    name: folder.path + "/" + StateFolder.File.provisioned.rawValue, octets: octets, isProvisioned: true
                )
                if let merged = read(source).configuration {
                    (chosen, state) = (merged, .provisioned)
                } else {
                    source.provisioned = nil
                }
            }
        } else {
            for fault in faults { complain(fault) }
            chosen = lastGood(beside: source)
            state = .lastGood
        }
        guard let configuration = chosen else {
            complain("portero: no configuration to start from")
            return 78
        }
        do throws(SystemError) {
            var options = Options()
            options.socket = socket
            let appliance = try Appliance(
                loop: EventLoop(), source: source, configuration: configuration, state: state, options: options)
            if state != .lastGood { appliance.save(.lastGood, Array(configuration.text.utf8)) }
            if state == .lastGood { appliance.tellLastGood(faults) }
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

    private static func read(_ source: ConfigurationSource) -> (faults: [String], configuration: Configuration?) {
        do throws(UnreadableFile) {
            let reading = Configuration.read(files: try source.load())
            return (reading.faults.map(\.description), reading.configuration)
        } catch {
            return (["\(error)"], nil)
        }
    }

    /// The last good configuration, in the state folder that the faulty file still names, else in the default one.
    static func lastGood(beside source: ConfigurationSource) -> Configuration? {
        let files = (try? source.load()) ?? []
        for path in [Configuration.read(files: files).stateDirectory, DeviceSettings().stateDirectory] {
            guard let octets = StateFolder(path: path).read(.lastGood) else { continue }
            let file = ConfigurationFile(name: path + "/" + StateFolder.File.lastGood.rawValue, octets: octets)
            if let configuration = Configuration.read(files: [file]).configuration { return configuration }
        }
        return nil
    }

    private static func complain(_ line: String) {
        var octets = Array((line + "\n").utf8)
        _ = write(2, &octets, octets.count)
    }
}
