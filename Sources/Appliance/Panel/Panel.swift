internal import Configuration
internal import EventLoop
internal import GPIO
internal import Intercom
internal import Primitives

/// The lines of buttons, doors and LEDs, by the configuration's names.
final class Panel {
    private struct Input {
        var settings: InputSettings
        var line: InputLine
    }

    private struct InputSettings: Equatable {
        var line: LineReference
        var active: ActiveLevel
        var bias: LineBias
    }

    /// An output, by what it is for.
    private enum OutputName: Hashable, CustomStringConvertible {
        case relay(door: String, RelayRole)
        case light(String)

        /// As faults name it.
        var description: String {
            switch self {
            case .relay(let door, .relay): "door \(door)"
            case .relay(let door, .opener): "door \(door) opener"
            case .light(let name): "led \(name)"
            }
        }
    }

    private struct Output {
        var reference: LineReference
        var active: ActiveLevel
        var line: OutputLine

        func set(_ on: Bool) { line.set(on == (active == .high)) }
    }

    private unowned let appliance: Appliance
    let lines: Lines
    private var inputs: [InputName: Input] = [:]
    private var outputs: [OutputName: Output] = [:]

    init(_ appliance: Appliance) throws(SystemError) {
        self.appliance = appliance
        lines = try Lines(on: appliance.loop)
    }

    /// Opens what is new, closes what is gone, leaves alone what did not change. Outputs are taken at their resting
    /// level in one step.
    func open(_ configuration: Configuration) {
        var wanted: [(name: OutputName, line: LineReference, active: ActiveLevel, limit: Duration?)] = []
        // Relays first: until its line is ours nobody holds it at rest.
        for door in configuration.doors {
            for output in door.outputs {
                let role: RelayRole = output.key == "opener" ? .opener : .relay
                wanted.append((.relay(door: door.name, role), output.line, output.active, door.onLimit))
            }
        }
        wanted += configuration.leds.map { (.light($0.name), $0.line, $0.active, nil) }
        // What is gone gives its line back first: another may have it now.
        let kept = Set(
            wanted.filter { outputs[$0.name]?.reference == $0.line && outputs[$0.name]?.active == $0.active }.map(
                \.name))
        for (name, output) in outputs where !kept.contains(name) {
            output.set(false)
            outputs[name] = nil
            appliance.clear("\(name)")
        }
        for (name, line, active, limit) in wanted {
            if kept.contains(name) {
                outputs[name]?.line.limit = limit
            } else {
                outputs[name] = Output(reference: line, active: active, line: output(name, line, active, limit))
            }
        }
        openInputs(configuration)
    }

    private func openInputs(_ configuration: Configuration) {
        var wanted: [InputName: InputSettings] = [:]
        for button in configuration.buttons {
            wanted[.button(button.name)] = InputSettings(line: button.line, active: button.active, bias: button.bias)
        }
        for door in configuration.doors {
            for input in door.inputs {
                let name: InputName =
                    switch input.key {
                    case "exit-button": .exitButton(door: door.name)
                    case "sensor": .sensor(door: door.name)
                    default: .tamper(door: door.name)
                    }
                wanted[name] = InputSettings(line: input.line, active: input.active, bias: input.bias)
            }
        }
        for (name, input) in inputs where wanted[name] != input.settings {
            inputs[name] = nil
            appliance.clear(name.fault)
        }
        for (name, settings) in wanted where inputs[name] == nil {
            inputs[name] = Input(settings: settings, line: input(name, settings))
        }
    }

    func light(_ name: String, _ lit: Bool) { outputs[.light(name)]?.set(lit) }

    func relay(_ door: String, _ role: RelayRole, _ on: Bool) { outputs[.relay(door: door, role)]?.set(on) }

    /// Everything to its resting level; the lines are given back.
    func rest() {
        for output in outputs.values { output.set(false) }
        outputs = [:]
        inputs = [:]
    }

    private func input(_ name: InputName, _ settings: InputSettings) -> InputLine {
        let what = name.fault
        return lines.input(
            LineName(settings.line), bias: Bias(settings.bias), rest: settings.active == .low
        ) { [weak self] event in
            guard let appliance = self?.appliance else { return }
            switch event {
            case .opened(let level, _):
                appliance.clear(what)
                appliance.take(.intercom(.opened(name, high: level)))
            case .edge(let level, let time): appliance.take(.intercom(.level(name, high: level, at: time)))
            case .fault(let fault): appliance.raise(what, "line \(settings.line): \(fault)")
            }
        }
    }

    private func output(
        _ name: OutputName, _ reference: LineReference, _ active: ActiveLevel, _ limit: Duration?
    ) -> OutputLine {
        lines.output(LineName(reference), level: active == .low, limit: limit) { [weak self] event in
            switch event {
            case .opened: self?.appliance.clear("\(name)")
            case .fault(let fault): self?.appliance.raise("\(name)", "line \(reference): \(fault)")
            case .limited:
                self?.appliance.journal.log(
                    .gpio, .notice, "\(name): brought to rest, energised for as long as it may be")
            }
        }
    }
}

extension InputName {
    /// What is wrong if its line is: not what the line tells.
    fileprivate var fault: String {
        switch self {
        case .button: description
        case .exitButton, .sensor, .tamper: "\(self) line"
        }
    }
}

extension LineName {
    init(_ reference: LineReference) {
        switch reference {
        case .named(let name): self = .named(name)
        case .chip(let label, let offset): self = .chip(label, offset: offset)
        case .simulated(let name): self = .simulated(name)
        }
    }
}

extension Bias {
    init(_ bias: LineBias) {
        switch bias {
        case .pullUp: self = .pullUp
        case .pullDown: self = .pullDown
        case .disabled: self = .disabled
        case .asIs: self = .asIs
        }
    }
}
