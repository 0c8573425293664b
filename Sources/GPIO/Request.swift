import CGPIO
import EventLoop
import Glibc

/// Owns a line that was taken from the kernel.
struct Request: ~Copyable {
    private let pointer: OpaquePointer

    static func input(_ line: LineDescription, bias: Bias) throws(LineFault) -> Request {
        let native =
            switch bias {
            case .asIs: PORTERO_GPIO_BIAS_AS_IS
            case .disabled: PORTERO_GPIO_BIAS_DISABLED
            case .pullUp: PORTERO_GPIO_BIAS_PULL_UP
            case .pullDown: PORTERO_GPIO_BIAS_PULL_DOWN
            }
        return try Request(portero_gpio_request_input(line.path, line.offset, native), line)
    }

    static func output(_ line: LineDescription, level: Bool) throws(LineFault) -> Request {
        try Request(portero_gpio_request_output(line.path, line.offset, level ? 1 : 0), line)
    }

    private init(_ pointer: OpaquePointer?, _ line: LineDescription) throws(LineFault) {
        let number = errno
        guard let pointer else {
            switch number {
            case EBUSY: throw .busy(consumer: line.consumer)
            case ENODEV, ENXIO, ENOENT: throw .gone
            case EACCES, EPERM: throw .notPermitted(line.path)
            default: throw .other(SystemError.text(number))
            }
        }
        self.pointer = pointer
    }

    deinit { portero_gpio_release(pointer) }

    /// Readable while edges wait; of inputs alone.
    var descriptor: Int32 { portero_gpio_descriptor(pointer) }

    /// Nil if the chip is gone.
    func level() -> Bool? {
        let level = portero_gpio_get(pointer)
        return level < 0 ? nil : level != 0
    }

    /// False if the chip is gone.
    func set(_ level: Bool) -> Bool { portero_gpio_set(pointer, level ? 1 : 0) == 0 }

    /// The edges that wait: time stamps of `CLOCK_MONOTONIC` in nanoseconds, and the level after each. Nil if the chip
    /// is gone.
    func edges() -> (edges: [(nanoseconds: Int64, level: Bool)], areSomeLost: Bool)? {
        var lost: Int32 = 0
        var batch = [portero_gpio_edge](repeating: portero_gpio_edge(), count: Int(portero_gpio_batch))
        let count = portero_gpio_read(pointer, &batch, &lost)
        if count < 0 && errno != EAGAIN && errno != EINTR { return nil }
        return (batch.prefix(max(0, Int(count))).map { ($0.nanoseconds, $0.level != 0) }, lost != 0)
    }
}
