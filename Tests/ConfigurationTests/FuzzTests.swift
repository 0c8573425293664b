import Configuration
import Primitives
import Testing

@Suite struct FuzzTests {
    /// Whatever a file holds, reading ends, with faults or a value that its own text gives again.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func mutationsNeverTrap(_ seed: UInt64) {
        var random = Randomness.seeded(seed)
        let original = Array(sample.utf8)
        let lines = original.split(separator: 0x0A).map { Array($0) + [0x0A] }
        let words = [
            "\\\n", "\"", "=", "[", "]", "\u{0}", ",", "<", ">", " # ", "99999999999999999999", "-1", "é", "sip:", "@",
            "*",
            "[group night]\n", "via", "\r\n", "/", ":", "0", ".",
        ].map { Array($0.utf8) }
        for round in 0..<150 {
            var octets = original
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                guard let at = octets.indices.randomElement(using: &random) else { break }
                switch Int.random(in: 0..<6, using: &random) {
                case 0: octets[at] = UInt8.random(in: 0...255, using: &random)
                case 1: octets.remove(at: at)
                case 2: octets.insert(contentsOf: words.randomElement(using: &random) ?? [], at: at)
                case 3: octets.insert(contentsOf: lines.randomElement(using: &random) ?? [], at: at)
                case 4: octets.removeSubrange(at..<min(at + Int.random(in: 1...200, using: &random), octets.count))
                default: octets.truncate(to: at, unless: round % 10 != 0)
                }
            }
            let reading = Configuration.read(files: [
                ConfigurationFile(name: "fuzz", octets: octets, isProvisioned: round % 2 == 0)
            ])
            #expect((reading.configuration == nil) == !reading.faults.isEmpty, "seed \(seed), round \(round)")
            if let configuration = reading.configuration {
                let again = read(configuration.text)
                #expect(again.configuration == configuration, "seed \(seed), round \(round): \(again.faultTexts)")
                #expect(Configuration.difference(from: configuration, to: configuration).isEmpty)
            }
        }
    }

    /// Octets without any sense.
    @Test func noiseNeverTraps() {
        var random = Randomness.seeded(7)
        for _ in 0..<200 {
            let octets = random.octets(Int.random(in: 0...300, using: &random))
            let reading = Configuration.read(files: [ConfigurationFile(name: "noise", octets: octets)])
            #expect((reading.configuration == nil) == !reading.faults.isEmpty)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func truncate(to count: Int, unless keep: Bool) {
        if !keep { removeSubrange(count...) }
    }
}
