/// One file of a configuration.
package struct ConfigurationFile: Sendable {
    /// As faults name it, usually its path.
    package let name: String
    package let octets: [UInt8]
    /// A provisioned file: `[provisioning]`, `socket` and `state-directory` in it are ignored with a warning.
    package let isProvisioned: Bool

    package init(name: String, octets: [UInt8], isProvisioned: Bool = false) {
        self.name = name
        self.octets = octets
        self.isProvisioned = isProvisioned
    }
}

/// What came of reading.
package struct ConfigurationReading: Sendable {
    /// Nil if there is any fault.
    package let configuration: Configuration?
    /// In the order of files and lines.
    package let faults: [ConfigurationFault]
    package let warnings: [ConfigurationFault]
    /// The control socket of the files, whatever their faults.
    package let socket: String
    /// The state folder, likewise: where the last good configuration lies.
    package let stateDirectory: String
}
