import CLinux
import EventLoop
import Primitives
import SIP

/// The addresses of `/etc/hosts`, read again when the file changes.
final class HostsFile {
    /// Names in the file beyond this are not looked at.
    private static let limit = 4096

    private let path: String
    private var stamp: FileStamp?
    private var addresses: [String: [IPAddress]] = [:]

    init(path: String) { self.path = path }

    /// The records for an A or AAAA question about a name that the file has; nil if it does not, or the question is
    /// another. A name that has addresses of the other family alone gives an empty list.
    func records(_ question: DNSQuestion) -> [DNSRecord]? {
        guard question.kind == .a || question.kind == .aaaa else { return nil }
        refresh()
        guard let addresses = addresses[question.name.lowercased()] else { return nil }
        return addresses.filter { $0.isV6 == (question.kind == .aaaa) }.map { .address($0) }
    }

    private func refresh() {
        let stamp = FileStamp(path)
        if stamp == self.stamp { return }
        self.stamp = stamp
        addresses = stamp == nil ? [:] : Self.parse((try? SmallFile.read(path)) ?? [])
    }

    /// Lines of an address and names; `#` begins a comment.
    static func parse(_ octets: [UInt8]) -> [String: [IPAddress]] {
        var addresses: [String: [IPAddress]] = [:]
        for line in octets.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let words = line.prefix { $0 != 0x23 }.split { $0 == 0x20 || $0 == 0x09 }
            guard let first = words.first, let address = IPAddress(String(decoding: first, as: UTF8.self)) else {
                continue
            }
            for word in words.dropFirst() {
                let name = String(decoding: word.map(\.lowercased), as: UTF8.self)
                guard addresses.count < limit || addresses[name] != nil else { continue }
                if addresses[name, default: []].contains(address) { continue }
                addresses[name, default: []].append(address)
            }
        }
        return addresses
    }
}
