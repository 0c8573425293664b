import Audio
import CLinux
import EventLoop
import Primitives
import Synchronization

/// Which device a message is about.
package enum DeviceRole: Int, CaseIterable, Sendable, BitwiseCopyable {
    case speaker, microphone, ringer
}

/// From the loop to the media thread. References are handed over.
enum Command: BitwiseCopyable {
    /// The engine's sample rate from now on; no device is attached, and no player goes on.
    case rate(Int)
    case attachPlayback(DeviceRole, Unmanaged<OpenPlayback>)
    case attachCapture(Unmanaged<OpenCapture>)
    case detach(DeviceRole)
    case startStream(Unmanaged<Stream>)
    case updateStream(Unmanaged<Stream>, Unmanaged<StreamPlan>)
    case stopStream(Unmanaged<Stream>)
    case digit(Unmanaged<Stream>, UInt8, milliseconds: Int)
    case startTone(Unmanaged<TonePlayer>)
    case stopTone
    case startRing(Unmanaged<RingPlayer>)
    case stopRing
    case end
}

/// From the media thread to the loop. References come back to be freed there.
enum Report: BitwiseCopyable {
    case retiredPlayback(DeviceRole, Unmanaged<OpenPlayback>, lost: Int32)
    case retiredCapture(Unmanaged<OpenCapture>, lost: Int32)
    case retiredStream(Unmanaged<Stream>)
    case retiredPlan(Unmanaged<StreamPlan>)
    case retiredTone(Unmanaged<TonePlayer>, over: Bool)
    case retiredRing(Unmanaged<RingPlayer>)
    case digit(Int, UInt8, inBand: Bool)
    case latched(Int, portero_address)
    case ended
}

/// A playback device on its way between the threads.
final class OpenPlayback {
    let device: any Playback
    init(_ device: any Playback) { self.device = device }
}

/// A capture device on its way between the threads.
final class OpenCapture {
    let device: any Capture
    init(_ device: any Capture) { self.device = device }
}

/// What the loop and the media thread share.
final class MediaLink: Sendable {
    let commands = LockFreeRing<Command>(capacity: 1024)
    let reports = LockFreeRing<Report>(capacity: 4096)
    /// Rung by the loop: there are commands.
    let doorbell: FileDescriptor
    /// Rung by the media thread: there are reports.
    let wakeUp: WakeUp

    /// Counts the thread's turns while it works.
    let heartbeat = Atomic<UInt64>(0)
    /// Whether the thread has work, so that its heart must beat.
    let isBusy = Atomic<Bool>(false)
    /// Factors in units of 1/32768.
    let speakerGain = Atomic<Int32>(Gain.full.factor)
    let microphoneGain = Atomic<Int32>(Gain.full.factor)
    /// Xruns of all devices since the start.
    let xruns = Atomic<Int>(0)
    /// Power (mean square) of the last tenth of a second: what the speaker plays and the microphone hears.
    let speakerPower = Atomic<UInt32>(0)
    let microphonePower = Atomic<UInt32>(0)
    let halfDuplex = Atomic<Bool>(false)
    /// Rings sound on the speaker: it is the ringer too.
    let ringsOnSpeaker = Atomic<Bool>(false)
    /// The thread runs under a real-time policy.
    let isRealTime = Atomic<Bool>(false)

    init(wakeUp: WakeUp) throws(SystemError) {
        self.wakeUp = wakeUp
        doorbell = try FileDescriptor(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), "media thread", "eventfd")
    }

    func ring() { _ = eventfd_write(doorbell.number, 1) }
}
