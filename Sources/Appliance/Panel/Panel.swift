internal import Configuration
internal import EventLoop
internal import GPIO
internal import Intercom
internal import Primitives

/// The lines of buttons, LEDs and relays, by the configuration's names.
final class Panel {
    private struct Input {
        var settings: ButtonSettings
        var line: InputLine
    }

    private struct Output {
        var reference: LineReference
        var active: ActiveLevel
        var line: OutputLine
    }

    private unowned let appliance: Appliance
    let lines: Lines
    private var buttons: [String: Input] = [:]
    private var lights: [String: Output] = [:]
    private var relays: [String: Output] = [:]

    init(_ appliance: Appliance) throws(SystemError) {
        self.appliance = appliance
        lines = try Lines(on: appliance.loop)
    }

    /// Opens what is new, closes what is gone, leaves alone what did not change. Outputs are taken at their resting
    /// level in one step.
    func open(_ configuration: Configuration) {
        // Relays first: until its line is ours nobody holds it at rest.
        relays = outputs(
            relays, configuration.doors.map { ($0.name, $0.relay, $0.active) }, kind: "door")
        lights = outputs(lights, configuration.leds.map { ($0.name, $0.line, $0.active) }, kind: "led")
        var inputs: [String: Input] = [:]
        for settings in configuration.buttons {
            if let known = buttons[settings.name], known.settings.line == settings.line,
                known.settings.bias == settings.bias, known.settings.active == settings.active
            {
                inputs[settings.name] = known
            } else {
                clear("button \(settings.name)")
                buttons[settings.name] = nil
                inputs[settings.name] = Input(settings: settings, line: input(settings))
            }
        }
        for name in buttons.keys where inputs[name] == nil { clear("button \(name)") }
        buttons = inputs
    }

    func light(_ name: String, _ lit: Bool) { lights[name].map { $0.line.set(lit == ($0.active == .high)) } }

    func relay(_ door: String, _ on: Bool) { relays[door].map { $0.line.set(on == ($0.active == .high)) } }

    /// Everything to its resting level; the lines are given back.
    func rest() {
        for output in Array(relays.values) + Array(lights.values) { output.line.set(output.active == .low) }
        relays = [:]
        lights = [:]
        buttons = [:]
    }

    private func input(_ settings: ButtonSettings) -> InputLine {
        let name = settings.name
        return lines.input(
            LineName(settings.line), bias: Bias(settings.bias), rest: settings.active == .low
        ) { [weak self] event in
            guard let appliance = self?.appliance else { return }
            switch event {
            case .opened(let level, let time):
                appliance.clear("button \(name)")
                appliance.take(.intercom(.level(button: name, high: level, at: time)))
            case .edge(let level, let time):
                appliance.take(.intercom(.level(button: name, high: level, at: time)))
            case .fault(let fault): appliance.raise("button \(name)", "line \(settings.line): \(fault)")
            }
        }
    }

    private func outputs(
        _ known: [String: Output], _ wanted: [(name: String, line: LineReference, active: ActiveLevel)], kind: String
    ) -> [String: Output] {
        var outputs: [String: Output] = [:]
        for (name, reference, active) in wanted {
            let what = "\(kind) \(name)"
            if let output = known[name], output.reference == reference, output.active == active {
                outputs[name] = output
                continue
            }
            known[name].map { $0.line.set($0.active == .low) }
            clear(what)
            let line = lines.output(LineName(reference), level: active == .low) { [weak self] event in
                switch event {
                case .opened: self?.clear(what)
                case .fault(let fault): self?.appliance.raise(what, "line \(reference): \(fault)")
                }
            }
            outputs[name] = Output(reference: reference, active: active, line: line)
        }
        for (name, output) in known where outputs[name] == nil {
            output.line.set(output.active == .low)
            clear("\(kind) \(name)")
        }
        return outputs
    }

    private func clear(_ what: String) { appliance.clear(what) }
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
