internal import CCurl

/// Asks a running appliance over its control socket. Blocks: for the command line, never for the loop.
package struct ControlClient {
    /// Path of the socket.
    package var socket: String

    package init(socket: String) { self.socket = socket }

    package enum Failure: Error, Equatable {
        /// No appliance serves the socket.
        case notRunning
        case failed(String)
    }

    /// Sends a request and waits for the whole answer, at most `seconds`.
    package func send(
        _ method: String, _ path: String, body: String?, seconds: Int = 60
    ) throws(Failure) -> (status: Int, body: [UInt8]) {
        var octets: [UInt8] = []
        let status = try exchange(method, path, body: body, seconds: seconds) { part in
            octets += part
            return true
        }
        return (status, octets)
    }

    /// Sends a request and hands over the answer's octets as they come, until the other side ends or `take` returns
    /// false.
    package func follow(_ path: String, _ take: @escaping (UnsafeRawBufferPointer) -> Bool) throws(Failure) {
        _ = try exchange("GET", path, body: nil, seconds: 0, take)
    }

    /// Octets of a Unix socket's path with the zero at its end.
    private static let pathLimit = 108

    private final class Receiver {
        let take: (UnsafeRawBufferPointer) -> Bool
        init(_ take: @escaping (UnsafeRawBufferPointer) -> Bool) { self.take = take }
    }

    private func exchange(
        _ method: String, _ path: String, body: String?, seconds: Int,
        _ take: @escaping (UnsafeRawBufferPointer) -> Bool
    ) throws(Failure) -> Int {
        guard socket.utf8.count < Self.pathLimit else { throw .failed("the socket's path is too long") }
        let receiver = Receiver(take)
        var status = 0
        var error = [CChar](repeating: 0, count: 256)
        let result = withExtendedLifetime(receiver) {
            portero_http_exchange(
                socket, method, path, body, seconds,
                { octets, count, context in
                    guard let context else { return 0 }
                    let receiver = Unmanaged<Receiver>.fromOpaque(context).takeUnretainedValue()
                    return receiver.take(UnsafeRawBufferPointer(start: octets, count: count)) ? 1 : 0
                }, Unmanaged.passUnretained(receiver).toOpaque(), &status, &error)
        }
        switch Int(result) {
        case PORTERO_HTTP_DONE, PORTERO_HTTP_ENDED: return status
        case PORTERO_HTTP_NOT_RUNNING: throw .notRunning
        default:
            let octets = error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw .failed(String(decoding: octets, as: UTF8.self))
        }
    }
}
