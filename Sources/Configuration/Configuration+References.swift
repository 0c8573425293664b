extension Configuration {
    /// The most targets that a group reaches, groups in it resolved and each counted as often as it is reached.
    static let maximumReach = 64

    /// What one section cannot know: that names exist, that lines are used once, that groups end.
    func checkReferences(_ context: inout SectionContext) {
        for section in context.order {
            for key in context.missingKeys(of: section) {
                context.fault(context.place(of: section, nil), section, key, "is needed here")
            }
        }
        checkNames(&context)
        checkAccounts(&context)
        checkTargets(&context)
        checkDoors(&context)
        checkCodes(&context)
        checkLines(&context)
        checkReach(&context)
    }

    /// Contacts and groups share one set of names.
    private func checkNames(_ context: inout SectionContext) {
        let contactNames = Set(contacts.map(\.name))
        for group in groups where contactNames.contains(group.name) {
            let name = SectionName(kind: "group", name: group.name)
            let contact = SectionName(kind: "contact", name: group.name)
            // Whichever comes second is the one too many.
            let isFirst = context.place(of: name, nil) < context.place(of: contact, nil)
            let (first, second) = isFirst ? (name, contact) : (contact, name)
            context.fault(context.place(of: second, nil), second, nil, "\(first) has this name already")
        }
    }

    private func checkAccounts(_ context: inout SectionContext) {
        var former: String?
        for account in accounts {
            let section = SectionName(kind: "account", name: account.name)
            if account.isDefault {
                if let former {
                    let message = "account \(former) is the default already"
                    context.fault(context.place(of: section, "default"), section, "default", message)
                } else {
                    former = account.name
                }
            }
            if account.transport == .udp || account.transport == .tcp, let key = account.secureURIs.first {
                let message = "sips needs transport = tls or auto, not \(account.transport.rawValue)"
                context.fault(context.place(of: section, key), section, key, message)
            }
            if let name = account.registerWhile, !buttons.contains(where: { $0.name == name }) {
                context.fault(
                    context.place(of: section, "register-while"), section, "register-while",
                    "no button is named \"\(name.shortened)\"\(name.hint(of: buttons.map(\.name)))")
            }
            let forward = account.forwarding
            if [forward.always, forward.busy, forward.noAnswer?.uri].contains(account.uri) {
                context.fault(
                    context.place(of: section, "forward"), section, "forward", "leads back to the account itself")
            }
            let sources = ["password", "password-file", "credential"].filter { context.isSet(section, $0) }
            if sources.count > 1, let last = sources.last {
                let message = "only one of \(sources.joined(separator: ", ")) may be set"
                context.fault(context.place(of: section, last), section, last, message)
            }
        }
    }

    private func checkTargets(_ context: inout SectionContext) {
        let names = Names(self)
        for contact in contacts {
            let section = SectionName(kind: "contact", name: contact.name)
            names.check(account: contact.account, section, "account", &context)
        }
        for group in groups {
            let section = SectionName(kind: "group", name: group.name)
            for target in group.targets { names.check(target, section, "targets", &context) }
            for (key, target) in [("last-resort", group.lastResort), ("otherwise", group.otherwise)] {
                if let target { names.check(target, section, key, &context) }
            }
            names.check(group.when, section, "when", &context)
        }
        for led in leds {
            guard let watch = led.watch else { continue }
            let section = SectionName(kind: "led", name: led.name)
            names.check(watch, section, "watch", &context)
            if case .name(let name) = watch.destination, group(named: name) != nil {
                context.fault(context.place(of: section, "watch"), section, "watch", "a group cannot be watched")
            }
        }
        for button in buttons {
            let section = SectionName(kind: "button", name: button.name)
            names.check(button.quiet, section, "quiet", &context)
            for (key, action) in button.actions { names.check(action, section, key, &context) }
        }
        for door in doors {
            let section = SectionName(kind: "door", name: door.name)
            for (key, actions) in door.reactions {
                for action in actions { names.check(action, section, key, &context) }
            }
            for other in door.interlock { names.check(door: other, section, "interlock", &context) }
        }
    }

    private func checkCodes(_ context: inout SectionContext) {
        let names = Names(self)
        for code in codes {
            let section = SectionName(kind: "code", name: code.name)
            if !code.door.isEmpty { names.check(door: code.door, section, "door", &context) }
            names.check(account: code.account, section, "account", &context)
            names.check(code.when, section, "when", &context)
            let given = ["digits", "hash"].filter { context.isSet(section, $0) }
            if given.count != 1 {
                let message = given.isEmpty ? "digits or hash is needed here" : "only one of digits, hash may be set"
                context.fault(context.place(of: section, given.last), section, given.last, message)
            }
        }
    }

    private func checkDoors(_ context: inout SectionContext) {
        for door in doors {
            let section = SectionName(kind: "door", name: door.name)
            if door.interlock.contains(door.name) {
                context.fault(context.place(of: section, "interlock"), section, "interlock", "names the door itself")
            }
            let longest = max(door.mode == .pulse ? door.openTime : .zero, door.opener == nil ? .zero : door.openerTime)
            if door.opener != nil, door.mode == .pulse, door.openerDelay >= door.openTime {
                let message = "the first relay would be at rest again: open-time is \(door.openTime.unitText)"
                context.fault(context.place(of: section, "opener-delay"), section, "opener-delay", message)
            }
            if longest > door.onLimit {
                let message = "is shorter than a pulse of \(longest.unitText)"
                context.fault(context.place(of: section, "max-on"), section, "max-on", message)
            }
        }
    }

    private func checkLines(_ context: inout SectionContext) {
        var uses: [(LineReference, SectionName, String)] = []
        uses += buttons.map { ($0.line, SectionName(kind: "button", name: $0.name), "line") }
        uses += leds.map { ($0.line, SectionName(kind: "led", name: $0.name), "line") }
        for door in doors {
            let section = SectionName(kind: "door", name: door.name)
            uses += door.outputs.map { ($0.line, section, $0.key) } + door.inputs.map { ($0.line, section, $0.key) }
        }
        var users: [LineReference: SectionName] = [:]
        let order = Dictionary(
            context.order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        for (line, section, key) in uses.sorted(by: { order[$0.1] ?? 0 < order[$1.1] ?? 0 })
        where line != .named("") {
            if let user = users[line] {
                context.fault(context.place(of: section, key), section, key, "line \(line) is used by \(user) already")
            } else {
                users[line] = section
            }
        }
    }

    /// Groups that lead back to themselves, or to more targets than anyone means. Groups are settled from the leaves
    /// upwards; what never settles is on, or leads to, a cycle.
    private func checkReach(_ context: inout SectionContext) {
        let byName = Dictionary(groups.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let inner = byName.mapValues { group in
            group.everyTarget.compactMap { target -> String? in
                guard case .name(let name) = target.destination, byName[name] != nil else { return nil }
                return name
            }
        }
        var waiting = inner.mapValues { Set($0).count }
        var users: [String: [String]] = [:]
        for (user, names) in inner { for name in Set(names) { users[name, default: []].append(user) } }
        var ready = waiting.filter { $0.value == 0 }.map(\.key)
        var reach: [String: Int] = [:]
        while let name = ready.popLast() {
            guard let group = byName[name], let names = inner[name] else { continue }
            let direct = group.everyTarget.count - names.count
            reach[name] = min(names.reduce(direct) { $0 + (reach[$1] ?? 0) }, Self.maximumReach + 1)
            for user in users[name] ?? [] {
                let left = (waiting[user] ?? 0) - 1
                waiting[user] = left
                if left == 0 { ready.append(user) }
            }
        }
        for group in groups {
            let section = SectionName(kind: "group", name: group.name)
            let place = context.place(of: section, "targets")
            if let count = reach[group.name] {
                guard count > Self.maximumReach else { continue }
                context.fault(place, section, "targets", "leads to more than \(Self.maximumReach) targets")
            } else {
                context.fault(place, section, "targets", "leads to a group that leads back to itself")
            }
        }
    }
}

/// What can be named, for looking up and for suggesting.
private struct Names {
    let accounts: Set<String>
    let targets: Set<String>
    let doors: Set<String>
    let schedules: Set<String>

    init(_ configuration: Configuration) {
        accounts = Set(configuration.accounts.map(\.name))
        targets = Set(configuration.contacts.map(\.name) + configuration.groups.map(\.name))
        doors = Set(configuration.doors.map(\.name))
        schedules = Set(configuration.schedules.map(\.name))
    }

    func check(_ target: DialTarget, _ section: SectionName, _ key: String, _ context: inout SectionContext) {
        if case .name(let name) = target.destination, !targets.contains(name) {
            report("contact or group", name, targets, section, key, &context)
        }
        check(account: target.account, section, key, &context)
    }

    func check(account: String?, _ section: SectionName, _ key: String, _ context: inout SectionContext) {
        guard let account, !accounts.contains(account) else { return }
        report("account", account, accounts, section, key, &context)
    }

    func check(_ condition: ScheduleCondition?, _ section: SectionName, _ key: String, _ context: inout SectionContext)
    {
        guard let name = condition?.schedule, !schedules.contains(name) else { return }
        report("schedule", name, schedules, section, key, &context)
    }

    func check(_ action: Action, _ section: SectionName, _ key: String, _ context: inout SectionContext) {
        switch action {
        case .dial(let target): check(target, section, key, &context)
        case .open(let door): check(door: door, section, key, &context)
        default: break
        }
    }

    func check(door: String, _ section: SectionName, _ key: String, _ context: inout SectionContext) {
        guard !doors.contains(door) else { return }
        report("door", door, doors, section, key, &context)
    }

    private func report(
        _ what: String, _ name: String, _ known: Set<String>, _ section: SectionName, _ key: String,
        _ context: inout SectionContext
    ) {
        context.fault(
            context.place(of: section, key), section, key,
            "no \(what) is named \"\(name.shortened)\"\(name.hint(of: known.sorted()))")
    }
}
