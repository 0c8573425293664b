package import Primitives

/// Server location (RFC 3263) for one destination: asks the name server and ends with an ordered list of targets.
///
/// A host that is an address, or a name with a port, needs no service records; a transport that is given needs no
/// choice. Otherwise NAPTR records order the transports; where there are none, the first transport with SRV records is
/// taken, and where there are none either, the name itself on UDP (T10). NAPTR and SRV are asked for together: a name
/// server that knows nothing of NAPTR costs no more time.
package struct Locator: Sendable {
    /// Where to, as a URI, a route or an account says it.
    package struct Destination: Hashable, Sendable {
        /// A name, or an address without brackets.
        package var host: String
        package var port: UInt16?
        /// The `transport` parameter, or the account's own choice.
        package var transport: Transport?
        /// `sips`: never leaves TLS.
        package var isSecure: Bool

        package init(host: String, port: UInt16? = nil, transport: Transport? = nil, isSecure: Bool = false) {
            self.host = host
            self.port = port
            self.transport = transport
            self.isSecure = isSecure
        }
    }

    package enum Failure: Error, Hashable, Sendable {
        /// No transport that we have satisfies the destination, such as `sips` without TLS.
        case noSecureTransport, transportNotSupported
        /// The domain says by SRV that it does not offer the service.
        case serviceNotAvailable
        /// The name, or every name that it leads to, has no address.
        case noSuchName
        /// The name server does not answer.
        case resolverFailed(String)
    }

    package typealias Outcome = Result<[Target], Failure>

    /// More targets than this are not tried (T12).
    package static let targetLimit = 32
    /// NAPTR records whose services are asked for.
    package static let offerLimit = 8

    /// What is to be looked up for the next step. Each is to be answered once by `answered`.
    package private(set) var questions: Set<DNSQuestion> = []
    /// Set when nothing is left to ask.
    package private(set) var outcome: Outcome?

    private struct Service {
        var transport: Transport
        var port: UInt16
        var name: String
    }
    /// SRV records of a transport, under this name.
    private struct Offer {
        var transport: Transport
        var name: String
        var question: DNSQuestion { DNSQuestion(name, .srv) }
    }

    private let destination: Destination
    private let transports: [Transport]
    private let families: [DNSQuestion.Kind]
    /// Answers by question, until the step that needs them is complete.
    private var answers: [DNSQuestion: DNSAnswer] = [:]
    private var services: [Service] = []
    private var asksServices = false

    /// Begins. `transports` are those that the product has, the preferred one first. Look at `outcome`, then `questions`.
    package init(
        _ destination: Destination, transports: [Transport] = Transport.preferred, ipv4: Bool = true,
        ipv6: Bool = true
    ) {
        self.destination = destination
        self.transports = transports.filter { choice in
            (!destination.isSecure || choice == .tls) && (destination.transport.map { $0 == choice } ?? true)
        }
        families = (ipv6 ? [.aaaa] : []) + (ipv4 ? [.a] : [])
        begin()
    }

    private mutating func begin() {
        guard let itself = itself else {
            outcome = .failure(destination.isSecure ? .noSecureTransport : .transportNotSupported)
            return
        }
        if let address = IPAddress(destination.host) {
            let target = Target(
                transport: itself.transport, address: SocketAddress(address, itself.port), domain: destination.host)
            outcome = .success([target])
        } else if destination.port != nil {
            askAddresses(of: [itself])
        } else {
            asksServices = true
            questions = Set(transports.map { guess($0).question })
            if destination.transport == nil { questions.insert(namingQuestion) }
        }
    }

    /// The host itself: on UDP unless that is not to be.
    private var itself: Service? {
        guard let transport = transports.first(where: { $0 == .udp }) ?? transports.first else { return nil }
        return Service(
            transport: transport, port: destination.port ?? transport.defaultPort, name: destination.host)
    }

    private var namingQuestion: DNSQuestion { DNSQuestion(destination.host, .naptr) }

    /// Where the SRV records of a transport are if no NAPTR record says otherwise.
    private func guess(_ transport: Transport) -> Offer {
        let prefix =
            switch transport {
            case .udp: "_sip._udp."
            case .tcp: "_sip._tcp."
            case .tls: "_sips._tcp."
            }
        return Offer(transport: transport, name: prefix + destination.host)
    }

    /// What the NAPTR records offer that we have, in their order. Other services and flags are passed over.
    private var named: [Offer] {
        guard case .records(let records)? = answers[namingQuestion] else { return [] }
        let services: [String: Transport] = ["sips+d2t": .tls, "sip+d2t": .tcp, "sip+d2u": .udp]
        var offers: [(order: UInt16, preference: UInt16, offer: Offer)] = []
        for case .naming(let order, let preference, let flags, let service, let name) in records {
            guard flags.lowercasedASCII == "s", let transport = services[service.lowercasedASCII],
                transports.contains(transport)
            else { continue }
            offers.append((order, preference, Offer(transport: transport, name: name)))
        }
        offers.sort { ($0.order, $0.preference) < ($1.order, $1.preference) }
        return offers.prefix(Self.offerLimit).map(\.offer)
    }

    private mutating func askAddresses(of services: [Service]) {
        asksServices = false
        answers = [:]
        self.services = Array(services.prefix(Self.targetLimit))
        questions = Set(
            self.services.flatMap { service in
                IPAddress(service.name) == nil ? families.map { DNSQuestion(service.name, $0) } : []
            })
        if questions.isEmpty { finishAddresses() }
    }

    /// An answer to one of `questions`; any other is ignored. `random` decides between services of equal priority.
    package mutating func answered(_ question: DNSQuestion, _ answer: DNSAnswer, random: inout Randomness) {
        guard outcome == nil, questions.remove(question) != nil else { return }
        answers[question] = answer
        guard questions.isEmpty else { return }
        if asksServices { finishServices(random: &random) } else { finishAddresses() }
    }

    private mutating func finishServices(random: inout Randomness) {
        let named = named
        let unknown = named.map(\.question).filter { answers[$0] == nil }
        guard unknown.isEmpty else {
            questions = Set(unknown)
            return
        }
        var services = named.flatMap { self.services(of: $0, random: &random) ?? [] }
        var isRefused = false
        for transport in transports where services.isEmpty {
            guard let offered = self.services(of: guess(transport), random: &random) else { continue }
            services = offered
            isRefused = isRefused || offered.isEmpty
        }
        if services.isEmpty, isRefused {
            outcome = .failure(.serviceNotAvailable)
        } else {
            // No services: the name itself.
            askAddresses(of: services.isEmpty ? itself.map { [$0] } ?? [] : services)
        }
    }

    /// In the order in which they are to be tried; nil without SRV records, empty if they say that there is no service.
    private func services(of offer: Offer, random: inout Randomness) -> [Service]? {
        guard case .records(let records)? = answers[offer.question] else { return nil }
        let all = records.prefix(Self.targetLimit).compactMap(ServiceRecord.init)
        if all.isEmpty { return nil }
        let usable = all.filter { $0.target != "." && $0.target != "" && $0.port != 0 }
        return ServiceRecord.ordered(usable, random: &random).map {
            Service(transport: offer.transport, port: $0.port, name: $0.target)
        }
    }

    private mutating func finishAddresses() {
        var targets: [Target] = []
        for service in services {
            for address in addresses(of: service.name) {
                let target = Target(
                    transport: service.transport, address: SocketAddress(address, service.port),
                    domain: destination.host)
                if !targets.contains(target), targets.count < Self.targetLimit { targets.append(target) }
            }
        }
        let fault = answers.values.lazy.compactMap { if case .failed(let text) = $0 { text } else { nil } }.first
        answers = [:]
        outcome =
            targets.isEmpty
            ? .failure(fault.map { .resolverFailed($0) } ?? .noSuchName) : .success(targets)
    }

    /// IPv6 first, as RFC 6724 orders them; the other family is a further target (RFC 7984).
    private func addresses(of name: String) -> [IPAddress] {
        if let address = IPAddress(name) { return [address] }
        return families.flatMap { family -> [IPAddress] in
            guard case .records(let records)? = answers[DNSQuestion(name, family)] else { return [] }
            return records.compactMap { if case .address(let address) = $0 { address } else { nil } }
        }
    }
}
