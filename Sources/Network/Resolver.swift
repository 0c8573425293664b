import CAres
package import EventLoop
import Glibc
package import Primitives
package import SIP

/// Look-ups at the name servers, asynchronously on the loop, with a cache of its own (T12) and `/etc/hosts` first for
/// addresses. Each question stands for itself: one that is stalled delays no other.
package final class Resolver {
    /// c-ares's version.
    package static var libraryVersion: String { String(cString: portero_resolver_version()) }

    private let loop: EventLoop
    private let servers: [SocketAddress]?
    private let hosts: HostsFile
    private var channel: DNSChannel?
    private var cache = DNSCache()
    /// The name servers are silent: the last question that ended got no answer. Known answers serve at once then, however
    /// old, and are asked for again behind that.
    private var isDown = false
    private var waiting: [DNSQuestion: [(DNSAnswer) -> Void]] = [:]
    private var configurationWatch: FolderWatch?

    /// Called when `/etc/resolv.conf` names other servers (R4).
    package var serversChanged: () -> Void = {}

    /// - Parameters:
    ///   - servers: instead of those of `/etc/resolv.conf`, which is followed otherwise.
    ///   - hostsFile: for tests.
    package init(
        on loop: EventLoop, servers: [SocketAddress]? = nil, hostsFile: String = "/etc/hosts",
        resolverConfiguration: String = "/etc/resolv.conf"
    ) throws(SystemError) {
        self.loop = loop
        self.servers = servers
        hosts = HostsFile(path: hostsFile)
        channel = try DNSChannel(on: loop, servers: servers)
        if servers == nil {
            configurationWatch = try? FolderWatch(on: loop, files: FolderWatch.places(of: resolverConfiguration)) {
                [unowned self] in
                networkChanged()
                serversChanged()
            }
        }
    }

    /// Looks a question up; the answer comes in a later turn. When the resolver fails, an answer whose time is over
    /// serves (T12).
    package func lookUp(_ question: DNSQuestion, then answer: @escaping (DNSAnswer) -> Void) {
        let question = DNSQuestion(Self.normal(question.name), question.kind)
        guard Self.isQueryable(question.name) else {
            return loop.nextTurn { answer(.failed("\(question.name) is no domain name")) }
        }
        if let records = hosts.records(question) ?? cache.fresh(question, at: loop.now) {
            return loop.nextTurn { answer(.records(records)) }
        }
        let isAsked = waiting[question] != nil
        if isDown, let records = cache.stale(question, at: loop.now) {
            loop.nextTurn { answer(.records(records)) }
            waiting[question] = waiting[question] ?? []
        } else {
            waiting[question, default: []].append(answer)
        }
        if !isAsked { ask(question) }
    }

    /// Forgets what did not exist, asks again for the rest, and reads the servers anew. Open questions are put again.
    package func networkChanged() {
        cache.networkChanged(at: loop.now)
        isDown = false
        guard let channel = try? DNSChannel(on: loop, servers: servers) else { return }
        self.channel = channel
    }

    private func ask(_ question: DNSQuestion) {
        channel?.ask(question) { [weak self] outcome in
            // Never from within a call of c-ares: it may not be entered again there.
            self?.loop.nextTurn { self?.finish(question, outcome) }
        }
    }

    private func finish(_ question: DNSQuestion, _ outcome: DNSChannel.Outcome) {
        let answer: DNSAnswer
        switch outcome {
        case .cancelled: return ask(question)
        case .silent(let text):
            isDown = true
            answer = failure(question, text)
        case .failed(let text): answer = failure(question, text)
        case .answer(let octets):
            isDown = false
            do throws(DNSMessage.Failure) {
                let message = octets.isEmpty ? nil : try DNSMessage(parsing: octets, for: question)
                cache.store(message?.records ?? [], for: question, timeToLive: message?.timeToLive, at: loop.now)
                answer = .records(message?.records ?? [])
            } catch {
                answer = failure(question, "malformed response")
            }
        }
        for handler in waiting.removeValue(forKey: question) ?? [] { handler(answer) }
    }

    private func failure(_ question: DNSQuestion, _ text: String) -> DNSAnswer {
        cache.stale(question, at: loop.now).map { .records($0) } ?? .failed(text)
    }

    /// Lower case, without the last dot.
    private static func normal(_ name: String) -> String {
        let name = name.lowercasedASCII
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// RFC 1035 §2.3.4 lengths; characters as generous as name servers are.
    private static func isQueryable(_ name: String) -> Bool {
        let octets = name.utf8
        return !octets.isEmpty && octets.count <= 253 && octets.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }
            && octets.split(separator: 0x2E, omittingEmptySubsequences: false)
                .allSatisfy { !$0.isEmpty && $0.count <= 63 }
    }
}
