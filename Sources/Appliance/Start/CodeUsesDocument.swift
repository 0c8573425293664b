internal import API

/// How often codes have opened, by name, as a file: no digit stands in it.
enum CodeUsesDocument {
    static func write(_ uses: [String: Int]) -> [UInt8] {
        let members = uses.sorted { $0.key < $1.key }.map { JSON.Member(name: $0.key, value: .integer($0.value)) }
        return Array((JSON.object(members).text + "\n").utf8)
    }

    /// Empty if there is none.
    static func read(_ octets: [UInt8]?) -> [String: Int] {
        guard let octets, case .object(let members)? = try? JSON.parse(octets) else { return [:] }
        let uses = members.compactMap { member in member.value.integer.map { (member.name, max(0, $0)) } }
        return Dictionary(uses, uniquingKeysWith: max)
    }
}
