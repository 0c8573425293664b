import Primitives
import SDP
import SIP

extension Call {
    /// An INVITE of ours without a final response.
    struct OutgoingInvite {
        let from: NameAddress
        let to: NameAddress
        /// Added by the account and by the order.
        let headers: [(name: String, value: String)]
        let routes: [NameAddress]
        /// The dialog that it replaces at the other side, and by whose wish it is made.
        let replaces: Replaces?
        let referredBy: String?
        /// Where it goes now, and where it may go next (D9).
        var target: SIPURI
        var further: [SIPURI] = []
        var tried: [SIPURI]
        var cseq: UInt32 = 0
        var number: Int?
        /// As last submitted.
        var request: Request?
        /// Our offer; each leg goes on from a copy of it (D5).
        var offer: OfferAnswer?
        /// The leg whose sound is played.
        var soundTag: String?
        /// Somebody answered it, so that it may be cancelled (D6).
        var isHeard = false
        /// When it goes out again.
        var retryAt: Instant?
        // What is done once only (D9).
        /// A waiting time that a server asked for was honoured.
        var hasWaited = false
        /// G.711 and nothing else is offered, for the fuller offer was not acceptable.
        var isPlain = false
        /// Extensions that the peer does not want to hear of.
        var withheld: Set<String> = []
        /// Further 422s that are followed.
        var timerRetries = 2

        init(_ order: DialOrder, for account: Account, routes: [NameAddress], tag: String) {
            let displayName = account.displayName.isEmpty ? nil : account.displayName
            target = account.requestTarget(order.uri)
            tried = [target]
            from = NameAddress(account.uri.addressOfRecord, displayName: displayName, parameters: ["tag": tag])
            to = NameAddress(target.addressOfRecord)
            headers = account.headers.map { ($0.name, $0.value) } + order.headers
            self.routes = routes
            replaces = order.replaces
            referredBy = order.referredBy
        }

        /// Option tags that it names in Supported.
        var supported: [String] { Extensions.supported.filter { !withheld.contains($0) } }

        /// Contacts of a 3xx, best first (D9).
        mutating func redirect(to contacts: [NameAddress], for account: Account) {
            let ordered = contacts.enumerated().sorted {
                ($1.element.preference, $0.offset) < ($0.element.preference, $1.offset)
            }
            for contact in ordered.map(\.element.uri) {
                guard tried.count + further.count < Call.targetLimit else { return }
                guard contact.isSIP || contact.scheme == .tel, target.scheme != .sips || contact.scheme == .sips else {
                    continue
                }
                let next = account.requestTarget(contact)
                if !tried.contains(next), !further.contains(next) { further.append(next) }
            }
        }

        /// The next place of a redirection; nil: there is none.
        mutating func takeNext() -> SIPURI? {
            guard !further.isEmpty else { return nil }
            target = further.removeFirst()
            tried.append(target)
            return target
        }
    }
}

extension Account {
    /// A URI as Request-URI: a telephone number is asked of our own domain; what belongs to no Request-URI goes.
    func requestTarget(_ uri: SIPURI) -> SIPURI {
        var target = uri
        if uri.scheme == .tel, let host = self.uri.host {
            target = SIPURI(
                scheme: self.uri.scheme, user: uri.numberDigits, host: host, port: self.uri.port,
                parameters: ["user": "phone"])
        }
        target.headers = []
        target.parameters.remove("method")
        return target
    }
}
