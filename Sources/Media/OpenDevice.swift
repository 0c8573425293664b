import Audio
import Primitives

/// A device that was opened on the helper thread or comes back from the media thread: one owner at a time.
enum OpenDevice: Sendable {
    case playback(Handed<OpenPlayback>)
    case capture(Handed<OpenCapture>)

    /// Closes it; that may take a while.
    func close() {
        switch self {
        case .playback(let device): device.reference.release()
        case .capture(let device): device.reference.release()
        }
    }
}

/// An object on its way from one thread to another: whoever holds this holds the only reference.
struct Handed<Object: AnyObject>: @unchecked Sendable {
    let reference: Unmanaged<Object>
    init(_ object: Object) { reference = .passRetained(object) }
    init(_ reference: Unmanaged<Object>) { self.reference = reference }
}

extension DeviceUse {
    var format: DeviceFormat { DeviceFormat(rateHertz: rate, cardRateHertz: cardRate ?? rate, period: period) }
}
