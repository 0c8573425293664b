import Configuration
import Testing

@Suite struct DifferenceTests {
    private func difference(_ old: String, _ new: String) throws -> ConfigurationDifference {
        Configuration.difference(
            from: try #require(read(old).configuration), to: try #require(read(new).configuration))
    }

    @Test func sameTextDiffersInNothing() throws {
        #expect(try difference(sample, sample).isEmpty)
        #expect(try difference(sample, "# a comment\n" + sample).isEmpty)
    }

    @Test func accountsByNameAndKey() throws {
        let old = "[account a]\nuri = sip:a@x\n[account b]\nuri = sip:b@x\n[account c]\nuri = sip:c@x\n"
        let new =
            "[account d]\nuri = sip:d@x\n[account c]\nuri = sip:c@x\n[account a]\nuri = sip:a@x\nexpires = 60\n"
            + "codecs = pcma\n"
        let accounts = try difference(old, new).accounts
        #expect(accounts.added == ["d"])
        #expect(accounts.removed == ["b"])
        #expect(accounts.changed == ["a": ["expires", "codecs"]])
        #expect(accounts.isReordered)
    }

    @Test func sectionsThatStandOnce() throws {
        let changes = try difference("[log]\nlevel = info\n", "[log]\nsip = yes\n[device]\nsocket = /x\nname = N\n")
        #expect(changes.log.keys == ["level", "sip"])
        #expect(changes.device.keys == ["name", "socket"])
        #expect(changes.waitingForStart == ["socket"])
        #expect(changes.network.isEmpty && changes.accounts.isEmpty && !changes.isEmpty)
    }

    @Test func polarityOfAnOutputInUse() throws {
        let old = "[led l]\nline = A\nidle = on\n[door d]\nrelay = B\n"
        #expect(try difference(old, old + "active = low\n").polarityChanges == ["[door d]"])
        let opener = old + "opener = C\n"
        #expect(try difference(opener, opener + "opener-active = low\n").polarityChanges == ["[door d]"])
        // A line that goes from one use to another keeps its resting level, too.
        #expect(
            try difference(old, "[door e]\nrelay = A\nactive = low\n").polarityChanges == ["[door e]"])
        #expect(
            try difference(old, "[led m]\nline = A\nactive = low\nidle = on\n").polarityChanges == ["[led m]"])
        #expect(
            try difference(old, "[led l]\nline = C\nactive = low\nidle = on\n").polarityChanges == [])
        let button = "[button x]\nline = A\npress = answer\n"
        #expect(try difference(button, button + "active = high\n").polarityChanges == [])
    }

    /// Every key that the sample sets shows in the difference, under its own section.
    @Test func everyKeyIsCompared() throws {
        let changes = try difference("", sample)
        #expect(changes.accounts.added == ["house", "cabin", "barn"])
        let once = [
            "device": changes.device, "network": changes.network, "audio": changes.audio, "ringer": changes.ringer,
            "call": changes.call, "provisioning": changes.provisioning, "log": changes.log,
        ]
        for section in Configuration.manual where !section.isNamed {
            #expect(once[section.kind]?.keys == section.keys.map(\.name), "\(section.kind)")
        }
    }
}
