import CLinux
import Glibc

/// A speaker that writes a WAV file: 16-bit mono. The header is right after each write, so the file can be read while it grows.
package final class Recording: Playback {
    /// Samples in a second of the file, whatever the calls have.
    package static let rateHertz = 48_000

    /// Samples held back between two writes: a tenth of a second.
    private static let block = rateHertz / 10
    private static let headerLength = 44

    private let descriptor: Int32
    private let resampler: Resampler
    private let pending: SampleBuffer
    private var count = 0
    private var octets: Int

    package var isClocked: Bool { false }
    package var follows = true
    package var xruns: Int { 0 }
    package func nanoseconds(untilRoomFor ticks: Int) -> Int64 { 0 }

    /// - Parameters:
    ///   - rateHertz: the engine's rate.
    ///   - appending: go on behind what the file holds instead of emptying it.
    package init(path: String, rateHertz: Int, appending: Bool) throws(AudioError) {
        resampler = try Resampler(from: rateHertz, to: Self.rateHertz)
        pending = SampleBuffer(count: Self.block + Self.rateHertz / 10)
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | (appending ? 0 : O_TRUNC)
        descriptor = open(path, flags, 0o644)
        if descriptor < 0 { throw .device("wav:" + path, action: "open", number: errno) }
        octets = max(0, Int(lseek(descriptor, 0, SEEK_END)) - Self.headerLength)
        writeHeader()
    }

    deinit {
        flush()
        close(descriptor)
    }

    package func play(_ ticks: UnsafeMutableBufferPointer<Int16>) -> DeviceCondition {
        let rest = UnsafeMutableBufferPointer(rebasing: pending.samples[count...])
        count += resampler.process(UnsafeBufferPointer(ticks), into: rest).made
        return count >= Self.block ? flush() : .working
    }

    @discardableResult
    private func flush() -> DeviceCondition {
        let length = count * 2
        count = 0
        if length == 0 { return .working }
        let written = pwrite(descriptor, pending.samples.baseAddress, length, off_t(Self.headerLength + octets))
        if written < 0 { return .lost(errno) }
        octets += written
        writeHeader()
        return written == length ? .working : .lost(ENOSPC)
    }

    private func writeHeader() {
        withUnsafeTemporaryAllocation(byteCount: Self.headerLength, alignment: 4) { header in
            func text(_ word: StaticString, at place: Int) {
                header.baseAddress?.advanced(by: place).copyMemory(from: word.utf8Start, byteCount: 4)
            }
            func number(_ value: Int, at place: Int) {
                header.storeBytes(
                    of: UInt32(truncatingIfNeeded: value).littleEndian, toByteOffset: place, as: UInt32.self)
            }
            text("RIFF", at: 0)
            number(octets + Self.headerLength - 8, at: 4)
            text("WAVE", at: 8)
            text("fmt ", at: 12)
            number(16, at: 16)
            number(1 | 1 << 16, at: 20)  // PCM, one channel
            number(Self.rateHertz, at: 24)
            number(Self.rateHertz * 2, at: 28)
            number(2 | 16 << 16, at: 32)  // octets of a frame, bits of a sample
            text("data", at: 36)
            number(octets, at: 40)
            _ = pwrite(descriptor, header.baseAddress, Self.headerLength, 0)
        }
    }
}
