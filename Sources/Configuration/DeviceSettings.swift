/// `[device]`
package struct DeviceSettings: Equatable, Sendable {
    /// Shown as the caller's name where an account sets none.
    package var name: String?
    package var tones = ToneCountry.eu
    /// Waits for the next start when it changes, like `socket`.
    package var stateDirectory = "/var/lib/portero"
    /// The control socket's path, at most 107 octets.
    package var socket = "/run/portero/portero.sock"

    package init() {}
}

/// Whose ringback, busy and congestion tones are played.
package enum ToneCountry: String, CaseIterable, Sendable { case eu, us, uk, fr, de }

/// `[network]`
package struct NetworkSettings: Equatable, Sendable {
    /// The one interface to use; nil: whichever has the route.
    package var interface: String?
    /// Of UDP and TCP; 0: any free port.
    package var sipPort: UInt16 = 5060
    /// At least an even port and the odd one after it.
    package var rtpPorts: ClosedRange<UInt16> = 16384...16483
    package var ipv6 = true
    package var userAgent = true

    package init() {}
}

/// `[provisioning]`
package struct ProvisioningSettings: Equatable, Sendable {
    /// `https:`, `file:`, or `http:` to loopback; may hold `{mac}`. Nil: no provisioning.
    package var url: String?
    /// Jitter is the asker's.
    package var every = Duration.seconds(3600)
    /// Path of a PEM file with the authorities to trust; nil: the system's store.
    package var authorities: String?

    package init() {}
}

/// `[log]`
package struct LogSettings: Equatable, Sendable {
    package enum Level: String, CaseIterable, Sendable { case error, warning, notice, info, debug, trace }

    package var level = Level.notice
    /// Whole SIP messages at info, secrets blanked.
    package var sip = false

    package init() {}
}
