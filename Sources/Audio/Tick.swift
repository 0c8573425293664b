/// The engine's unit of work: ten milliseconds of sound, whatever the sample rate.
package enum Tick {
    package static let duration: Duration = .milliseconds(10)
    package static let nanoseconds: Int64 = 10_000_000

    /// Samples of one tick.
    package static func samples(rateHertz: Int) -> Int { rateHertz / 100 }
}
