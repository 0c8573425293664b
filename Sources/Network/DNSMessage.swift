import Primitives
import SIP

/// A name server's response in the parts that server location needs (RFC 1035 §4, RFC 2782, RFC 3403).
struct DNSMessage: Equatable {
    /// So many records are used (T12).
    static let recordLimit = 32
    /// So many aliases are followed.
    private static let aliasLimit = 8

    enum Failure: Error { case malformed }

    /// What the question asked for, aliases followed; empty if the name or the type does not exist.
    var records: [DNSRecord]
    /// The least time to live of what was used, seconds; for an empty answer the SOA's negative one; nil if none
    /// is given.
    var timeToLive: UInt32?

    private enum Body {
        case alias(String)
        case record(DNSRecord)
    }

    init(parsing octets: [UInt8], for question: DNSQuestion) throws(Failure) {
        var reader = Reader(octets: octets)
        _ = try reader.number(4)
        let questions = try reader.number(2)
        let answers = try reader.number(2)
        let authorities = try reader.number(2)
        _ = try reader.number(2)
        var name = ""
        for index in 0..<questions {
            let asked = try reader.name()
            if index == 0 { name = asked }
            _ = try reader.number(4)
        }
        // The question of the response counts: a search list may have made the name longer.
        if questions == 0 { name = question.name.lowercased() }
        var found: [(owner: String, timeToLive: UInt32, body: Body)] = []
        for _ in 0..<answers {
            let owner = try reader.name()
            let header = try reader.recordHeader()
            if let body = try reader.body(header, for: question.kind) {
                found.append((owner, header.timeToLive, body))
            }
            reader.index = header.end
        }
        records = []
        for _ in 0...Self.aliasLimit {
            var next: String?
            for entry in found where entry.owner == name {
                switch entry.body {
                case .alias(let target): next = target
                case .record(let record):
                    guard records.count < Self.recordLimit, !records.contains(record) else { continue }
                    records.append(record)
                }
                timeToLive = min(timeToLive ?? .max, entry.timeToLive)
            }
            guard records.isEmpty, let next else { break }
            name = next
        }
        if records.isEmpty { timeToLive = try Self.negativeTimeToLive(&reader, authorities) }
    }

    /// RFC 2308 §5: the lesser of the SOA record's own time to live and its MINIMUM field.
    private static func negativeTimeToLive(_ reader: inout Reader, _ authorities: Int) throws(Failure) -> UInt32? {
        for _ in 0..<authorities {
            _ = try reader.name()
            let header = try reader.recordHeader()
            if header.type == 6, header.end - reader.index >= 20 {
                reader.index = header.end - 4
                return min(header.timeToLive, UInt32(truncatingIfNeeded: try reader.number(4)))
            }
            reader.index = header.end
        }
        return nil
    }

    private struct RecordHeader {
        let type: Int
        let timeToLive: UInt32
        let end: Int
    }

    private struct Reader {
        let octets: [UInt8]
        var index = 0

        /// Up to four octets as one number.
        mutating func number(_ count: Int) throws(Failure) -> Int {
            guard index + count <= octets.count else { throw .malformed }
            defer { index += count }
            return octets[index..<(index + count)].reduce(0) { $0 << 8 | Int($1) }
        }

        mutating func text() throws(Failure) -> String {
            let count = try number(1)
            guard index + count <= octets.count else { throw .malformed }
            defer { index += count }
            return String(decoding: octets[index..<(index + count)], as: UTF8.self)
        }

        /// A domain name in lower case without its last dot. Compression only ever leads backwards.
        mutating func name() throws(Failure) -> String {
            var labels: [UInt8] = []
            var at = index
            var end: Int?
            while true {
                guard at < octets.count else { throw .malformed }
                let length = Int(octets[at])
                if length == 0 {
                    index = end ?? at + 1
                    return String(decoding: labels, as: UTF8.self)
                }
                if length & 0xC0 == 0xC0 {
                    guard at + 1 < octets.count else { throw .malformed }
                    let target = (length & 0x3F) << 8 | Int(octets[at + 1])
                    guard target < at else { throw .malformed }
                    end = end ?? at + 2
                    at = target
                    continue
                }
                guard length < 64, at + length < octets.count, labels.count + length < 255 else { throw .malformed }
                if !labels.isEmpty { labels.append(0x2E) }
                labels += octets[(at + 1)...(at + length)].map(\.lowercased)
                at += length + 1
            }
        }

        mutating func recordHeader() throws(Failure) -> RecordHeader {
            let type = try number(2)
            let isInternet = try number(2) == 1
            let timeToLive = try number(4)
            let length = try number(2)
            guard index + length <= octets.count else { throw .malformed }
            return RecordHeader(
                type: isInternet ? type : 0,
                // RFC 2181 §8: a value with the top bit set means zero.
                timeToLive: timeToLive > Int(Int32.max) ? 0 : UInt32(truncatingIfNeeded: timeToLive),
                end: index + length)
        }

        /// Nil for a record of another type.
        mutating func body(_ header: RecordHeader, for kind: DNSQuestion.Kind) throws(Failure) -> Body? {
            switch (header.type, kind) {
            case (5, _): return .alias(try name())
            case (1, .a), (28, .aaaa):
                guard let address = IPAddress(octets: octets[index..<header.end]),
                    header.end - index == (kind == .a ? 4 : 16)
                else { throw .malformed }
                return .record(.address(address))
            case (33, .srv):
                let (priority, weight, port) = (try number(2), try number(2), try number(2))
                return .record(
                    .service(
                        priority: UInt16(truncatingIfNeeded: priority), weight: UInt16(truncatingIfNeeded: weight),
                        port: UInt16(truncatingIfNeeded: port), target: try name()))
            case (35, .naptr):
                let (order, preference) = (try number(2), try number(2))
                let (flags, service) = (try text(), try text())
                _ = try text()
                return .record(
                    .naming(
                        order: UInt16(truncatingIfNeeded: order), preference: UInt16(truncatingIfNeeded: preference),
                        flags: flags, service: service, replacement: try name()))
            default: return nil
            }
        }
    }
}
