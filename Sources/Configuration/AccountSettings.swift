import Primitives

/// `[account NAME]`
package struct AccountSettings: Equatable, Sendable {
    package let name: String
    /// The address of record, a `sip:` or `sips:` URI with a user.
    package var uri: String
    package var displayName: String?
    /// The user of the credentials; nil: the user of `uri`.
    package var authUser: String?
    package var password: Secret?
    package var passwordFile: String?
    package var credential: String?
    /// A `sip:` or `sips:` URI without user; nil: the host of `uri`.
    package var registrar: String?
    /// A `sip:` or `sips:` URI without user; nil: none.
    package var outboundProxy: String?
    package var transport = TransportChoice.auto
    /// Whether chain, names and dates of the server's certificate are checked.
    package var tlsVerify = true
    /// A file or folder; nil: the system's store.
    package var tlsCA: String?
    /// The server has one of these keys; empty: any.
    package var tlsPin: [KeyPin] = []
    /// PEM files of our own certificate and its key; nil: none.
    package var tlsCertificate: String?
    package var tlsKey: String?
    package var tlsClock = ClockChoice.wait
    /// Whether the account is registered at all.
    package var registers = true
    /// A button whose line is a switch: the account is registered only while it is pressed; nil: always.
    package var registerWhile: String?
    /// Always asked for whole, never what was last granted. Whole seconds.
    package var expires = Duration.seconds(600)
    /// At most one account has it; `Configuration.defaultAccount` knows the rest of the rule.
    package var isDefault = false
    package var autoAnswer = AutoAnswer.never
    /// Empty: no caller is named.
    package var autoAnswerFrom: [CallerPattern] = []
    package var autoAnswerAfter = Duration.zero
    /// A beep and half a second of muted microphone where a call is answered by itself.
    package var autoAnswerTone = true
    package var acceptFrom = AcceptFrom.registrar
    /// Callers beside the registrar must know the account's password (A5).
    package var challenge = false
    /// In the order of preference; never empty, none twice.
    package var codecs = CodecName.allCases
    package var dtmf = DTMFChoice.auto
    /// What is asked for; zero: none. Whole seconds.
    package var sessionTimer = Duration.seconds(1800)
    package var acceptTransfer = TransferPermission.nobody
    /// Whether requests in a call over UDP may come from where its peer was never seen.
    package var followsPeer = false
    /// Of UDP, once per flow; zero: none.
    package var keepAlive = Duration.seconds(25)
    /// Added to every INVITE.
    package var headers: [HeaderField] = []
    package var contactUser = ContactUser.random
    /// Takes calls from its registrar whose Request-URI names no account.
    package var catchAll = false
    /// Further users that are this account.
    package var aliases: [String] = []
    package var forwarding = Forwarding()
    package var mwi = MessageWaiting.unsolicited
    /// A WAV file for calls to this account; nil: as `[ringer]` says, like the two that follow.
    package var ringSound: String?
    package var ringDevice: SoundDevice?
    /// 0–100.
    package var ringVolume: Int?
    /// 0–10.
    package var opusComplexity = 5
    /// Bits a second, 6000–510000; nil: the encoder's choice.
    package var opusBitrate: Int?
    package var opusFEC = true

    package init(name: String, uri: String) {
        self.name = name
        self.uri = uri
    }

    /// The keys whose `sips` URIs demand TLS.
    package var secureURIs: [String] {
        let all: [(key: String, value: String?)] = [
            ("uri", uri), ("registrar", registrar), ("outbound-proxy", outboundProxy),
        ]
        return all.filter { $0.value?.lowercasedASCII.hasPrefix("sips:") ?? false }.map(\.key)
    }

    /// Registered from the start, and not when a switch says so.
    package var registersByItself: Bool { registers && registerWhile == nil }

    /// Nil: the account has no password. A configuration that was read has at most one source.
    package var passwordSource: PasswordSource? {
        if let password { return .literal(password) }
        if let passwordFile { return .file(passwordFile) }
        return credential.map { .credential($0) }
    }
}

/// `auto` asks NAPTR and SRV records, then addresses.
package enum TransportChoice: String, CaseIterable, Sendable { case auto, udp, tcp, tls }

/// What TLS does while the clock shows a time before the day of the build.
package enum ClockChoice: String, CaseIterable, Sendable {
    case wait
    /// The time of the last TLS connection stands in for the clock, or the day of the build, whichever is later.
    case tolerant
}

/// SHA-256 of a server's public key (SubjectPublicKeyInfo).
package struct KeyPin: Hashable, Sendable, CustomStringConvertible {
    /// 32 octets.
    package let digest: [UInt8]

    /// Reads base64, with `sha256/` or `sha256//` before it or not; nil for anything else.
    package init?(_ text: String) {
        let bare = text.suffix(after: "sha256//") ?? text.suffix(after: "sha256/") ?? text
        guard let digest = octets(base64: bare), digest.count == 32 else { return nil }
        self.digest = digest
    }

    package var description: String { base64(digest) }
}

/// Which calls are answered by themselves.
package enum AutoAnswer: String, CaseIterable, Sendable {
    case never, always
    /// When the request asks for it by a header and may (I2).
    case header
    /// When the caller is one of `auto-answer-from`.
    case list
}

/// In the default order of preference.
package enum CodecName: String, CaseIterable, Sendable { case opus, g722, pcma, pcmu }

/// How digits are sent: `auto` takes RFC 4733 if it was negotiated, else INFO.
package enum DTMFChoice: String, CaseIterable, Sendable { case auto, rfc4733, info }

/// Who may transfer a call by REFER.
package enum TransferPermission: Hashable, Sendable {
    case nobody
    case everybody
    case callers([CallerPattern])
}

/// Where callers are sent instead of being answered: SIP URIs; nil: nowhere.
package struct Forwarding: Equatable, Sendable {
    package struct NoAnswer: Equatable, Sendable {
        package var after: Duration
        package var uri: String

        package init(after: Duration, uri: String) {
            self.after = after
            self.uri = uri
        }
    }
    package var always: String?
    /// While another call goes on that `second-call` protects.
    package var busy: String?
    package var noAnswer: NoAnswer?

    package init() {}
}

/// Whether it is told that messages wait in the account's mailbox.
package enum MessageWaiting: String, CaseIterable, Sendable {
    case no
    /// When the registrar tells it unasked.
    case unsolicited
    /// The registrar is asked to tell it.
    case subscribe
}

/// The user of the Contact that is registered.
package enum ContactUser: Hashable, Sendable, CustomStringConvertible {
    /// Unguessable, kept over restarts.
    case random
    /// The user of `uri`.
    case account
    /// The user of the credentials.
    case authUser
    case fixed(String)

    package var description: String {
        switch self {
        case .random: "random"
        case .account: "account"
        case .authUser: "auth"
        case .fixed(let user): user
        }
    }
}

/// A header line of the operator's own.
package struct HeaderField: Hashable, Sendable, CustomStringConvertible {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    package var description: String { "\(name): \(value)" }
}
