internal import Configuration
internal import EventLoop
internal import Glibc
internal import Network
internal import Primitives

/// Fetches the remote part of the configuration (`[provisioning]`): at start, at each interval, on reload. Nothing waits
/// for it; a file that is missing or bad changes nothing and is told.
final class Provisioning {
    /// After an attempt that failed, if the interval is longer.
    private static let retry = Duration.seconds(60)
    private static let fault = "provisioning"

    private unowned let appliance: Appliance
    /// Made with the first question: most appliances ask none.
    private var client: HTTPClient?
    private var timer: LoopTimer?
    private var settings = ProvisioningSettings()
    private var isAsking = false
    /// Somebody wants another question while one is under way.
    private var asksAgain = false
    private var random = Randomness.system

    init(_ appliance: Appliance) throws(SystemError) {
        self.appliance = appliance
        timer = try appliance.loop.timer { [weak self] in self?.ask() }
        configure()
    }

    /// Takes over `[provisioning]` from the appliance's configuration.
    func configure() {
        let new = appliance.configuration.provisioning
        guard new != settings else { return }
        settings = new
        if settings.url == nil {
            timer?.set(deadline: nil)
            appliance.clear(Self.fault)
        } else {
            askSoon()
        }
    }

    /// The next question comes in a moment: after a start or reload has been dealt with.
    func askSoon() {
        guard settings.url != nil else { return }
        asksAgain = isAsking
        timer?.set(deadline: appliance.loop.now + random.duration(in: .milliseconds(200)...(.seconds(2))))
    }

    private func ask() {
        guard let url = settings.url, !isAsking else { return }
        do throws(SystemError) {
            if client == nil {
                client = try HTTPClient(
                    on: appliance.loop, helper: appliance.helper, userAgent: Version.product)
            }
        } catch {
            return answered(.failed("\(error)"), url)
        }
        isAsking = true
        var request = HTTPClient.Request(url: url.replacing("{mac}", with: hardwareAddress() ?? "000000000000"))
        request.authorities = settings.authorities
        if let known = appliance.source.provisioned {
            request.etag = ProvisionedTag.read(appliance.state.read(.provisionedTag), url: request.url, known.octets)
        }
        client?.get(request) { [weak self, url = request.url] answer in self?.answered(answer, url) }
    }

    private func answered(_ answer: HTTPClient.Answer, _ url: String) {
        isAsking = false
        var wait = settings.every
        switch answer {
        case .notModified: appliance.clear(Self.fault)
        case .document(let octets, let tag): take(octets, tag, url)
        case .failed(let why):
            appliance.raise(Self.fault, "\(why); the configuration stays as it is")
            wait = min(wait, Self.retry)
        }
        // Jitter: a fleet does not ask in step.
        if asksAgain { return askSoon() }
        let spread = Int64(Double(wait.nanoseconds) * 0.1)
        timer?.set(
            deadline: appliance.loop.now + wait + random.duration(in: .nanoseconds(-spread)...(.nanoseconds(spread))))
    }

    private func take(_ octets: [UInt8], _ tag: String?, _ url: String) {
        // No file at all looks like this on a server whose disk was full; who wants none leaves a comment in it.
        guard !octets.isEmpty else {
            return appliance.raise(Self.fault, "the file is empty; the configuration stays as it is")
        }
        if octets != appliance.source.provisioned?.octets {
            var source = appliance.source
            source.provisioned = appliance.state.provisioned(octets)
            guard case .done = appliance.takeOver(source, as: .provisioned) else {
                return appliance.raise(Self.fault, "the file has faults; the configuration stays as it is")
            }
            appliance.save(.provisioned, octets)
        }
        if let tag {
            appliance.save(.provisionedTag, ProvisionedTag.write(tag, url: url, octets))
        } else {
            appliance.forget(.provisionedTag)
        }
        appliance.clear(Self.fault)
    }

    /// What was fetched before the start and does not fit the operator's file any more.
    func leftOut(_ why: String) {
        appliance.raise(Self.fault, "what was fetched before is left out: \(why)")
    }

    /// The first network card's address, twelve hexadecimal digits, else that of the first bridge or the like, which
    /// may be another one after each start; nil where there is none.
    private func hardwareAddress() -> String? {
        let names = FolderListing.names(in: "/sys/class/net").filter { $0 != "lo" }
        let cards = names.filter { access("/sys/class/net/\($0)/device", F_OK) == 0 }
        for name in cards + names {
            guard let text = try? SmallFile.read("/sys/class/net/\(name)/address", limit: 64) else { continue }
            let digits = text.filter { $0.hexValue != nil }
            if digits.count == 12, digits.contains(where: { $0 != 0x30 }) {
                return String(decoding: digits, as: UTF8.self)
            }
        }
        return nil
    }
}
