package import Audio
package import Primitives

/// Names a call to the media engine.
package struct CallKey: Hashable, Sendable {
    package var number: Int
    package init(_ number: Int) { self.number = number }
}

/// What the media engine tells the appliance.
package enum MediaEvent: Equatable, Sendable {
    /// The far side has pressed a key; each press is told once. By ``DTMFPath/rtp`` or ``DTMFPath/inBand``.
    case digit(CallKey, DTMFSignal, by: DTMFPath)
    /// A device is open, after `lost`, `failed` or for the first time.
    case deviceOpened(DeviceRole, DeviceName)
    /// A device cannot be opened; it is tried again every second while it is needed. Told once until it is opened.
    case deviceFailed(DeviceRole, DeviceName, AudioError)
    /// A device went away while it was in use; calls go on in silence while it is tried again.
    case deviceLost(DeviceRole, DeviceName, AudioError)
    /// A ring sound cannot be used: the built-in ring sounds instead.
    case soundFailed(AudioError)
    /// A tone has come to its own end.
    case toneEnded(CallTone)
    /// A call's RTP comes from here now (SEC7).
    case sourceLatched(CallKey, SocketAddress)
}
