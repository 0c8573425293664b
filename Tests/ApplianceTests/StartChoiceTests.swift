import Appliance
import Foundation
import Testing

/// What an appliance starts from.
@Suite struct StartChoiceTests {
    private let folder = "/tmp/portero-start-\(UUID().uuidString.prefix(8))"

    init() throws {
        try FileManager.default.createDirectory(atPath: folder + "/state", withIntermediateDirectories: true)
    }

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
    }

    /// The operator's file.
    private func choice(_ text: String, url: Bool = true) throws -> StartChoice {
        let provisioning = url ? "[provisioning]\nurl = file:///none\n" : ""
        try write("a.ini", "[device]\nstate-directory = \(folder)/state\n" + provisioning + text)
        return StartChoice(path: folder + "/a.ini")
    }

    private let dials = "[button b]\nline = sim:b\npress = dial k\n"
    private let contact = "[contact k]\nuri = sip:k@b\n"

    @Test func theFileAlone() throws {
        let choice = try choice(contact)
        #expect(choice.state == .current)
        #expect(choice.configuration?.contacts.map(\.name) == ["k"])
    }

    @Test func whatWasProvisionedCountsThoughTheFileNeedsIt() throws {
        try write("state/provisioned.ini", contact)
        let choice = try choice(dials)
        #expect(choice.state == .provisioned)
        #expect(choice.faults == [])
        #expect(choice.configuration?.contacts.map(\.name) == ["k"])
    }

    @Test func whatDoesNotFitIsLeftOutAndTold() throws {
        try write("state/provisioned.ini", "[x]\n")
        let choice = try choice(contact)
        #expect(choice.state == .current)
        #expect(choice.leftOut == "\(folder)/state/provisioned.ini:1: unknown section [x]")
    }

    @Test func withoutAURLNothingIsProvisioned() throws {
        try write("state/provisioned.ini", "[log]\nlevel = debug\n")
        let choice = try choice(contact, url: false)
        #expect(choice.state == .current)
        #expect(choice.leftOut == nil)
        #expect(choice.configuration?.log.level == .notice)
    }

    @Test func theLastGoodOneWhereTheFileHasFaults() throws {
        try write("state/last-good.ini", contact)
        let choice = try choice("[x]\n")
        #expect(choice.state == .lastGood)
        #expect(choice.faults == ["\(folder)/a.ini:5: unknown section [x]"])
        #expect(choice.configuration?.contacts.map(\.name) == ["k"])
    }

    @Test func aTagCountsForItsURLAndItsContentAlone() {
        let tag = ProvisionedTag.write("\"1\"", url: "https://a/b", [1, 2])
        #expect(ProvisionedTag.read(tag, url: "https://a/b", [1, 2]) == "\"1\"")
        #expect(ProvisionedTag.read(tag, url: "https://a/c", [1, 2]) == nil)
        #expect(ProvisionedTag.read(tag, url: "https://a/b", [1, 3]) == nil)
        #expect(ProvisionedTag.read(Array("\"1\"".utf8), url: "https://a/b", [1, 2]) == nil)
        #expect(ProvisionedTag.read(nil, url: "https://a/b", [1, 2]) == nil)
    }
}
