import EventLoop
import Glibc
import RTP

/// The end of what a `wav:` speaker has recorded, 16-bit mono, while it grows.
struct DemoRecording {
    /// Octets before the samples.
    private static let headerLength = 44
    /// Where the header says how many samples a second has.
    private static let rateOffset = 24

    let path: String
    /// Where listening begins: what was recorded before does not count.
    private var start = headerLength

    init(path: String) { self.path = path }

    /// Forgets what is recorded so far.
    mutating func listenAnew() {
        var status = stat()
        if stat(path, &status) == 0 { start = max(Self.headerLength, Int(status.st_size)) }
    }

    /// Amplitude of a tone in the last 200 ms, 0…1 of full scale; nil if less is recorded.
    func amplitude(hertz: Double) -> Double? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: Self.headerLength)
        guard pread(descriptor, &header, header.count, 0) == header.count else { return nil }
        let rate = header[Self.rateOffset..<(Self.rateOffset + 4)].reversed().reduce(0) { $0 << 8 | Int($1) }
        let length = rate / 5 * 2
        let end = Int(lseek(descriptor, 0, SEEK_END))
        var octets = [UInt8](repeating: 0, count: length)
        guard length > 0, end >= start + length,
            pread(descriptor, &octets, length, off_t(end - length)) == length
        else { return nil }
        let samples = stride(from: 0, to: length, by: 2).map {
            Int16(bitPattern: UInt16(octets[$0]) | UInt16(octets[$0 + 1]) << 8)
        }
        return ToneMeter(frequency: hertz, sampleRate: rate).amplitude(samples)
    }
}
