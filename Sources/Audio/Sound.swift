import CSndfile

/// A sound in memory, mono.
package final class Sound: Sendable {
    /// Samples in a second.
    package let rateHertz: Int
    package let samples: [Int16]

    /// No sound file is longer in memory: ten minutes.
    package static let longest: Duration = .seconds(600)

    package init(rateHertz: Int, samples: [Int16]) {
        self.rateHertz = rateHertz
        self.samples = samples
    }

    package var duration: Duration { .milliseconds(Int64(samples.count) * 1000 / Int64(max(1, rateHertz))) }

    /// Copies from a position on, silence behind the end.
    /// - Returns: how many samples of the sound were copied.
    package func copy(from position: Int, into tick: UnsafeMutableBufferPointer<Int16>) -> Int {
        samples.withUnsafeBufferPointer { samples in
            let count = max(0, min(tick.count, samples.count - position))
            for index in 0..<count { tick[index] = samples[position &+ index] }
            for index in count..<tick.count { tick[index] = 0 }
            return count
        }
    }

    /// Reads WAV, FLAC, Ogg Vorbis, Opus or AIFF; channels are averaged. Blocks on the disk: never on the media thread or the loop.
    /// - Throws: ``AudioError/file(_:reason:)`` in the library's words; also for an empty sound and one longer than ``longest``.
    package static func load(path: String) throws(AudioError) -> Sound {
        let file = portero_sound_open(path)
        guard file.handle != nil else { throw .file(path, reason: String(cString: file.failure)) }
        defer { portero_sound_close(file) }
        guard file.rate > 0, file.channels > 0, file.channels <= 16 else {
            throw .file(path, reason: "unusable sample rate or channel count")
        }
        let rate = Int(file.rate)
        let channels = Int(file.channels)
        let bound = Int(Self.longest.components.seconds) * rate
        var mono: [Int16] = []
        var block = [Int16](repeating: 0, count: 4096 * channels)
        while true {
            let frames = Int(block.withUnsafeMutableBufferPointer { portero_sound_read(file, $0.baseAddress, 4096) })
            if frames <= 0 { break }
            if mono.count + frames > bound { throw .file(path, reason: "longer than ten minutes") }
            for frame in 0..<frames {
                var sum: Int32 = 0
                for channel in 0..<channels { sum += Int32(block[frame * channels + channel]) }
                mono.append(Int16(truncatingIfNeeded: sum / Int32(channels)))
            }
        }
        if mono.isEmpty { throw .file(path, reason: "holds no sound") }
        return Sound(rateHertz: rate, samples: mono)
    }

    /// The same sound at another rate.
    package func resampled(to rate: Int) throws(AudioError) -> Sound {
        if rate == rateHertz { return self }
        let resampler = try Resampler(from: rateHertz, to: rate, isAligned: true)
        let padded = samples + [Int16](repeating: 0, count: rateHertz / 100)
        let length = samples.count * rate / rateHertz
        var output = [Int16](repeating: 0, count: Resampler.outputBound(padded.count, from: rateHertz, to: rate))
        let made = padded.withUnsafeBufferPointer { input in
            output.withUnsafeMutableBufferPointer { resampler.process(input, into: $0).made }
        }
        return Sound(rateHertz: rate, samples: Array(output.prefix(min(made, length))))
    }
}
