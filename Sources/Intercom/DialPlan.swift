package import Configuration
package import Primitives

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
        /// What follows when one of them cannot be reached.
        package var policy = FailurePolicy()
    }

    /// What a group says of targets that cannot be reached.
    package struct FailurePolicy: Equatable, Sendable {
        package var busy = AfterFailure.next
        package var declined = AfterFailure.next
        package var unreachable = AfterFailure.next

        /// - Parameter cause: of a call's end, `CallStatus.cause`.
        func after(_ cause: String?) -> AfterFailure {
            switch cause {
            case "busy": busy
            case "declined": declined
            case "unreachable": unreachable
            default: .next
            }
        }
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
        /// The group is not called at this time.
        case notNow(String)
    }

    /// Opens up a target. `via` names the account of all that name none themselves.
    /// - Parameter time: for groups that are called only at times; nil: nobody knows it.
    package init(_ target: DialTarget, in configuration: Configuration, at time: LocalTime? = nil) throws(Failure) {
        if case .name(let name) = target.destination, configuration.group(named: name) != nil { group = name }
        stages = []
        stages = try Self.stages(of: target, via: nil, configuration, time, depth: 0)
        if stages.isEmpty, let group { throw .notNow(group) }
        if stages.count > Self.maximumStages { stages.removeLast(stages.count - Self.maximumStages) }
    }

    private static func stages(
        of target: DialTarget, via: String?, _ configuration: Configuration, _ time: LocalTime?, depth: Int
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
        func stages(of target: DialTarget) throws(Failure) -> [Stage] {
            try Self.stages(of: target, via: via, configuration, time, depth: depth + 1)
        }
        if let when = group.when, !configuration.holds(when, at: time) {
            guard let otherwise = group.otherwise else { return [] }
            return try stages(of: otherwise)
        }
        let policy = FailurePolicy(busy: group.onBusy, declined: group.onDeclined, unreachable: group.onUnreachable)
        var round: [Stage] = []
        for target in group.targets {
            let inner = try stages(of: target)
            // A group among the targets keeps its own times and policy.
            let isGroup = configuration.leadsToGroup(target)
            round += isGroup ? inner : inner.map { Stage(legs: $0.legs, ringFor: group.ringFor, policy: policy) }
        }
        if group.order == .parallel {
            var legs: [Leg] = []
            for leg in round.flatMap(\.legs)
            where !legs.contains(where: { $0.uri == leg.uri && $0.account == leg.account }) {
                legs.append(leg)
            }
            let all = Stage(legs: Array(legs.prefix(maximumLegs)), ringFor: group.ringFor, policy: policy)
            round = legs.isEmpty ? [] : [all]
        }
        var plan = Array(repeatElement(round, count: group.rounds).joined())
        if let last = group.lastResort { plan += try stages(of: last) }
        return plan
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

extension Configuration {
    fileprivate func leadsToGroup(_ target: DialTarget) -> Bool {
        guard case .name(let name) = target.destination else { return false }
        return group(named: name) != nil
    }
}
