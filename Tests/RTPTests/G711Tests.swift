import Primitives
import RTP
import Testing

struct G711Tests {
    @Test(arguments: Case.of("g711"))
    func listedValue(_ test: Case) throws {
        let text = try #require(test.entry["encoded"] as? String)
        let code = try #require(octets(hexadecimal: text)?.first)
        let decode = test.entry["codec"] as? String == "PCMA" ? G711.decodeALaw : G711.decodeMuLaw
        #expect(Int(decode(code)) == test.entry["pcm16"] as? Int)
    }

    @Test func everyCodeComesBack() {
        for code in UInt8.min...UInt8.max {
            #expect(G711.encodeALaw(G711.decodeALaw(code)) == code)
            // µ-law has two zeros.
            #expect(G711.encodeMuLaw(G711.decodeMuLaw(code)) == (code == 0x7F ? 0xFF : code))
        }
    }

    @Test func errorIsHalfAStepAtMost() {
        for sample in stride(from: Int(Int16.min), through: Int(Int16.max), by: 7) {
            // Sixteen steps in each doubling of the value, the lowest being 16 (A-law) and 8 (µ-law).
            let bound = max(16, abs(sample) / 30)
            let value = Int16(sample)
            #expect(abs(Int(G711.decodeALaw(G711.encodeALaw(value))) - sample) <= bound)
            #expect(abs(Int(G711.decodeMuLaw(G711.encodeMuLaw(value))) - sample) <= bound)
        }
    }
}
