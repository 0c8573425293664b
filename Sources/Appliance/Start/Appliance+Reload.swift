package import API
internal import Configuration
internal import EventLoop
internal import Primitives
internal import UserAgent

/// Reads the configuration again and changes only what changed.
extension Appliance {
    /// `portero reload`, SIGHUP, `systemctl reload`: a bad file changes nothing.
    package func reload() -> ControlResult {
        notifier.reloading()
        defer { notifier.ready() }
        let result = takeOver(source, as: source.provisioned == nil ? .current : .provisioned)
        provisioning?.askSoon()
        return result
    }

    /// Reads a source and, if it has no fault, goes on by it.
    func takeOver(_ source: ConfigurationSource, as state: ConfigurationState) -> ControlResult {
        if isStopping { return .impossible("the appliance is stopping") }
        let files: [ConfigurationFile]
        do throws(UnreadableFile) {
            files = try source.load()
        } catch {
            return refuse(["\(error)"])
        }
        let reading = Configuration.read(files: files)
        for warning in reading.warnings { journal.log(.config, .warning, "\(warning.warningDescription)") }
        guard let new = reading.configuration else { return refuse(reading.faults.map(\.description)) }
        if source.provisioned != nil, new.provisioning.url == nil {
            // What came from afar goes with its URL, as at a start.
            var alone = source
            alone.provisioned = nil
            return takeOver(alone, as: .current)
        }
        let difference = Configuration.difference(from: configuration, to: new)
        let driven = difference.polarityChanges.map { "\($0): a new polarity of an output in use needs a restart" }
        if !driven.isEmpty { return refuse(driven) }
        if self.source.provisioned != nil, source.provisioned == nil {
            forget(.provisioned)
            forget(.provisionedTag)
        }
        self.source = source
        configurationState = state
        apply(new, difference)
        unsaved[.lastGood] = Array(new.text.utf8)
        saveAgain()
        clear("configuration")
        publish("configuration", ["state": .string(state.rawValue)])
        journal.log(.config, .notice, "configuration taken over: \(source.path)")
        var running = configuration
        running.device = startedDevice
        let waiting = Configuration.difference(from: running, to: new).waitingForStart
        var notes: [JSON] = waiting.map { .string("\($0) waits for the next start") }
        notes += reading.warnings.map { .string($0.warningDescription) }
        return .done(.members(["notes": notes.isEmpty ? nil : .array(notes)]))
    }

    private func refuse(_ texts: [String]) -> ControlResult {
        for text in texts { journal.log(.config, .error, "\(text)") }
        publish(
            "configuration", ["state": .string("refused"), "faults": .array(texts.map { .string($0) })])
        return .faulty("the configuration has faults; nothing was changed", faults: texts)
    }

    private func apply(_ new: Configuration, _ difference: ConfigurationDifference) {
        let old = configuration
        configuration = new
        if old.log != new.log { applyLog() }
        take(.intercom(.configure(new)))
        tellTime()
        panel?.open(new)
        if old.audio != new.audio || old.ringer != new.ringer || old.device.tones != new.device.tones { applySound() }
        ports.range = new.network.rtpPorts
        if old.network.sipPort != new.network.sipPort || old.network.ipv6 != new.network.ipv6
            || old.network.interface != new.network.interface
        {
            clear { $0.hasPrefix("sip ") }
            sockets?.change(port: new.network.sipPort, ipv6: new.network.ipv6, options: socketOptions)
            take(.agent(.networkChanged))
        }
        configureAgent()
        provisioning?.configure()
        armMediaWatch()
    }

    /// The accounts of the configuration; those that did not change keep their registration.
    private func configureAgent() {
        var translation = AccountTranslation(
            deviceName: configuration.device.name, credentials: .ofProcess, identity: identity, random: .system)
        let settings = translation.settings(for: configuration, product: Version.product)
        identity = translation.identity
        // A fault stays where nothing changed: the registrar has not said anything else since.
        let unchanged = Set(
            settings.accounts.filter { agentSettings.accounts.contains($0) }.map { "account \($0.name)" })
        clear { $0.hasPrefix("account ") && !unchanged.contains($0) }
        agentSettings = settings
        keepCertificates(of: settings.accounts)
        for (account, text) in translation.problems { raise("account \(account)", text) }
        saveIdentity()
        take(.agent(.configure(settings)))
    }

    func saveIdentity() {
        guard identity.isChanged else { return }
        identity.markSaved()
        save(.identity, identity.document)
    }
}
