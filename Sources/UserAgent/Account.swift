package import Configuration
import Primitives
package import SDP
package import SIP

/// One SIP account as the user agent needs it: identity, where to register, and who may call.
package struct Account: Equatable, Sendable {
    /// The operator's name of it; unique.
    package var name: String
    /// Address of record.
    package var uri: SIPURI
    /// Shown to the called; empty: none.
    package var displayName = ""
    /// User of the credentials.
    package var authUser: String
    /// Never logged.
    package var password: Password
    /// Where REGISTER goes; never with a user part.
    package var registrar: SIPURI
    /// Every request out of a dialog goes here first, if set.
    package var outboundProxy: SIPURI?
    package var transport: TransportChoice = .auto
    /// The names in it are the account's own, whatever stands there.
    package var tls = TLSSettings()
    /// No: calls are made and taken without a registration.
    package var registers = true
    /// It registers when it is told to, not by itself: a switch decides.
    package var waitsForSwitch = false
    /// What is asked for, always this and never what was granted last; seconds.
    package var expires: UInt32 = 600
    package var autoAnswer: AutoAnswer = .never
    /// With `.header`: if not empty, who is believed. With `.list`: who is answered.
    package var autoAnswerFrom: [CallerPattern] = []
    package var autoAnswerAfter: Duration = .zero
    package var acceptFrom: AcceptFrom = .registrar
    /// Whoever calls from outside the registered flow must know the password (A5).
    package var challenges = false
    /// In order of preference.
    package var codecs: [AudioCodec] = [.opus, .g722, .pcma, .pcmu]
    /// What we send at most with Opus, bits a second.
    package var opusBitRate = 24_000
    package var dtmf: DTMFChoice = .auto
    /// The session timer that is asked for, seconds; 0: none (D13).
    package var sessionTimer: UInt32 = 1800
    /// Whose REFER is followed (D14).
    package var acceptTransfer: TransferPermission = .nobody
    /// Requests in a call over UDP are taken from addresses too where its peer was never seen (SEC14).
    package var followsPeer = false
    /// Between keep-alives on UDP; zero: none (R6).
    package var keepAlive: Duration = .seconds(25)
    /// Added to every INVITE, in order.
    package var headers: [HeaderField] = []
    /// User part of the registered Contact, already decided: random ones are kept over restarts by the caller.
    package var contactUser: String
    /// Takes calls from its registrar whose Request-URI names no account.
    package var catchAll = false
    /// Further users that are this account.
    package var aliases: [String] = []
    /// What stands in Contacts instead of an address, where the registrar gave one and its proxies find it (RFC 5627).
    package var gruu: SIPURI?
    /// The registrar has agreed to outbound: requests in dialogs come along the flow (RFC 5626).
    package var usesOutbound = false
    /// Whether the state of the mailbox is told of.
    package var mwi: MessageWaiting = .unsolicited

    package init(
        name: String, uri: SIPURI, authUser: String, password: Password, registrar: SIPURI, contactUser: String
    ) {
        self.name = name
        self.uri = uri
        self.authUser = authUser
        self.password = password
        self.registrar = registrar
        self.contactUser = contactUser
    }

    /// Whether the difference to `other` needs a new registration (identity, place or credentials), not only new rules.
    package func registersDifferently(from other: Account) -> Bool {
        uri != other.uri || displayName != other.displayName || authUser != other.authUser
            || password != other.password || registrar != other.registrar || outboundProxy != other.outboundProxy
            || transport != other.transport || tls != other.tls || registers != other.registers
            || waitsForSwitch != other.waitsForSwitch || expires != other.expires
            || contactUser != other.contactUser
    }
}

/// A password whose description is dots.
package struct Password: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    package var secret: String
    package init(_ secret: String) { self.secret = secret }
    package var description: String { "••••" }
    package var debugDescription: String { "••••" }
}

extension Account {
    /// Whether it never leaves TLS.
    package var isSecure: Bool {
        let places: [SIPURI?] = [uri, registrar, outboundProxy]
        return transport == .tls || places.contains { $0?.scheme == .sips }
    }

    /// Where a URI leads with this account's choice of transport (T10).
    func destination(_ uri: SIPURI) -> Locator.Destination? {
        let fixed: Transport? =
            switch transport {
            case .auto: nil
            case .udp: .udp
            case .tcp: .tcp
            case .tls: .tls
            }
        var destination = Locator.Destination(uri, transport: fixed, isSecure: isSecure)
        // The transport is given: there is no choice to ask for.
        if transport == .tls { destination?.transport = .tls }
        return destination
    }

    /// Its proxy, registrar and domain, each once, in lower case.
    package var serverNames: [String] {
        var names: [String] = []
        let places: [SIPURI?] = [outboundProxy, registrar, uri]
        for uri in places {
            guard let name = uri?.host?.text.lowercasedASCII, !names.contains(name) else { continue }
            names.append(name)
        }
        return names
    }

    /// Whom a TLS connection to a host of that name must find.
    /// - Parameter isProxy: a route of the account, its registrar or a server of its dialogs named the host.
    func server(at host: String, isProxy: Bool) -> TLSServer {
        var settings = tls
        settings.names = serverNames
        return TLSServer(settings, host: host, isProxy: isProxy)
    }
}

extension TransferPermission {
    func includes(_ caller: SIPURI) -> Bool {
        switch self {
        case .nobody: false
        case .everybody: true
        case .callers(let patterns): caller.matches(patterns)
        }
    }
}
