internal import EventLoop
internal import GPIO

/// Drives every output that a configuration names to its resting level (`portero rest`, for `ExecStopPost=`): without an
/// appliance, and without anything else of the configuration mattering.
package enum Rest {
    /// - Returns: what could not be done, a line each.
    package static func outputs(configurationPath path: String) -> [String] {
        // The file may have been broken since the start; what ran is the last good one then.
        let choice = StartChoice(path: path)
        guard let configuration = choice.configuration else { return choice.faults }
        var problems: [String] = []
        do throws(SystemError) {
            let lines = try Lines(on: EventLoop())
            let outputs =
                configuration.doors.flatMap { door in door.outputs.map { ("door \(door.name)", $0.line, $0.active) } }
                + configuration.leds.map { ("led \($0.name)", $0.line, $0.active) }
            for (what, reference, active) in outputs {
                let output = lines.output(LineName(reference), level: active == .low) { _ in }
                if let fault = output.fault { problems.append("\(what): line \(reference): \(fault)") }
            }
        } catch {
            problems.append("\(error)")
        }
        return problems
    }
}
