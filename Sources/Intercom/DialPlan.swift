package import Configuration

/// Whom a dial reaches, in which order: targets with groups opened up.
package struct DialPlan: Equatable, Sendable {
    /// One phone.
    package struct Leg: Equatable, Sendable {
        package var uri: String
        package var account: String
        /// Why this account: for the log.
        package var why: String

        package init(uri: String, account: String, why: String) {
            self.uri = uri
            self.account = account
            self.why = why
        }
    }

    /// Phones that ring at the same time.
    package struct Stage: Equatable, Sendable {
        package var legs: [Leg]
        package var ringFor: Duration
    }

    /// Stages of one dial: `rounds` and nested groups multiply them.
    package static let maximumStages = 64
    /// Phones that ring at once.
    package static let maximumLegs = 16

    package var stages: [Stage]
    /// The group dialled; nil: a contact or URI.
    package var group: String?

    package enum Failure: Error, Equatable, Sendable {
        case unknownTarget(String)
        case unknownAccount(String)
        case noAccount
    }

    /// Opens up a target. `via` names the account of all that name none themselves.
    package init(_ target: DialTarget, in configuration: Configuration) throws(Failure) {
        if case .name(let name) = target.destination, configuration.group(named: name) != nil { group = name }
        stages = []
        stages = try Self.stages(of: target, via: nil, configuration, depth: 0)
        if stages.count > Self.maximumStages { stages.removeLast(stages.count - Self.maximumStages) }
    }

    private static func stages(
        of target: DialTarget, via: String?, _ configuration: Configuration, depth: Int
    ) throws(Failure) -> [Stage] {
        let via = target.account ?? via
        let name: String
        switch target.destination {
        case .uri(let uri):
            return [
                Stage(
                    legs: [try leg(uri, named: via, contact: nil, configuration)],
                    ringFor: configuration.call.dialTimeout)
            ]
        case .name(let word): name = word
        }
        if let contact = configuration.contact(named: name) {
            let leg = try leg(contact.uri, named: via, contact: contact, configuration)
            return [Stage(legs: [leg], ringFor: configuration.call.dialTimeout)]
        }
        guard let group = configuration.group(named: name), depth < 8 else { throw .unknownTarget(name) }
        var stages: [Stage] = []
        for target in group.targets { stages += try Self.stages(of: target, via: via, configuration, depth: depth + 1) }
        switch group.order {
        case .sequential:
            for index in stages.indices { stages[index].ringFor = group.ringFor }
        case .parallel:
            var legs: [Leg] = []
            for leg in stages.flatMap(\.legs)
            where !legs.contains(where: { $0.uri == leg.uri && $0.account == leg.account }) {
                legs.append(leg)
            }
            stages = [Stage(legs: Array(legs.prefix(maximumLegs)), ringFor: group.ringFor)]
        }
        return Array(repeatElement(stages, count: group.rounds).joined())
    }

    /// INTERFACE, "Account of a call": the one named, else the contact's, else the default, else the first.
    private static func leg(
        _ uri: String, named via: String?, contact: ContactSettings?, _ configuration: Configuration
    ) throws(Failure) -> Leg {
        if let via {
            guard configuration.account(named: via) != nil else { throw .unknownAccount(via) }
            return Leg(uri: uri, account: via, why: "named by the dial")
        }
        if let contact, let account = contact.account {
            guard configuration.account(named: account) != nil else { throw .unknownAccount(account) }
            return Leg(uri: uri, account: account, why: "the contact \(contact.name)'s")
        }
        guard let account = configuration.defaultAccount else { throw .noAccount }
        return Leg(uri: uri, account: account.name, why: account.isDefault ? "the default" : "the first in the file")
    }
}
