import API
import Foundation
import Testing

@testable import Appliance

/// SEC6: passwords, door codes and credentials are shown nowhere.
@Suite(.serialized) struct SecretTests {
    @Test func nothingShowsASecret() throws {
        let house = try House {
            $0.pbx.challenges = true
            return $0.text(account: "auto-answer = header", rest: "[log]\nlevel = trace\nsip = yes")
        }
        try house.untilRegistered()
        let id = house.pbx.call(headers: ["Call-Info: <sip:x>;answer-after=0"])
        try house.until("talking") { house.call?["state"] == .string("talking") }
        let to = try #require(house.pbx.response(to: id, "INVITE"))["To"]
        house.pbx.say("ACK", id, 1, to: to)
        for (index, digit) in House.code.enumerated() {
            house.pbx.say(
                "INFO", id, index + 2, to: to, ["Content-Type: application/dtmf-relay"],
                body: "Signal=\(digit)\r\nDuration=100\r\n")
            try house.until("an answer to INFO") {
                house.pbx.received.contains {
                    $0["Call-ID"] == id && $0["CSeq"] == "\(index + 2) INFO" && $0.status == 200
                }
            }
        }
        try house.until("the code opens") { house.level("relay") == true }
        #expect(house.events("door").last?["by"] == .string("dtmf"))
        let digits = house.events("dtmf")
        #expect(digits.count == House.code.count)
        #expect(digits.allSatisfy { $0["digit"] == nil && $0["by"] == .string("info") })
        // A faulty file is told without what it holds.
        try house.reload(house.text().replacingOccurrences(of: "code = ", with: "code = x"))
        try house.reload(house.text().replacingOccurrences(of: "password = ", with: "password = \"\npassword-file = "))

        #expect(house.log.contains { $0.contains("Authorization: ••••") })
        #expect(house.log.contains { $0.contains("INFO sip:") })
        for text in house.log + house.eventLines + [house.status.text] {
            #expect(!text.contains(House.password), "\(text)")
            #expect(!text.contains("Signal="), "\(text)")
            #expect(!text.contains("response=\""), "\(text)")
            #expect(!text.contains("code = "), "\(text)")
        }
    }

    @Test func theStateFolderIsNobodyElses() throws {
        let house = try House()
        try house.untilRegistered()
        try house.reload(house.text(rest: "[contact x]\nuri = sip:x@127.0.0.1"))
        let last = house.stateFolder.appendingPathComponent("last-good.ini").path
        try house.until("the last good file") { FileManager.default.fileExists(atPath: last) }
        for name in try FileManager.default.contentsOfDirectory(atPath: house.stateFolder.path) {
            let path = house.stateFolder.appendingPathComponent(name).path
            let mode = try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)
            #expect(mode.intValue & 0o077 == 0, "\(name)")
        }
        let folder = try FileManager.default.attributesOfItem(atPath: house.stateFolder.path)
        #expect(((folder[.posixPermissions] as? NSNumber)?.intValue ?? 0o777) & 0o007 == 0)
    }

    @Test(arguments: [
        ("REGISTER sip:x SIP/2.0\r\nAuthorization: Digest a=1,\r\n response=\"SECRET\"\r\nTo: x\r\n\r\n", "To: x"),
        ("REGISTER sip:x SIP/2.0\r\nproxy-authorization : Digest SECRET\r\n\t SECRET\r\n\r\n", "••••"),
        ("INFO sip:x SIP/2.0\r\nContent-Type: multipart/mixed;boundary=b\r\n\r\n--b\r\n\r\nSignal=SECRET", "INFO"),
        ("SIP/2.0 200 OK\r\nc : application/dtmf\r\n\r\nSECRET", "••••"),
        ("INVITE sip:x SIP/2.0\r\n\r\na=crypto:1 AES_CM_128 inline:SECRET\r\nm=audio", "m=audio"),
        ("INVITE sip:x SIP/2.0\n\nk=clear:SECRET\nm=audio", "m=audio"),
    ])
    func aTraceIsBlanked(message: String, kept: String) {
        let text = blankedSecrets(of: Array(message.utf8))
        #expect(!text.contains("SECRET"))
        #expect(text.contains(kept))
    }
}
