import CLinux
import EventLoop
import Primitives

/// The datagrams that wait at a socket, taken in one system call into storage made once.
final class Datagrams {
    private let batch: OpaquePointer

    init?() {
        guard let batch = portero_batch_new() else { return nil }
        self.batch = batch
    }

    deinit { portero_batch_free(batch) }

    /// Hands each waiting datagram over: its octets, its source, and when the kernel took it in, on the loop's clock.
    func receive(
        from descriptor: Int32, now: Instant, _ body: (UnsafeRawBufferPointer, SocketAddress, Instant) -> Void
    ) {
        var wall: Int64?
        // A flood is left to the kernel's buffer after a few batches.
        for _ in 0..<4 {
            let count = portero_batch_receive(batch, descriptor)
            for index in 0..<count {
                guard let datagram = portero_batch_datagram(batch, index) else { continue }
                let length = Int(datagram.pointee.length)
                if length == 0 || datagram.pointee.version == 0 { continue }
                let address =
                    datagram.pointee.version == 4
                    ? IPAddress.v4(UInt32(truncatingIfNeeded: datagram.pointee.low))
                    : IPAddress.v6(
                        high: datagram.pointee.high, low: datagram.pointee.low, zone: datagram.pointee.zone)
                // The kernel stamps by the time of day; what has passed since is the same on any clock.
                let stamp = datagram.pointee.arrival
                let present = wall ?? Clock.wallNanoseconds
                wall = present
                let age = stamp == 0 ? 0 : min(1_000_000_000, max(0, present - stamp))
                // The octets stand first in the structure.
                body(
                    UnsafeRawBufferPointer(start: datagram, count: length),
                    SocketAddress(address, datagram.pointee.port), Instant(nanoseconds: now.nanoseconds - age))
            }
            if count < Int(PORTERO_BATCH) { return }
        }
    }
}
