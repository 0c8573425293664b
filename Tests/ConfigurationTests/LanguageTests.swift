import Configuration
import Primitives
import Testing

@Suite struct LanguageTests {
    private func account(_ lines: String) -> AccountSettings? {
        read("[account a]\nuri = sip:a@b\n\(lines)\n").configuration?.accounts.first
    }

    @Test(arguments: [
        ("\u{FEFF}[log]\nlevel = info\n", "a byte-order mark"),
        ("[log]\r\nlevel = info\r\n", "CR LF"),
        ("  [log]\n\t level=info", "blanks at the start, no blank round =, no last line end"),
        ("[ log ]\nlevel = info", "blanks inside the brackets"),
        ("# comment\n; comment\n  # comment\n[log]\n# level = debug\nlevel = info\n", "comments"),
        ("[log]\nlevel = \"info\"\n", "quotes round the whole value"),
        ("[log]\nlevel = \\\n  info\n", "a continued line"),
        ("[log]\nlevel = \\\n# a comment never goes on \\\n  info\n", "a comment inside a continued line"),
        ("[log]\nlevel = info\\", "a last line that goes on"),
        ("[log]\nlevel = info \\\n\nsip = no\n", "a continued line, then an empty one"),
    ])
    func accepts(_ text: String, _ what: String) {
        let reading = read(text)
        #expect(reading.faultTexts == [], "\(what)")
        #expect(reading.configuration?.log.level == .info, "\(what)")
    }

    @Test func valuesKeepWhatIsTheirs() {
        #expect(account("password = a=b # c ; d")?.password?.revealed == "a=b # c ; d")
        #expect(account("password = \"  x  \"")?.password?.revealed == "  x  ")
        #expect(account("password = \"a\" \"b\"")?.password?.revealed == "\"a\" \"b\"")
        #expect(account("password = \"half")?.password?.revealed == "\"half")
        #expect(account("password = \"slash\\\"")?.password?.revealed == "slash\\")
        #expect(account("password = ähem €")?.password?.revealed == "ähem €")
        #expect(account("display-name = one \\\n   two \\\n three")?.displayName == "one two three")
        #expect(account("display-name = ")?.displayName == nil)
        #expect(account("display-name = \"\"")?.displayName == nil)
        #expect(account("expires =")?.expires == .seconds(600))
    }

    @Test func headersAddUp() {
        #expect(account("header = X-A: 1\nheader = X-B: 2, 3")?.headers.map(\.description) == ["X-A: 1", "X-B: 2, 3"])
    }

    @Test(arguments: [
        ("yes", true), ("true", true), ("on", true), ("1", true), ("no", false), ("false", false), ("off", false),
        ("0", false),
    ])
    func booleans(_ text: String, _ value: Bool) { #expect(account("catch-all = \(text)")?.catchAll == value) }

    @Test(
        arguments: [
            ("250ms", 250_000_000), ("1.5s", 1_500_000_000), ("2min", 120_000_000_000), ("1h", 3_600_000_000_000),
            ("1d", 86_400_000_000_000), ("1h 30min", 5_400_000_000_000), ("1h30min", 5_400_000_000_000),
            ("3", 3_000_000_000), ("0.25", 250_000_000), ("10 ms", 10_000_000), ("1 us", 1000),
            ("2 weeks", 1_209_600_000_000_000),
        ] as [(String, Int64)])
    func durations(_ text: String, _ nanoseconds: Int64) {
        #expect(Duration(unitText: text)?.nanoseconds == nanoseconds)
    }

    @Test(arguments: [
        "", " ", "fast", "ms", "-1s", "+1s", "1.s", ".5s", "1..5s", "1x", "1,5s", "99999999999999999999", "9999999999d",
        "292y", "infinity", "1e3", "0x10", "1.0123456789s", "9223372036.9", "300 years",
    ])
    func notDurations(_ text: String) { #expect(Duration(unitText: text) == nil) }

    @Test(
        arguments: [0, 1, 1000, 1_500_000, 250_000_000, 90_000_000_000, 3_600_000_000_000, 604_800_000_000_000]
            as [Int64])
    func durationsReadBack(_ nanoseconds: Int64) {
        let duration = Duration.nanoseconds(nanoseconds)
        #expect(Duration(unitText: duration.unitText) == duration)
    }

    @Test func dropInsReopenSections() throws {
        let base = """
            [account a]
            uri = sip:a@x
            expires = 60
            display-name = A
            header = X-One: 1
            header = X-Two: 2
            [account b]
            uri = sip:b@x
            header = X-Kept: 1
            """
        let change = """
            [account c]
            uri = sip:c@x
            [account a]
            expires =
            header = X-Three: 3
            [account b]
            catch-all = yes
            """
        let configuration = try #require(read(base, change, "[account c]\nuri = sip:d@x").configuration)
        #expect(configuration.accounts.map(\.name) == ["a", "b", "c"])
        let a = try #require(configuration.account(named: "a"))
        #expect(a.uri == "sip:a@x" && a.displayName == "A" && a.expires == .seconds(600))
        #expect(a.headers.map(\.name) == ["X-Three"])
        let b = try #require(configuration.account(named: "b"))
        #expect(b.headers.map(\.name) == ["X-Kept"] && b.catchAll)
        #expect(configuration.account(named: "c")?.uri == "sip:d@x")
    }

    @Test func dropInChangesThePasswordSourceByEmptyingTheOther() {
        let base = "[account a]\nuri = sip:a@x\npassword = p"
        #expect(
            read(base, "[account a]\npassword =\ncredential = c").configuration?.accounts.first?.passwordSource
                == .credential("c"))
        #expect(
            read(base, "[account a]\ncredential = c").faultTexts
                == ["b.ini:2: [account a] credential: only one of password, credential may be set"])
    }

    @Test func provisionedFileLeavesTheDeviceItsOwn() throws {
        let local = "[device]\nsocket = /a\n[provisioning]\nurl = https://a/\n"
        let remote = "[device]\nsocket = /b\nname = Far\nstate-directory = /c\n[provisioning]\nurl = https://b/\n"
        let reading = Configuration.read(files: [
            ConfigurationFile(name: "a.ini", octets: Array(local.utf8)),
            ConfigurationFile(name: "r.ini", octets: Array(remote.utf8), isProvisioned: true),
        ])
        let configuration = try #require(reading.configuration)
        #expect(configuration.device.socket == "/a" && configuration.device.name == "Far")
        #expect(configuration.device.stateDirectory == "/var/lib/portero")
        #expect(configuration.provisioning.url == "https://a/")
        let message = "ignored in a provisioned file: it stays the device's own"
        #expect(
            reading.warningTexts == [
                "r.ini:2: warning: [device] socket: \(message)",
                "r.ini:4: warning: [device] state-directory: \(message)",
                "r.ini:5: warning: [provisioning]: \(message)",
            ])
    }

    @Test func socketIsReadWhateverElseIsWrong() {
        let reading = read("[device]\nsocket = /x\n[nonsense]\n")
        #expect(reading.configuration == nil)
        #expect(reading.socket == "/x")
    }

    @Test func tooLargeAFileIsOneFault() {
        let file = ConfigurationFile(
            name: "a.ini", octets: [UInt8](repeating: 0x0A, count: Configuration.maximumFileSize + 1))
        #expect(
            Configuration.read(files: [file]).faults.map(\.description)
                == ["a.ini:1: the file is larger than 1048576 octets"])
    }

    @Test func faultsAreBounded() {
        let reading = read(String(repeating: "nonsense\n", count: 10_000))
        #expect(reading.faults.count == 201)
    }
}
