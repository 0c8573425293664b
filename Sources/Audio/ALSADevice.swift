import CALSA
import CLinux
import Primitives

/// An open ALSA PCM, configured, with the way between its samples and mono ones.
final class ALSADevice {
    let name: String
    let pcm: OpaquePointer
    let format: portero_alsa_format
    /// Interleaved frames on their way to or from the card, 16 or 32 bits.
    private let frames: UnsafeMutableRawPointer
    private let frameRoom: Int
    /// Recoveries since frames last moved.
    private var futileRecoveries = 0
    private(set) var xruns = 0

    /// Recoveries without a frame between them that make a device lost.
    private static let futileLimit = 20
    /// Least time that the card's buffer holds: a stall of the machine so long is survived.
    private static let bufferTicks = 8

    init(_ name: String, _ stream: snd_pcm_stream_t, _ wish: DeviceFormat) throws(AudioError) {
        portero_alsa_quiet()
        var opened: OpaquePointer?
        let result = snd_pcm_open(&opened, name, stream, Int32(SND_PCM_NONBLOCK))
        guard result >= 0, let pcm = opened else {
            throw .device(name, action: "open", number: -result)
        }
        var format = portero_alsa_format()
        format.rate = UInt32(clamping: wish.cardRateHertz)
        let milliseconds = max(1, Int(clamping: wish.period.nanoseconds / 1_000_000))
        format.period = UInt(max(16, wish.cardRateHertz * milliseconds / 1000))
        format.buffer = UInt(wish.cardRateHertz / 100 * Self.bufferTicks)
        let error = portero_alsa_configure(pcm, &format)
        guard error >= 0, format.rate > 0, format.channels > 0, format.period > 0, format.buffer > 0 else {
            snd_pcm_close(pcm)
            throw .device(name, action: "set up", number: error < 0 ? -error : EINVAL)
        }
        self.name = name
        self.pcm = pcm
        self.format = format
        frameRoom = Int(format.buffer)
        frames = .allocate(byteCount: frameRoom * Int(format.channels) * 4, alignment: 16)
    }

    deinit {
        snd_pcm_drop(pcm)
        snd_pcm_close(pcm)
        frames.deallocate()
    }

    var rateHertz: Int { Int(format.rate) }
    var bufferFrames: Int { Int(format.buffer) }
    var periodFrames: Int { Int(format.period) }

    /// Frames that can be written or read now; negative: an error number.
    func available() -> Int { Int(snd_pcm_avail_update(pcm)) }

    /// Brings the device back after an error of any call.
    /// - Returns: nil if it works again (prepared, not started), else why it is lost.
    func recover(from error: Int) -> Int32? {
        let number = Int32(truncatingIfNeeded: -error)
        futileRecoveries += 1
        if futileRecoveries > Self.futileLimit { return number }
        switch number {
        case EPIPE:
            xruns += 1
        case ESTRPIPE:
            // Not resumable cards are prepared anew like after an xrun.
            if snd_pcm_resume(pcm) == 0 { return nil }
        case EINTR, EAGAIN: return nil
        default: return number
        }
        let prepared = snd_pcm_prepare(pcm)
        return prepared < 0 ? -prepared : nil
    }

    /// Writes mono samples to all channels.
    /// - Returns: frames written, or a negative error number.
    func write(_ samples: UnsafeBufferPointer<Int16>) -> Int {
        let count = min(samples.count, frameRoom)
        let channels = Int(format.channels)
        if format.wide != 0 {
            let wide = frames.assumingMemoryBound(to: Int32.self)
            for index in 0..<count {
                for channel in 0..<channels { wide[index * channels + channel] = Int32(samples[index]) << 16 }
            }
        } else {
            let narrow = frames.assumingMemoryBound(to: Int16.self)
            for index in 0..<count {
                for channel in 0..<channels { narrow[index * channels + channel] = samples[index] }
            }
        }
        let written = Int(snd_pcm_writei(pcm, frames, snd_pcm_uframes_t(count)))
        if written > 0 { futileRecoveries = 0 }
        return written == -Int(EAGAIN) ? 0 : written
    }

    /// Reads up to `samples.count` frames as the mean of their channels.
    /// - Returns: frames read, or a negative error number.
    func read(into samples: UnsafeMutableBufferPointer<Int16>) -> Int {
        let channels = Int(format.channels)
        let count = Int(snd_pcm_readi(pcm, frames, snd_pcm_uframes_t(min(samples.count, frameRoom))))
        if count <= 0 { return count == -Int(EAGAIN) ? 0 : count }
        futileRecoveries = 0
        let divisor = Int64(channels)
        if format.wide != 0 {
            let wide = frames.assumingMemoryBound(to: Int32.self)
            for index in 0..<count {
                var sum: Int64 = 0
                for channel in 0..<channels { sum += Int64(wide[index * channels + channel] >> 16) }
                samples[index] = Int16(truncatingIfNeeded: sum / divisor)
            }
        } else {
            let narrow = frames.assumingMemoryBound(to: Int16.self)
            for index in 0..<count {
                var sum: Int64 = 0
                for channel in 0..<channels { sum += Int64(narrow[index * channels + channel]) }
                samples[index] = Int16(truncatingIfNeeded: sum / divisor)
            }
        }
        return count
    }
}
