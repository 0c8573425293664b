import Appliance
import Primitives
import Testing

@Suite("SEC8: certificates that end") struct CertificateDatesTests {
    private func day(_ number: Int64) -> UTCTime { UTCTime(milliseconds: number * 86_400_000) }

    @Test func fourteenDaysBeforeTheEndItIsAFault() {
        var dates = CertificateDates()
        dates.learned("tls pbx.example.org", ends: day(100))
        #expect(dates.verdicts(at: day(86)).map(\.message) == [nil])
        let soon = dates.verdicts(at: UTCTime(milliseconds: day(86).milliseconds + 1))
        #expect(soon.map(\.message) == ["the certificate ends on 1970-04-11"])
        #expect(dates.verdicts(at: day(101)).map(\.message) == ["the certificate ended on 1970-04-11"])
        dates.learned("tls pbx.example.org", ends: day(200))
        #expect(dates.verdicts(at: day(101)).map(\.message) == [nil])
    }

    @Test func whatIsGoneIsForgottenAndTheTableIsBounded() {
        var dates = CertificateDates()
        for number in 0...CertificateDates.limit { dates.learned("tls \(number)", ends: day(1)) }
        #expect(dates.verdicts(at: day(0)).count == CertificateDates.limit)
        dates.keep { $0 == "tls 7" }
        #expect(dates.verdicts(at: day(0)).map(\.what) == ["tls 7"])
    }
}
