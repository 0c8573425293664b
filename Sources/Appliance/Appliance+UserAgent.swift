internal import API
internal import EventLoop
internal import Intercom
internal import Network
internal import Primitives
internal import SIP
internal import UserAgent

/// What the user agent says, carried out.
extension Appliance {
    func perform(_ output: UserAgentOutput) {
        switch output {
        case .send(let octets, let flow): send(octets, flow)
        case .connect(let id, let target): connect(id, target)
        case .close(let flow): sockets?.close(flow)
        case .lookUp(let id, let question):
            resolver.lookUp(question) { [weak self] answer in self?.take(.agent(.lookedUp(id, answer))) }
        case .media(let call, let plan): setMedia(of: call, plan)
        case .event(let event): happened(event)
        case .stopped: finish()
        }
    }

    private func send(_ octets: [UInt8], _ flow: Flow) {
        if journal.shows(.sip, sipTraceLevel) { trace(octets, flow, "to") }
        if let failure = sockets?.send(octets, along: flow) { take(.agent(.flowFailed(flow, failure))) }
    }

    /// UDP needs the local address that the route gives, TCP a connection from there.
    private func connect(_ id: ConnectID, _ target: Target) {
        let remote = target.address
        guard let sockets, let local = source(towards: remote.address) else {
            return take(.agent(.connectFailed(id, .noRoute)))
        }
        switch target.transport {
        case .udp:
            guard let flow = datagramFlow(to: remote) else {
                return take(.agent(.connectFailed(id, .other("the SIP port is not open"))))
            }
            take(.agent(.connected(id, flow)))
        case .tls where target.server == nil:
            take(.agent(.connectFailed(id, .insecure("nobody is known to be there"))))
        case .tcp, .tls:
            do throws(TransportFailure) {
                let flow = try sockets.connect(to: remote, from: local, secure: target.server)
                connecting[flow.connection] = id
            } catch {
                take(.agent(.connectFailed(id, error)))
            }
        }
    }

    /// The flow that a datagram to this peer takes now; nil: there is no route or no socket.
    private func datagramFlow(to remote: SocketAddress) -> Flow? {
        guard let port = sockets?.port(of: .udp, ipv6: remote.address.isV6),
            let local = source(towards: remote.address)
        else { return nil }
        return Flow(transport: .udp, local: SocketAddress(local, port), remote: remote)
    }

    /// The own address towards a remote one; nil: no route leads there, or nothing gets out there.
    private func source(towards remote: IPAddress) -> IPAddress? {
        guard let local = localAddress.towards(remote) else { return nil }
        return monitor?.canSend(from: local) == false ? nil : local
    }

    private func happened(_ event: UserAgentEvent) {
        switch event {
        case .account(let status): accountChanged(status)
        case .incoming(let call):
            callRecords[call.call] = CallRecord(account: call.account, name: call.callerName)
            take(.intercom(.incoming(call)))
        case .call(let status): callChanged(status)
        case .transfer(let status): callTransferred(status)
        case .digit(let call, let digit):
            if let signal = DTMFSignal(character: digit) { received(signal, .info, callNumber: call.number) }
        case .phone(let phone, let state): take(.intercom(.phone(phone, state)))
        case .messages(let account, let summary): messagesChanged(of: account, summary)
        case .message(let message): received(message)
        case .refused(let call): refused(call)
        case .note(let note): log(note)
        case .heard(let message, let flow): trace(message.serialized(), flow, "from")
        }
    }

    private func messagesChanged(of account: String, _ summary: MessageSummary) {
        publish(
            "messages",
            [
                "account": .string(account), "waiting": .bool(summary.isWaiting),
                "new": summary.new.map { .integer($0) }, "old": summary.old.map { .integer($0) },
            ])
        journal.log(
            .sip, .info, "account \(account): \(summary.isWaiting ? "messages wait" : "no messages wait")",
            .account(account))
        take(.intercom(.messages(account: account, summary.isWaiting)))
    }

    /// A text is an event, for whoever follows; its words stay out of the log.
    private func received(_ message: TextMessage) {
        publish(
            "message",
            [
                "account": .string(message.account), "from": .string(message.from.description),
                "from-name": message.fromName.isEmpty ? nil : .string(message.fromName), "text": .string(message.text),
            ])
        journal.log(
            .sip, .notice, "message of \(message.text.utf8.count) octets from \(message.from)",
            .account(message.account))
    }

    /// Dropped calls are scanners' work: the log shows them to who looks for them only.
    private func refused(_ call: RefusedCall) {
        history.refused(call, at: loop.wallClock)
        let what = call.code.map { "refused with \($0)" } ?? "dropped"
        journal.log(
            .sip, call.code == nil ? .debug : .notice,
            "call from \(call.caller) at \(call.source) for \(call.uri) \(what): \(call.why)")
    }

