import CALSA
import CLinux

/// Why a device or a sound cannot be used.
package enum AudioError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A device: its name in the configuration, what was tried, the kernel's error number.
    case device(String, action: String, number: Int32)
    /// A sound file or recording: its path and the reason in words.
    case file(String, reason: String)
    /// The memory for a codec or resampler is not there, or the library refuses the parameters.
    case library(String)

    /// Another program, or another use of ours, holds the device: worth another try soon.
    package var isBusy: Bool {
        if case .device(_, _, EBUSY) = self { true } else { false }
    }

    /// What went wrong, without the thing that it went wrong with: `open: No such device`.
    package var cause: String {
        switch self {
        case .device(_, let action, let number): "\(action): \(String(cString: snd_strerror(-number)))"
        case .file(_, let reason): reason
        case .library(let what): what
        }
    }

    /// `audio hw:1,0: open: No such device`
    package var description: String {
        switch self {
        case .device(let name, _, _): "audio \(name): \(cause)"
        case .file(let path, _): "sound file \(path): \(cause)"
        case .library: "audio: \(cause)"
        }
    }
}
