package import Primitives

/// Server location (RFC 3263) for one destination: asks the name server and ends with an ordered list of targets.
///
/// A host that is an address, or a name with a port, needs no SRV record; a transport that is given needs no choice.
/// Otherwise UDP is taken if the domain offers it (or offers nothing in particular), else TCP.
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

    /// What is to be looked up for the next step. Each is to be answered once by `answered`.
    package private(set) var questions: Set<DNSQuestion> = []
    /// Set when nothing is left to ask.
    package private(set) var outcome: Outcome?

    private struct Service {
        var transport: Transport
        var port: UInt16
        var name: String
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
        _ destination: Destination, transports: [Transport] = [.udp, .tcp], ipv4: Bool = true, ipv6: Bool = true
    ) {
        self.destination = destination
        let usable = transports.filter { choice in
            (!destination.isSecure || choice == .tls) && (destination.transport.map { $0 == choice } ?? true)
        }
        // TLS is for `sips`, or where it is named: it is not guessed for a plain URI.
        self.transports =
            destination.isSecure || destination.transport == .tls ? usable : usable.filter { $0 != .tls }
        families = (ipv6 ? [.aaaa] : []) + (ipv4 ? [.a] : [])
        begin()
    }

    private mutating func begin() {
        guard let preferred = transports.first else {
            outcome = .failure(destination.isSecure ? .noSecureTransport : .transportNotSupported)
            return
        }
        let port = destination.port ?? preferred.defaultPort
        if let address = IPAddress(destination.host) {
            let target = Target(
                transport: preferred, address: SocketAddress(address, port), domain: destination.host)
            outcome = .success([target])
        } else if destination.port != nil {
            askAddresses(of: [Service(transport: preferred, port: port, name: destination.host)])
        } else {
            asksServices = true
            questions = Set(transports.map(serviceQuestion))
        }
    }

    private func serviceQuestion(_ transport: Transport) -> DNSQuestion {
        let prefix =
            switch transport {
            case .udp: "_sip._udp."
            case .tcp: "_sip._tcp."
            case .tls: "_sips._tcp."
            }
        return DNSQuestion(prefix + destination.host, .srv)
    }

    private mutating func askAddresses(of services: [Service]) {
        asksServices = false
        answers = [:]
        self.services = services
        questions = Set(
            services.flatMap { service in
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
        var isRefused = false
        for transport in transports {
            guard case .records(let records)? = answers[serviceQuestion(transport)] else { continue }
            let offers = records.prefix(Self.targetLimit).compactMap(ServiceRecord.init)
            guard !offers.isEmpty else { continue }
            let usable = offers.filter { $0.target != "." && $0.target != "" && $0.port != 0 }
            guard !usable.isEmpty else {
                isRefused = true
                continue
            }
            let ordered = ServiceRecord.ordered(usable, random: &random)
            return askAddresses(of: ordered.map { Service(transport: transport, port: $0.port, name: $0.target) })
        }
        guard !isRefused, let preferred = transports.first else {
            outcome = .failure(.serviceNotAvailable)
            return
        }
        // No services: the name itself, on the preferred transport.
        askAddresses(of: [Service(transport: preferred, port: preferred.defaultPort, name: destination.host)])
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
