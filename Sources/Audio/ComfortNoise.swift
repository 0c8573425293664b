/// Soft noise for the pauses of a sender that leaves silence out (RFC 3389). The spectrum that a packet may describe is not
/// rendered: the noise is white with its treble taken off.
package struct ComfortNoise {
    private var state: UInt32 = 0x2545_F491
    private var smoothed: Float = 0
    private var amplitude: Float = 0

    package init() {}

    /// - Parameter level: first octet of a packet: how far below full scale, −dBov, 0…127. Louder than 30 is held there: noise
    ///   must never hurt.
    package mutating func set(level: UInt8) {
        var amplitude: Float = 32_768
        // −6.02 dB are a half; the rest of it linearly is near enough for noise.
        let decibels = Float(max(30, min(127, level)))
        for _ in 0..<Int(decibels / 6.02) { amplitude /= 2 }
        self.amplitude = amplitude
    }

    package mutating func stop() { amplitude = 0 }

    package mutating func fill(_ samples: UnsafeMutableBufferPointer<Int16>) {
        if amplitude == 0 { return samples.silence() }
        for index in samples.indices {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            let white = Float(Int32(bitPattern: state)) / 2_147_483_648
            smoothed += (white - smoothed) * 0.4
            samples[index] = Int16(smoothed * amplitude * 2)
        }
    }
}
