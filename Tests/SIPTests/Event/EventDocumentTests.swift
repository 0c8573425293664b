import Primitives
import SIP
import Testing

/// The documents of event packages (RFC 3842, RFC 4235), read within limits.
@Suite struct EventDocumentTests {
    private func dialogs(_ text: String) throws -> DialogInformation { try DialogInformation(Array(text.utf8)) }

    @Test func aDialogInfoOfRFC4235() throws {
        let information = try dialogs(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- a comment, with - and -- --->
            <dialog-info xmlns="urn:ietf:params:xml:ns:dialog-info" version="7" state="partial"
                         entity="sip:200@pbx.example.org">
              <dialog id="as7d900as8" call-id="a84b4c76e66710" local-tag='1928"301774' direction="initiator">
                <state event="local-bye"> early </state>
                <remote><identity display="A &amp; B &#x41;">sip:100@x?a=1&amp;b=2</identity><target uri="sip:x"/></remote>
              </dialog>
              <dialog id="two"><state>confirmed</state></dialog>
              <dialog id="three"><state>unheard-of</state></dialog>
            </dialog-info>
            """)
        #expect(information.version == 7)
        #expect(!information.isFull)
        #expect(
            information.dialogs == [
                .init(id: "as7d900as8", direction: .initiator, state: .early),
                .init(id: "two", direction: nil, state: .confirmed),
            ])
    }

    @Test func prefixesOfNamespacesDoNotMatter() throws {
        let information = try dialogs(
            "\u{FEFF}<d:dialog-info xmlns:d='x' version='0' state='full'><d:dialog id='1' direction='recipient'>"
                + "<d:state>early</d:state></d:dialog></d:dialog-info>\r\n")
        #expect(information.isFull)
        #expect(information.dialogs == [.init(id: "1", direction: .recipient, state: .early)])
    }

    @Test(arguments: [
        "", " ", "<", "<a>", "<a/>", "<dialog-info", "<dialog-info>", "<dialog-info></dialog>", "<dialog-info/><x/>",
        "<dialog-info/>x", "x<dialog-info/>", "<dialog-info a=b/>", "<dialog-info a='<'/>",
        "<dialog-info>&x;</dialog-info>",
        "<dialog-info>&#0;</dialog-info>", "<dialog-info>&#xD800;</dialog-info>", "<dialog-info>&lt</dialog-info>",
        "<!DOCTYPE x [<!ENTITY a \"b\">]><dialog-info/>", "<dialog-info><![CDATA[x]]></dialog-info>",
        "<!-- <dialog-info/>", "<? <dialog-info/>", "<dialog-info/ >",
    ])
    func whatIsMalformedIsRefused(text: String) {
        #expect(throws: ParseError.self) { try DialogInformation(Array(text.utf8)) }
    }

    /// SEC12: nothing grows with what a peer sends, and cutting anywhere never traps.
    @Test func documentsAreBounded() throws {
        let dialog = "<dialog id='1'><state>early</state></dialog>"
        let many = String(repeating: dialog, count: 500)
        let found = try dialogs("<dialog-info>" + many + "</dialog-info>").dialogs.count
        #expect(found == DialogInformation.dialogLimit)
        for text in [
            "<dialog-info>" + String(repeating: dialog, count: 2000) + "</dialog-info>",
            "<dialog-info>" + String(repeating: "<a>", count: 20) + String(repeating: "</a>", count: 20)
                + "</dialog-info>",
            "<dialog-info " + (0..<20).map { "a\($0)='' " }.joined() + "/>",
        ] {
            #expect(throws: ParseError.self) { try DialogInformation(Array(text.utf8)) }
        }
        let whole = Array("<?xml?><!-- --><dialog-info version='1'>&amp;\(dialog)</dialog-info>".utf8)
        for count in 0..<whole.count { _ = try? DialogInformation(Array(whole.prefix(count))) }
        for index in whole.indices {
            var octets = whole
            octets[index] ^= 0xFF
            #expect(throws: ParseError.self) { try DialogInformation(octets) }
        }
    }

    @Test(arguments: [
        ("Messages-Waiting: yes\r\nMessage-Account: sip:a@b\r\nVoice-Message: 2/8 (0/2)\r\n", true, 2, 8),
        ("messages-waiting:no\nvoice-message:0/1", false, 0, 1),
        ("Messages-Waiting : YES\r\nVoice-Message: 99999999999999999999/7\r\n", true, 1_000_000, 7),
    ])
    func aMessageSummaryOfRFC3842(text: String, waiting: Bool, new: Int, old: Int) throws {
        let found = try MessageSummary(Array(text.utf8))
        #expect(found == MessageSummary(isWaiting: waiting, new: new, old: old))
    }

    @Test func countsMayBeAbsent() throws {
        let found = try MessageSummary(Array("Messages-Waiting: yes\r\n".utf8))
        #expect(found == MessageSummary(isWaiting: true))
        for text in [
            "", "Voice-Message: 1/0\r\n", "Messages-Waiting: perhaps\r\n", String(repeating: "x", count: 9000),
        ] {
            #expect(throws: ParseError.self) { try MessageSummary(Array(text.utf8)) }
        }
    }
}
