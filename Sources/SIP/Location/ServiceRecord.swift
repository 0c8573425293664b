import Primitives

/// An SRV record (RFC 2782).
struct ServiceRecord {
    var priority: UInt16
    var weight: UInt16
    var port: UInt16
    /// Without the trailing dot; `.` alone means that the service is not offered.
    var target: String

    /// nil for a record of another type.
    init?(_ record: DNSRecord) {
        guard case .service(let priority, let weight, let port, let target) = record else { return nil }
        self.priority = priority
        self.weight = weight
        self.port = port
        self.target = target.count > 1 && target.hasSuffix(".") ? String(target.dropLast()) : target
    }

    /// By priority; within one, drawn in proportion to the weights, those without weight having a small chance.
    static func ordered(_ records: [ServiceRecord], random: inout Randomness) -> [ServiceRecord] {
        var result: [ServiceRecord] = []
        for priority in Set(records.map(\.priority)).sorted() {
            var left = records.filter { $0.priority == priority }.sorted { $0.weight < $1.weight }
            while !left.isEmpty {
                let total = left.reduce(0) { $0 + Int($1.weight) }
                var drawn = Int.random(in: 0...total, using: &random)
                var index = 0
                while index < left.count - 1, drawn > Int(left[index].weight) {
                    drawn -= Int(left[index].weight)
                    index += 1
                }
                result.append(left.remove(at: index))
            }
        }
        return result
    }
}