    private func accountChanged(_ status: AccountStatus) {
        publish(
            "account",
            [
                "name": .string(status.name), "state": .string(status.state.rawValue),
                "code": status.code.map { .integer($0) }, "reason": status.reason.map { .string($0) },
            ])
        var text = "account \(status.name): \(status.state.rawValue)"
        if let code = status.code { text += " (\(code) \(status.reason ?? ""))" }
        if let next = status.nextAttempt, status.state == .failed {
            text += ", next attempt in \(Int((next - loop.now).inSeconds.rounded(.up))) s"
        }
        journal.log(.sip, status.state == .failed ? .warning : .notice, "\(text)", .account(status.name))
        // One alarm for credentials that were refused; everything else heals by itself and shows as unregistered.
        if status.state == .failed, let code = status.code, [401, 403, 407].contains(code) {
            raise("account \(status.name)", "the registrar refused the registration (\(code) \(status.reason ?? ""))")
        } else if status.state == .registered {
            clear("account \(status.name)")
        }
        take(.intercom(.account(status)))
        notifyStatus()
    }

    /// One sentence for systemd.
    func notifyStatus() {
        let accounts = agent.accountStatuses.filter { $0.state != .disabled }
        let registered = accounts.filter { $0.state == .registered }.count
        notifier.status("\(registered) of \(accounts.count) accounts registered")
    }

    private func log(_ note: UserAgentNote) {
        let level: LogLevel =
            switch note.level {
            case .error: .error
            case .warning: .warning
            case .notice: .notice
            case .info: .info
            case .debug: .debug
            }
        if let call = note.call {
            history.decided(note.text, about: call, at: loop.wallClock)
            journal.log(.sip, level, "call \(call): \(note.text)", .call(call.description))
        } else if let account = note.account {
            journal.log(.sip, level, "account \(account): \(note.text)", .account(account))
        } else {
            journal.log(.sip, level, "\(note.text)")
        }
    }

    // MARK: Sockets

    var localAddress: LocalAddress {
        options.localAddress ?? LocalAddress.byRoute(interface: configuration.network.interface)
    }

    func openSockets() throws(SystemError) {
        sockets = try SIPSockets(
            on: loop, port: configuration.network.sipPort, ipv6: configuration.network.ipv6, options: socketOptions
        ) { [weak self] event in self?.happened(event) }
        sockets?.isKnown = { [weak self] in self?.agent.knows($0) ?? false }
    }

    var socketOptions: SocketOptions {
        var options = SocketOptions()
        options.interface = configuration.network.interface
        return options
    }

    private func happened(_ event: SIPSockets.Event) {
        switch event {
        case .datagram(let octets, let flow):
            if journal.shows(.sip, sipTraceLevel) { trace(octets, flow, "from") }
            take(.agent(.received(octets, flow)))
        case .chunk(let octets, let flow):
            // A portion may begin in the middle of a secret: the agent tells when a message is whole.
            agent.tellsMessages = journal.shows(.sip, sipTraceLevel)
            take(.agent(.received(octets, flow)))
        case .opened(let flow, let isInbound, let report):
            if let report { secured(flow, report) }
            if let id = connecting.removeValue(forKey: flow.connection), !isInbound {
                take(.agent(.connected(id, flow)))
            }
        case .closed(let flow, let failure):
            if let id = connecting.removeValue(forKey: flow.connection) {
                take(.agent(.connectFailed(id, failure ?? .closedByPeer)))
            } else {
                take(.agent(.flowFailed(flow, failure ?? .closedByPeer)))
            }
        case .unreachable(let remote, let failure):
            if let flow = datagramFlow(to: remote) { take(.agent(.flowFailed(flow, failure))) }
        case .listening(let transport, let address):
            clear("sip \(transport.rawValue) \(address)")
            journal.log(.network, .info, "listening on \(transport.rawValue) \(address)")
        case .notListening(let transport, let address, let error, let retry):
            raise("sip \(transport.rawValue) \(address)", "\(error); tried again in \(Int(retry.inSeconds)) s")
        }
    }

    private var sipTraceLevel: LogLevel { configuration.log.sip ? .info : .trace }

    private func trace(_ octets: [UInt8], _ flow: Flow, _ direction: String) {
        // Keep-alives say nothing.
        guard octets.count > 4 else { return }
        let message = blankedSecrets(of: octets)
        journal.log(
            .sip, sipTraceLevel, "\(direction) \(flow.transport.rawValue) \(flow.remote)\n\(lines: message)")
    }
}
