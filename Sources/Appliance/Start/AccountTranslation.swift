internal import Configuration
internal import EventLoop
internal import Intercom
internal import Primitives
internal import SIP
internal import UserAgent

/// From the operator's words to what the user agent needs.
struct AccountTranslation {
    var deviceName: String?
    var credentials: Credentials
    var identity: Identity
    var random: Randomness
    /// What went wrong, by account; the account works as far as it can.
    var problems: [(account: String, text: String)] = []

    mutating func settings(for configuration: Configuration, product: String) -> UserAgentSettings {
        var settings = UserAgentSettings(instance: identity.instance)
        settings.product = configuration.network.userAgent ? product : ""
        settings.maxCalls = configuration.call.maxCalls
        settings.ipv6 = configuration.network.ipv6
        settings.watchedPhones = Intercom.watchedPhones(of: configuration)
        settings.accounts = configuration.accounts.compactMap { account($0) }
        return settings
    }

    /// nil if the URI cannot be used, which reading the configuration has ruled out.
    private mutating func account(_ settings: AccountSettings) -> Account? {
        guard let uri = uri(settings.uri, of: settings.name), let user = uri.user else { return nil }
        let authUser = settings.authUser ?? user
        var registrar = uri
        if let text = settings.registrar, let named = self.uri(text, of: settings.name) { registrar = named }
        registrar.escapedUser = nil
        registrar.escapedPassword = nil
        let contactUser =
            switch settings.contactUser {
            case .random: identity.contactUser(of: settings.name, &random)
            case .account: user
            case .authUser: authUser
            case .fixed(let word): word
            }
        var account = Account(
            name: settings.name, uri: uri, authUser: authUser, password: password(of: settings), registrar: registrar,
            contactUser: contactUser)
        account.displayName = settings.displayName ?? deviceName ?? ""
        account.outboundProxy = settings.outboundProxy.flatMap { self.uri($0, of: settings.name) }
        account.transport = settings.transport
        account.tls = tls(settings)
        account.registers = settings.registers
        account.waitsForSwitch = settings.registerWhile != nil
        account.expires = UInt32(clamping: settings.expires.nanoseconds / 1_000_000_000)
        account.autoAnswer = settings.autoAnswer
        account.autoAnswerFrom = settings.autoAnswerFrom
        account.autoAnswerAfter = settings.autoAnswerAfter
        account.acceptFrom = settings.acceptFrom
        account.challenges = settings.challenge
        account.codecs = settings.codecs.map { name in
            switch name {
            case .opus: .opus
            case .g722: .g722
            case .pcma: .pcma
            case .pcmu: .pcmu
            }
        }
        account.dtmf = settings.dtmf
        if let bitRate = settings.opusBitrate { account.opusBitRate = bitRate }
        account.keepAlive = settings.keepAlive
        account.sessionTimer = UInt32(clamping: settings.sessionTimer.nanoseconds / 1_000_000_000)
        account.acceptTransfer = settings.acceptTransfer
        account.followsPeer = settings.followsPeer
        account.headers = settings.headers
        account.catchAll = settings.catchAll
        account.aliases = settings.aliases
        account.mwi = settings.mwi
        return account
    }

    private func tls(_ settings: AccountSettings) -> TLSSettings {
        var tls = TLSSettings()
        tls.verifies = settings.tlsVerify
        tls.authorities = settings.tlsCA
        tls.pins = settings.tlsPin.map(\.digest)
        tls.certificate = settings.tlsCertificate
        tls.key = settings.tlsKey
        let files: [String?] = [tls.authorities, tls.certificate, tls.key]
        tls.stamps = files.compactMap { $0 }.compactMap { FileStamp($0)?.description }
        tls.toleratesClock = settings.tlsClock == .tolerant
        return tls
    }

    private mutating func uri(_ text: String, of account: String) -> SIPURI? {
        do throws(ParseError) {
            return try SIPURI(text)
        } catch {
            problems.append((account, "\(text) is no usable URI: \(error)"))
            return nil
        }
    }

    private mutating func password(of settings: AccountSettings) -> Password {
        guard let source = settings.passwordSource else { return Password("") }
        do throws(SystemError) {
            let octets: [UInt8]
            switch source {
            case .literal(let secret): return Password(secret.revealed)
            case .file(let path): octets = Credentials.withoutLineEnd(try SmallFile.read(path, limit: 4096))
            case .credential(let name): octets = try credentials.read(name)
            }
            guard let text = String(validating: octets, as: UTF8.self) else {
                problems.append((settings.name, "the password is not UTF-8"))
                return Password("")
            }
            return Password(text)
        } catch {
            problems.append((settings.name, "no password: \(error)"))
            return Password("")
        }
    }
}
