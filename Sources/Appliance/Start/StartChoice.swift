package import Configuration
internal import EventLoop

/// What an appliance starts from: the operator's file with what provisioning brought, the file alone where that does
/// not fit, else the last good configuration.
package struct StartChoice {
    package private(set) var source: ConfigurationSource
    /// nil: there is nothing to start from.
    package private(set) var configuration: Configuration?
    package private(set) var state = Appliance.ConfigurationState.current
    /// Of the operator's file.
    package private(set) var faults: [String] = []
    /// Why what provisioning brought is left out.
    package private(set) var leftOut: String?

    package init(path: String) {
        source = ConfigurationSource(path: path)
        let alone = Reading(source)
        let folder = StateFolder(path: alone.stateDirectory)
        if let octets = folder.read(.provisioned) {
            var merged = source
            merged.provisioned = folder.provisioned(octets)
            let whole = Reading(merged)
            if let good = whole.configuration, good.provisioning.url != nil {
                (source, configuration, state) = (merged, good, .provisioned)
                return
            }
            if alone.configuration?.provisioning.url != nil { leftOut = whole.faults.first }
        }
        faults = alone.faults
        configuration = alone.configuration
        if configuration == nil { (configuration, state) = (Self.lastGood(alone.stateDirectory), .lastGood) }
    }

    /// From the state folder that the faulty file still names, else from the default one.
    private static func lastGood(_ folder: String) -> Configuration? {
        for path in [folder, DeviceSettings().stateDirectory] {
            guard let octets = StateFolder(path: path).read(.lastGood) else { continue }
            let file = ConfigurationFile(name: path + "/" + StateFolder.File.lastGood.rawValue, octets: octets)
            if let configuration = Configuration.read(files: [file]).configuration { return configuration }
        }
        return nil
    }

    private struct Reading {
        var configuration: Configuration?
        var faults: [String]
        var stateDirectory: String

        init(_ source: ConfigurationSource) {
            do throws(UnreadableFile) {
                let reading = Configuration.read(files: try source.load())
                configuration = reading.configuration
                faults = reading.faults.map(\.description)
                stateDirectory = reading.stateDirectory
            } catch {
                faults = ["\(error)"]
                stateDirectory = DeviceSettings().stateDirectory
            }
        }
    }
}
