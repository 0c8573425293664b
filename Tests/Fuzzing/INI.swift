import Configuration

/// Whatever a file holds, reading ends, with faults or a value that its own text gives again.
@Sendable func fuzzINI(_ octets: [UInt8]) {
    let reading = Configuration.read(files: [ConfigurationFile(name: "fuzz", octets: octets)])
    precondition((reading.configuration == nil) == !reading.faults.isEmpty, "neither faults nor a configuration")
    guard let configuration = reading.configuration else { return }
    let again = Configuration.read(files: [ConfigurationFile(name: "again", octets: Array(configuration.text.utf8))])
    precondition(again.configuration == configuration, "a configuration that was read cannot be written")
}
