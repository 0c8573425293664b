internal import EventLoop
internal import Network
internal import Primitives
internal import SIP
internal import UserAgent

/// What TLS depends on beside the network: the clock (R10) and certificates that end (SEC8).
extension Appliance {
    /// Between looks at the dates of certificates.
    private static let certificateInterval: Duration = .seconds(86_400)

    func watchClock() throws(SystemError) {
        clockWatch = try ClockWatch(on: loop) { [weak self] in self?.clockSet() }
        certificateTimer = try loop.timer { [weak self] in self?.judgeCertificates() }
        guard !isClockSet else { return }
        journal.log(.sip, .warning, "the clock shows \(loop.wallClock): TLS waits until it is set")
        sockets?.standInTime = max(Clock.buildDay, lastTime ?? Clock.buildDay)
        take(.agent(.clockChanged(isSet: false)))
    }

    /// When a TLS connection was last made under a clock that was set.
    private var lastTime: UTCTime? {
        guard let octets = state.read(.lastTime), let number = Int64(String(decoding: octets, as: UTF8.self)) else {
            return nil
        }
        return UTCTime(milliseconds: number)
    }

    private var isClockSet: Bool { loop.wallClock >= Clock.buildDay }

    private func clockSet() {
        journal.log(.sip, .notice, "the clock was set to \(loop.wallClock)")
        if isClockSet { sockets?.standInTime = nil }
        take(.agent(.clockChanged(isSet: isClockSet)))
        tellTime()
        judgeCertificates()
    }

    /// A TLS connection is made.
    func secured(_ flow: Flow, _ report: TLSClient.Report) {
        journal.log(.sip, .info, "\(flow.remote) is \(report.name) by \(report.version)")
        certificates.learned("tls \(report.name) \(flow.remote)", ends: report.server.notAfter)
        if let own = report.own, let file = report.ownFile {
            certificates.learned("tls \(file)", ends: own.notAfter)
        }
        judgeCertificates()
        guard isClockSet, savedTimeAt.map({ loop.now - $0 >= Self.certificateInterval }) ?? true else { return }
        savedTimeAt = loop.now
        save(.lastTime, Array(String(loop.wallClock.milliseconds).utf8))
    }

    private func judgeCertificates() {
        guard !certificates.isEmpty, isClockSet else { return }
        for (what, message) in certificates.verdicts(at: loop.wallClock) {
            if let message { raise(what, message) } else { clear(what) }
        }
        certificateTimer?.set(deadline: loop.now + Self.certificateInterval)
    }

    /// Faults of servers and files that no account names any more end.
    func keepCertificates(of accounts: [Account]) {
        var things: Set<String> = []
        for account in accounts {
            for name in account.serverNames { things.insert("tls \(name)") }
            if let file = account.tls.certificate { things.insert("tls \(file)") }
        }
        func isThere(_ what: String) -> Bool { things.contains { what == $0 || what.hasPrefix($0 + " ") } }
        certificates.keep(isThere)
        clear { $0.hasPrefix("tls ") && !isThere($0) }
    }
}
