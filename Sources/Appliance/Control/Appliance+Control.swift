internal import API
internal import Audio
internal import Configuration
internal import EventLoop
internal import Intercom
internal import Primitives
internal import UserAgent

/// What people and programs ask for over the control socket, answered at once.
extension Appliance {
    func perform(_ request: ControlRequest) -> ControlResult {
        if isStopping, ![.status, .explain, .history].contains(request) {
            return .impossible("the appliance is stopping")
        }
        switch request {
        case .status: return .done(statusDocument)
        case .explain: return .done(explainDocument)
        case .history: return .done(historyDocument)
        case .press(let button, let time):
            guard configuration.buttons.contains(where: { $0.name == button }) else {
                return .unknown("no button named \(button)")
            }
            take(.intercom(.press(button: button, for: time ?? .milliseconds(100))))
            return .done(nil)
        case .dial(let target, let via, let headers): return dial(target, via, headers)
        case .call(let action, let id): return perform(action, id)
        case .open(let door): return ask(.open(door: door))
        case .speaker(let device):
            guard device.utf8.count <= Self.deviceNameLimit, let name = DeviceName(device) else {
                return .malformed("device: no such device: \(device.prefix(Self.deviceNameLimit))")
            }
            if callRecords.isEmpty { return .impossible("no call: the loudspeaker is switched during one") }
            setSpeaker(name)
            return .done(nil)
        case .volume(let control, let level):
            setVolume(control, level)
            return .done(nil)
        case .register(let account): return forAccount(account) { .register(account: $0) }
        case .unregister(let account): return forAccount(account) { .unregister(account: $0) }
        case .network(let state):
            override(state)
            return .done(nil)
        case .reload: return reload()
        case .log(let level, let domain): return setLog(level, domain)
        }
    }

    private func dial(_ target: String, _ via: String?, _ texts: [String]) -> ControlResult {
        let destination: DialTarget.Destination
        if configuration.contact(named: target) != nil || configuration.group(named: target) != nil {
            destination = .name(target)
        } else if let uri = DialTarget.uri(target) {
            destination = .uri(uri)
        } else {
            return .unknown("no contact or group named \(target)")
        }
        var headers: [HeaderField] = []
        for text in texts {
            guard let header = HeaderField(text) else {
                return .malformed("headers: expected 'Name: value' of a header that is free to set, found \(text)")
            }
            headers.append(header)
        }
        return ask(.dial(target: DialTarget(destination, via: via), headers: headers))
    }

    private func perform(_ action: CallAction, _ id: String?) -> ControlResult {
        var call: UserAgent.CallKey?
        if let id {
            guard let key = UserAgent.CallKey(id) else { return .unknown("no call \(id)") }
            call = key
        }
        switch action {
        case .answer: return ask(.answer(call))
        case .reject(let code): return ask(.reject(call, code: code ?? 486))
        case .hangup: return ask(.hangUp(call))
        case .hold: return ask(.hold(call))
        case .resume: return ask(.resume(call))
        case .mute(let on): return ask(.mute(call, on))
        case .transfer(let target): return ask(.transfer(call, to: target))
        case .dtmf(let digits):
            do throws(IntercomRefusal) {
                let call = try intercom.callForDigits(call)
                send(digits.uppercased().utf8.map { $0 }, in: call)
                return .done(nil)
            } catch {
                return answer(error)
            }
        }
    }

    /// Asks the door logic; what it says is carried out in this turn.
    private func ask(_ request: IntercomRequest) -> ControlResult {
        var out: [IntercomOutput] = []
        let result: ControlResult
        do throws(IntercomRefusal) {
            let call = try intercom.request(request, at: loop.now, &out)
            result = call.map { .created(.members(["id": .string($0.description)])) } ?? .done(nil)
        } catch {
            result = answer(error)
        }
        for output in out { perform(output) }
        take(.intercom(.deadlineReached))
        return result
    }

    private func answer(_ refusal: IntercomRefusal) -> ControlResult {
        switch refusal {
        case .unknown(let text): .unknown(text)
        case .impossible(let text): .impossible(text)
        }
    }

    private func forAccount(_ name: String?, _ input: (String?) -> UserAgentInput) -> ControlResult {
        if let name, configuration.account(named: name) == nil { return .unknown("no account named \(name)") }
        take(.agent(input(name)))
        return .done(nil)
    }

    /// Octets of a device's name.
    private static let deviceNameLimit = 256

    // MARK: Log

    private func setLog(_ level: String, _ domain: String?) -> ControlResult {
        guard let level = LogLevel(rawValue: level) else {
            return .malformed("level: expected \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        if let domain {
            guard let domain = LogDomain(rawValue: domain) else {
                return .malformed("domain: expected \(LogDomain.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            journal.set(level, for: domain)
        } else {
            journal.set(level)
        }
        return .done(nil)
    }

    /// As the configuration says.
    func applyLog() {
        let level = LogLevel(rawValue: configuration.log.level.rawValue) ?? .notice
        journal.set(level)
        // Whole messages are told at info, which must then be shown.
        if configuration.log.sip { journal.set(max(level, .info), for: .sip) }
    }
}
