import Glibc

/// Measures two signals over tenths of a second.
package struct PowerMeter {
    private static let ticks = 10
    private var heard: Float = 0
    private var played: Float = 0
    private var count = 0

    /// Mean squares of the last whole tenth of a second, in sample units squared.
    package private(set) var heardPower: Float = 0
    package private(set) var playedPower: Float = 0

    package init() {}

    /// - Returns: true when a tenth of a second is full.
    package mutating func add(
        heard: UnsafeMutableBufferPointer<Int16>, played: UnsafeMutableBufferPointer<Int16>
    ) -> Bool {
        self.heard += power(heard)
        self.played += power(played)
        count += 1
        if count < Self.ticks { return false }
        heardPower = self.heard / Float(Self.ticks)
        playedPower = self.played / Float(Self.ticks)
        self.heard = 0
        self.played = 0
        count = 0
        return true
    }
}

/// A mean square as a level relative to a full-scale sine wave: 0 dB for it, −96 dB for silence.
package func decibels(power: Double) -> Double { 10 * log10(max(power / 536_870_912, 2.5e-10)) }
