package import Primitives

/// When the certificates end that connections were made with: they are faults before calls fail (SEC8).
package struct CertificateDates: Sendable {
    /// So long before its end a certificate is a fault.
    package static let notice = Duration.seconds(14 * 86_400)
    /// More are not remembered.
    package static let limit = 256

    /// By the operator's thing: `tls pbx.example.org`.
    private var ends: [String: UTCTime] = [:]

    package init() {}

    package mutating func learned(_ what: String, ends end: UTCTime) {
        guard ends.count < Self.limit || ends[what] != nil else { return }
        ends[what] = end
    }

    /// Forgets the things that are not there any more.
    package mutating func keep(_ isThere: (String) -> Bool) { ends = ends.filter { isThere($0.key) } }

    package var isEmpty: Bool { ends.isEmpty }

    /// What is to be said of each; nil: it has time.
    package func verdicts(at now: UTCTime) -> [(what: String, message: String?)] {
        ends.sorted { $0.key < $1.key }.map { (what, end) -> (what: String, message: String?) in
            let left = end.milliseconds - now.milliseconds
            guard left < Self.notice.nanoseconds / 1_000_000 else { return (what, nil) }
            let day = end.description.prefix(10)
            return (what, left > 0 ? "the certificate ends on \(day)" : "the certificate ended on \(day)")
        }
    }
}
