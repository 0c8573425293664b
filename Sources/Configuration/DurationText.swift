import Primitives

extension Duration {
    /// Nanoseconds of each unit, by the names that systemd.time(7) gives it; the first name is written.
    private static let units: [(names: [String], nanoseconds: Int64)] = [
        (["w", "week", "weeks"], 604_800_000_000_000),
        (["d", "day", "days"], 86_400_000_000_000),
        (["h", "hr", "hour", "hours"], 3_600_000_000_000),
        (["min", "m", "minute", "minutes"], 60_000_000_000),
        (["s", "sec", "second", "seconds"], 1_000_000_000),
        (["ms", "msec"], 1_000_000),
        (["us", "usec", "µs", "μs"], 1000),
        (["ns", "nsec"], 1),
    ]

    /// The shortest exact text in one unit: `250ms`, `90s`, `1h`; `0s`.
    package var unitText: String {
        let total = nanoseconds
        for unit in Self.units where total != 0 && total % unit.nanoseconds == 0 {
            return "\(total / unit.nanoseconds)\(unit.names[0])"
        }
        return "0s"
    }

    /// Reads a duration as systemd does: `250ms`, `1.5s`, `1h 30min`; a bare number is seconds. Nil for anything else,
    /// and for more than 292 years.
    package init?(unitText text: some StringProtocol) {
        let octets = Array(text.utf8)
        var total: Int64 = 0
        var index = 0
        func skipBlanks() {
            while index < octets.count, octets[index].isBlank { index += 1 }
        }
        func take(while condition: (UInt8) -> Bool) -> [UInt8] {
            let start = index
            while index < octets.count, condition(octets[index]) { index += 1 }
            return Array(octets[start..<index])
        }
        skipBlanks()
        guard index < octets.count else { return nil }
        while index < octets.count {
            let whole = take(while: \.isDigit)
            var fraction: [UInt8] = []
            if index < octets.count, octets[index] == UInt8(ascii: ".") {
                index += 1
                fraction = take(while: \.isDigit)
                guard !fraction.isEmpty else { return nil }
            }
            guard !whole.isEmpty, fraction.count <= 9 else { return nil }
            skipBlanks()
            let name = String(octets: take { !$0.isDigit && !$0.isBlank && $0 != UInt8(ascii: ".") })
            skipBlanks()
            guard let scale = name.isEmpty ? 1_000_000_000 : Self.units.first(where: { $0.names.contains(name) })?.1,
                let number = Int64(String(octets: whole))
            else { return nil }
            var part = number.multipliedReportingOverflow(by: scale)
            guard !part.overflow else { return nil }
            var place = scale
            for digit in fraction {
                place /= 10
                part = part.partialValue.addingReportingOverflow(Int64(digit - 0x30) * place)
                guard !part.overflow else { return nil }
            }
            let sum = total.addingReportingOverflow(part.partialValue)
            guard !sum.overflow else { return nil }
            total = sum.partialValue
        }
        self = .nanoseconds(total)
    }
}
