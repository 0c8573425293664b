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
        take(.agent(.clockChanged(isSet: false)))
    }

    private var isClockSet: Bool { loop.wallClock >= Clock.buildDay }

    private func clockSet() {
        journal.log(.sip, .notice, "the clock was set to \(loop.wallClock)")
        take(.agent(.clockChanged(isSet: isClockSet)))
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
        let things = Set(
            accounts.flatMap { account in
                account.serverNames + (account.tls.certificate.map { [$0] } ?? [])
            }.map { "tls \($0)" })
        func isThere(_ what: String) -> Bool { things.contains { what == $0 || what.hasPrefix($0 + " ") } }
        certificates.keep(isThere)
        clear { $0.hasPrefix("tls ") && !isThere($0) }
    }
}
