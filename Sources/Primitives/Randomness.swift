/// Random numbers handed into a core, so that a test can replay them from a seed. Copies draw from one sequence.
package struct Randomness: RandomNumberGenerator {
    private var generator: any RandomNumberGenerator

    package init(_ generator: any RandomNumberGenerator) { self.generator = generator }

    /// The kernel's generator.
    package static var system: Randomness { Randomness(SystemRandomNumberGenerator()) }

    /// The same sequence for the same seed, for tests.
    package static func seeded(_ seed: UInt64) -> Randomness { Randomness(SplitMix64(state: seed)) }

    package mutating func next() -> UInt64 { generator.next() }

    /// A source of its own for a part of a core: the kernel's generator again, of a seeded one another seed. Copies of
    /// a seeded source would say the same.
    package mutating func forked() -> Randomness {
        generator is SystemRandomNumberGenerator ? self : .seeded(next())
    }

    /// A token of letters and digits that carries at least `bits` random bits (branches, tags, Call-IDs: T5).
    package mutating func token(bits: Int) -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        var octets: [UInt8] = []
        while octets.count * 5 < bits {
            var word = next()
            for _ in 0..<12 where octets.count * 5 < bits {
                octets.append(alphabet[Int(word & 31)])
                word >>= 5
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// `count` random octets.
    package mutating func octets(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }

    /// A duration in the range, uniformly.
    package mutating func duration(in range: ClosedRange<Duration>) -> Duration {
        .nanoseconds(Int64.random(in: range.lowerBound.nanoseconds...range.upperBound.nanoseconds, using: &self))
    }
}

/// Steele, Lea and Flood's SplitMix64: small, fast, good enough for simulations.
private final class SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(state: UInt64) { self.state = state }

    func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
